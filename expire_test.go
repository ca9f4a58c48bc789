package fermata_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fermata-hq/fermata"
)

func TestExpireOutcomes(t *testing.T) {
	t.Parallel()
	const chain = `"timeout":"10m","assignees":["ann"],"escalation":[{"assignees":["lead"],"timeout":"20m"},{"assignees":["boss","lead"],"timeout":"30m","on_timeout":`
	tests := []struct {
		name, ask string
		after     time.Duration
		closed    time.Duration // the instant of the resolution; 0: still open
		outcome   fermata.TimeoutAction
		answer    any
		level     int
		assignees []string
		deadline  time.Duration
	}{
		{"default", `{"question":"a?","default":"x"}`, time.Hour, 30 * time.Minute, "default", "x", 0, nil, 30 * time.Minute},
		{"default of nothing required", `{"items":[{"prompt":"a?","default":"x"},{"prompt":"b?","required":false}]}`, time.Hour, 30 * time.Minute, "default", nil, 0, nil, 30 * time.Minute},
		{"skip", `{"question":"a?","default":"x","on_timeout":"skip"}`, time.Hour, 30 * time.Minute, "skip", nil, 0, nil, 30 * time.Minute},
		{"fail", `{"question":"a?"}`, time.Hour, 30 * time.Minute, "fail", nil, 0, nil, 30 * time.Minute},
		{"an approval fails closed", `{"type":"approval","question":"a?","default":"approve"}`, time.Hour, 15 * time.Minute, "fail", nil, 0, nil, 15 * time.Minute},
		{"an approval that rejects", `{"type":"approval","question":"a?","default":"reject","on_timeout":"default"}`, time.Hour, 15 * time.Minute, "default", "reject", 0, nil, 15 * time.Minute},
		{"on the instant", `{"question":"a?"}`, 30 * time.Minute, 30 * time.Minute, "fail", nil, 0, nil, 30 * time.Minute},

		{"first level", `{"question":"a?",` + chain + `"fail"}]}`, 10 * time.Minute, 0, "", nil, 1, []string{"ann", "lead"}, 30 * time.Minute},
		{"first level, to its last moment", `{"question":"a?",` + chain + `"fail"}]}`, 30*time.Minute - time.Millisecond, 0, "", nil, 1, []string{"ann", "lead"}, 30 * time.Minute},
		{"two levels at once", `{"question":"a?",` + chain + `"fail"}]}`, 45 * time.Minute, 0, "", nil, 2, []string{"ann", "lead", "boss", "lead"}, time.Hour},
		{"the whole chain at once, fail", `{"question":"a?",` + chain + `"fail"}]}`, 100 * time.Hour, time.Hour, "fail", nil, 2, []string{"ann", "lead", "boss", "lead"}, time.Hour},
		{"the whole chain at once, skip", `{"question":"a?",` + chain + `"skip"}]}`, time.Hour, time.Hour, "skip", nil, 2, []string{"ann", "lead", "boss", "lead"}, time.Hour},
		{"the whole chain at once, default", `{"question":"a?","default":"x",` + chain + `"default"}]}`, 2 * time.Hour, time.Hour, "default", "x", 2, []string{"ann", "lead", "boss", "lead"}, time.Hour},
		{"anybody stays anybody", `{"question":"a?","timeout":"10m","escalation":[{"assignees":["lead"],"timeout":"20m","on_timeout":"fail"}]}`, 10 * time.Minute, 0, "", nil, 1, nil, 30 * time.Minute},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			q := openQuestion(t, decode[fermata.Ask](t, tc.ask))
			at := noon.Add(tc.after)
			if !q.IsOverdue(at) || q.IsOverdue(q.Deadline.Add(-time.Millisecond)) {
				t.Fatal("due is not decided by the instant")
			}
			got := q.Expire(at)
			if !q.Deadline.Equal(noon.Add(tc.deadline)) || q.EscalationLevel != tc.level {
				t.Errorf("deadline %s, level %d", q.Deadline, q.EscalationLevel)
			}
			if diff := cmp.Diff(tc.assignees, q.Assignees); diff != "" {
				t.Error(diff)
			}
			if tc.closed == 0 {
				if got != fermata.ExpiredEscalated || q.Status != fermata.Pending || q.Resolution != nil || q.IsOverdue(at) {
					t.Errorf("expired as %d, status %s, %+v", got, q.Status, q.Resolution)
				}
				return
			}
			r := q.Resolution
			if got != fermata.ExpiredClosed || q.Status != fermata.TimedOut || q.IsOverdue(at) {
				t.Fatalf("expired as %d, status %s", got, q.Status)
			}
			want := []any{fermata.TimedOut, fermata.ActorTimeout, (*fermata.Actor)(nil), noon.Add(tc.closed), tc.outcome, tc.answer}
			if diff := cmp.Diff(want, []any{r.Status, r.DecidedBy, r.AnsweredBy, r.At, r.Outcome, r.Answer}); diff != "" {
				t.Error(diff)
			}
			if (r.Answers != nil) != (tc.outcome == fermata.TakeDefault) || r.IsApproved() {
				t.Errorf("answers %v, approved %v", r.Answers, r.IsApproved())
			}
		})
	}
}

