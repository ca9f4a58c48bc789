package fermata_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

func TestRunHolder(t *testing.T) {
	t.Parallel()
	for _, state := range fermata.RunStates {
		for _, current := range []bool{true, false} {
			for _, token := range []int64{6, 7, 8} {
				for _, at := range []time.Time{noon, later.Add(-time.Millisecond), later, anHourLater} {
					r := &fermata.Run{ID: "run_1", State: state, Token: 7, LeaseUntil: later}
					task := &fermata.Task{RunID: "run_1"}
					if !current {
						task.RunID = "run_2"
					}
					holds := state == fermata.RunRunning && current && token == 7 && at.Before(later)
					err := r.CheckHolder(task, token, at)
					if holds != (err == nil) || !holds && fermata.CodeOf(err) != fermata.CodeStaleRun {
						t.Errorf("%s, current %v, token %d, %s: %v", state, current, token, at, err)
					}
				}
			}
		}
	}
}

func TestRunLease(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[int]time.Duration{0: time.Minute, 1: time.Second, -1: time.Second, 90: 90 * time.Second, 3600: time.Hour, 1 << 40: time.Hour} {
		if got := (fermata.ClaimRequest{LeaseSeconds: seconds}).Lease(); got != want {
			t.Errorf("%d seconds: %s, want %s", seconds, got, want)
		}
	}
}

func TestRunFinish(t *testing.T) {
	t.Parallel()
	for _, r := range []fermata.Result{fermata.ResultCompleted, fermata.ResultFailed, fermata.ResultBlocked, fermata.ResultNeedsInput} {
		if err := (fermata.Finish{Result: r, Summary: "s"}).Check(); err != nil {
			t.Errorf("%s: %v", r, err)
		}
	}
	bad := fermata.Finish{Summary: strings.Repeat("x", 4097), Question: &fermata.Ask{}, BlockedBy: []string{"task_2"}}
	wantError(t, bad.Check(), fermata.CodeInvalidRequest, "result", "summary", "question", "blocked_by")
	wantError(t, fermata.Finish{Result: "perfect"}.Check(), fermata.CodeInvalidRequest, "result")
}

func TestProgress(t *testing.T) {
	t.Parallel()
	if err := (fermata.Progress{Message: "half", Current: 1, Total: 2}).Check(); err != nil {
		t.Error(err)
	}
	wantError(t, fermata.Progress{Step: "\x00"}.Check(), fermata.CodeInvalidRequest, "message", "step")
}

func TestErrors(t *testing.T) {
	t.Parallel()
	if got := fermata.CodeOf(nil); got != "" {
		t.Errorf("no error has the code %q", got)
	}
	if got := fermata.CodeOf(io.EOF); got != fermata.CodeInternal {
		t.Errorf("a foreign error has the code %q", got)
	}
	err := fmt.Errorf("answer question: %w", fermata.Errorf(fermata.CodeNotFound, "gone: %w", io.EOF))
	if fermata.CodeOf(err) != fermata.CodeNotFound || err.Error() != "answer question: gone: EOF" {
		t.Errorf("%q, %v", fermata.CodeOf(err), err)
	}
	one := fermata.Invalid(fermata.Problem{Field: "a", Message: "is bad"})
	two := fermata.Invalid(fermata.Problem{Field: "a", Message: "is bad"}, fermata.Problem{Message: "worse"})
	if one.Error() != "a: is bad" || two.Error() != "the request is not valid" {
		t.Errorf("%q, %q", one, two)
	}
	if in := fermata.Internal("save", io.EOF); in.Message != "save" || in.Error() != "save: EOF" {
		t.Errorf("%q %q", in.Message, in)
	}
}