// TestExpireWhenever checks that the result of a sweep does not depend on how
// often and when it runs.
func TestExpireWhenever(t *testing.T) {
	t.Parallel()
	minutes := rapid.IntRange(5, 60)
	rapid.Check(t, func(t *rapid.T) {
		a := fermata.Ask{Question: "a?", Default: "x", Timeout: fermata.Timeout(time.Duration(minutes.Draw(t, "timeout") * int(time.Minute)).String())}
		for range rapid.IntRange(0, 4).Draw(t, "levels") {
			a.Escalation = append(a.Escalation, fermata.EscalationLevel{
				Timeout: fermata.Timeout(time.Duration(minutes.Draw(t, "level") * int(time.Minute)).String()), Assignees: []string{"lead"},
			})
		}
		if n := len(a.Escalation); n > 0 {
			a.Escalation[n-1].OnTimeout = rapid.SampledFrom([]fermata.TimeoutAction{fermata.TakeDefault, fermata.SkipTask, fermata.FailTask}).Draw(t, "end")
		}
		a.Assignees = []string{"ann"}
		seldom, often := openQuestion(t, a), openQuestion(t, a)
		end := rapid.IntRange(0, 400).Draw(t, "end at")
		step := rapid.IntRange(1, 30).Draw(t, "step")
		for m := 0; m <= end; m += step {
			if at := noon.Add(time.Duration(m) * time.Minute); often.IsOverdue(at) {
				often.Expire(at)
			}
		}
		at := noon.Add(time.Duration(end) * time.Minute)
		for _, q := range []*fermata.Question{seldom, often} {
			if q.IsOverdue(at) {
				q.Expire(at)
			}
		}
		if diff := cmp.Diff(seldom, often); diff != "" {
			t.Fatalf("one look and many differ: %s", diff)
		}
		if r := seldom.Resolution; r != nil && (r.DecidedBy != fermata.ActorTimeout || r.AnsweredBy != nil || r.At.After(at)) {
			t.Fatalf("%+v", r)
		}
	})
}

func TestExpireNeverWithoutDeadline(t *testing.T) {
	t.Parallel()
	q := openQuestion(t, fermata.Ask{Question: "a?", Timeout: fermata.Never})
	if q.IsOverdue(noon.AddDate(100, 0, 0)) {
		t.Error("a question that waits for ever is due")
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	ann := person("ann").Actor()
	for _, by := range []fermata.Actor{agent, ann, fermata.SystemActor} {
		q := openQuestion(t, fermata.Ask{Question: "a?"})
		changed, err := q.Cancel(by, "no longer needed", later)
		if !changed || err != nil {
			t.Fatalf("%s: changed %v, %v", by.Kind, changed, err)
		}
		want := &fermata.Resolution{Status: fermata.Cancelled, DecidedBy: by.Kind, AnsweredBy: &by, At: later, Comment: "no longer needed"}
		if by == fermata.SystemActor {
			want.AnsweredBy = nil
		}
		if diff := cmp.Diff(want, q.Resolution); diff != "" || q.Status != fermata.Cancelled {
			t.Errorf("status %s, %s", q.Status, diff)
		}
		for _, reason := range []string{"", "no longer needed"} {
			if changed, err := q.Cancel(ann, reason, anHourLater); changed || err != nil {
				t.Errorf("cancelled twice: changed %v, %v", changed, err)
			}
		}
		_, err = q.Cancel(ann, "for another reason", anHourLater)
		wantError(t, err, fermata.CodeQuestionClosed)
		if diff := cmp.Diff(want, q.Resolution); diff != "" {
			t.Error(diff)
		}
	}
	q := openQuestion(t, fermata.Ask{Question: "a?"})
	applyAnswer(t, q, fermata.Answer{Answer: "x"}, person("ann"), fermata.AnswerCloses)
	before := throughJSON(t, q)
	_, err := q.Cancel(agent, "", anHourLater)
	wantError(t, err, fermata.CodeQuestionClosed)
	if diff := cmp.Diff(before, throughJSON(t, q)); diff != "" {
		t.Error(diff)
	}
}

func TestExtend(t *testing.T) {
	t.Parallel()
	strict := fermata.Policy{MinTimeout: "5m", MaxTimeout: "1h"}
	tests := []struct {
		name   string
		at     time.Duration
		by     time.Duration
		policy fermata.Policy
		want   time.Duration // of the deadline, from noon
		code   fermata.Code
	}{
		{"by an hour", 0, time.Hour, fermata.DefaultPolicy(), 90 * time.Minute, ""},
		{"by a little, near the end", 29 * time.Minute, time.Minute, strict, 31 * time.Minute, ""},
		{"within the policy", 10 * time.Minute, 40 * time.Minute, strict, 70 * time.Minute, ""},
		{"beyond the policy", 10*time.Minute - time.Millisecond, 40 * time.Minute, strict, 0, "policy_violation"},
		{"backwards", 0, -10 * time.Minute, fermata.DefaultPolicy(), 0, "invalid_request"},
		{"by nothing", 0, 0, fermata.DefaultPolicy(), 0, "invalid_request"},
		{"by eleven years", 0, 11 * 366 * 24 * time.Hour, fermata.DefaultPolicy(), 0, "invalid_request"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			q := openQuestion(t, fermata.Ask{Question: "a?"})
			err := q.Extend(tc.by, tc.policy, noon.Add(tc.at))
			if tc.code != "" {
				wantError(t, err, tc.code, "by")
				tc.want = 30 * time.Minute
			} else if err != nil {
				t.Fatal(err)
			}
			if !q.Deadline.Equal(noon.Add(tc.want)) {
				t.Errorf("deadline %s, want %s", q.Deadline, noon.Add(tc.want))
			}
		})
	}
	q := openQuestion(t, fermata.Ask{Question: "a?", Timeout: fermata.Never})
	wantError(t, q.Extend(time.Hour, fermata.DefaultPolicy(), noon), fermata.CodeInvalidRequest)
	q = openQuestion(t, fermata.Ask{Question: "a?"})
	q.Expire(anHourLater)
	wantError(t, q.Extend(time.Hour, fermata.DefaultPolicy(), anHourLater), fermata.CodeQuestionClosed)
}
