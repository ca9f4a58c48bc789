package fermata_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
)

func TestTaskCreate(t *testing.T) {
	t.Parallel()
	command := json.RawMessage(`{"command":["make"]}`)
	tests := []struct {
		name string
		task fermata.NewTask
		want fermata.Task
	}{
		{"the least", fermata.NewTask{Title: "a"}, fermata.Task{Title: "a", Project: "default", State: "open", Priority: 2, MaxAttempts: 3}},
		{"the highest priority", fermata.NewTask{Title: "a", Priority: ptr(0), Project: "shop", MaxAttempts: 1}, fermata.Task{Title: "a", Project: "shop", State: "open", MaxAttempts: 1}},
		{"external", fermata.NewTask{Title: "a", Runner: "external", EndsWithAnswer: true}, fermata.Task{Title: "a", Project: "default", State: "in_progress", Priority: 2, MaxAttempts: 3, Runner: "external", EndsWithAnswer: true}},
		{"its own command", fermata.NewTask{Title: "a", Spec: command}, fermata.Task{Title: "a", Project: "default", State: "open", Priority: 2, MaxAttempts: 3, Runner: "shell", Spec: command}},
		{"its own command, for the runner command", fermata.NewTask{Title: "a", Runner: "command", Spec: command}, fermata.Task{Title: "a", Project: "default", State: "open", Priority: 2, MaxAttempts: 3, Runner: "shell", Spec: command}},
		{"isolated", fermata.NewTask{Title: "a", Isolated: true}, fermata.Task{Title: "a", Project: "default", State: "open", Priority: 2, MaxAttempts: 3, Isolated: true}},
		{"external with a command", fermata.NewTask{Title: "a", Runner: "external", Spec: command}, fermata.Task{Title: "a", Project: "default", State: "in_progress", Priority: 2, MaxAttempts: 3, Runner: "external", Spec: command}},
		{"deferred", fermata.NewTask{Title: "a", DeferUntil: ptr(later.Add(time.Microsecond))}, fermata.Task{Title: "a", Project: "default", State: "deferred", Priority: 2, MaxAttempts: 3, DeferUntil: &later}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := tc.task.Create("task_1", agent, noon)
			if err != nil {
				t.Fatal(err)
			}
			tc.want.ID, tc.want.CreatedBy, tc.want.CreatedAt, tc.want.UpdatedAt = "task_1", agent, noon, noon
			if diff := cmp.Diff(&tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTaskProblems(t *testing.T) {
	t.Parallel()
	labels := make([]string, fermata.MaxLabels+1)
	for i := range labels {
		labels[i] = "l"
	}
	tests := []struct {
		name   string
		task   fermata.NewTask
		fields []string
	}{
		{"no title", fermata.NewTask{}, []string{"title"}},
		{"everything", fermata.NewTask{
			Title: "a\x00", Body: "\xff", Project: "a b", Agent: "a,b", Runner: strings.Repeat("r", 65), Labels: []string{""}, Size: "huge", Priority: ptr(-1), MaxAttempts: -1, SessionKey: strings.Repeat("s", 129),
		}, []string{"title", "body", "project", "agent", "runner", "labels[0]", "size", "priority", "max_attempts", "runner", "session_key"}},
		{"many labels", fermata.NewTask{Title: "a", Labels: labels}, []string{"labels"}},
		{"external and blocked", fermata.NewTask{Title: "a", Runner: "external", BlockedBy: []string{"task_2"}}, []string{"runner"}},
		{"deferred to the past", fermata.NewTask{Title: "a", DeferUntil: &noon}, []string{"defer_until"}},
		{"external and deferred", fermata.NewTask{Title: "a", Runner: "external", DeferUntil: &anHourLater}, []string{"runner"}},
		{"a command for an agent", fermata.NewTask{Title: "a", Runner: "claude", Spec: json.RawMessage(`{"command":["make"]}`)}, []string{"spec.command"}},
		{"isolated, and no worker's", fermata.NewTask{Title: "a", Runner: "external", Isolated: true}, []string{"isolated"}},
		{"shell without a command", fermata.NewTask{Title: "a", Runner: "shell"}, []string{"spec.command"}},
		{"ends with an answer, but is a worker's", fermata.NewTask{Title: "a", EndsWithAnswer: true}, []string{"runner"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := tc.task.Create("task_1", agent, noon)
			wantError(t, err, fermata.CodeInvalidRequest, tc.fields...)
		})
	}
}

func TestTaskPatch(t *testing.T) {
	t.Parallel()
	task := runningTask()
	want := *task
	want.Title, want.Labels, want.Priority, want.UpdatedAt = "b", []string{"x"}, 0, later
	p := fermata.TaskPatch{Title: ptr("b"), Labels: &[]string{"x"}, Priority: ptr(0)}
	if err := p.Apply(task, later); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, task); diff != "" {
		t.Error(diff)
	}
	bad := fermata.TaskPatch{Title: ptr(""), Body: ptr("\x00"), Priority: ptr(5), Labels: &[]string{" "}}
	wantError(t, bad.Apply(task, anHourLater), fermata.CodeInvalidRequest, "title", "body", "priority", "labels[0]")
}

// TestTaskInterrupt checks which tasks a person's message moves to
// input_received (docs/inside/contract.md#task-rules).
func TestTaskInterrupt(t *testing.T) {
	t.Parallel()
	moved := map[fermata.TaskState]bool{"open": true, "deferred": true, "awaiting_input": true, "awaiting_approval": true}
	for _, runner := range []string{"", "claude", fermata.RunnerExternal} {
		for _, s := range fermata.TaskStates {
			task := &fermata.Task{State: s, Runner: runner}
			want, moves := s, moved[s]
			if runner == fermata.RunnerExternal && s.IsSuspended() {
				moves = false
			}
			if moves {
				want = fermata.TaskInputReceived
			}
			if got, ok := task.StateAfterMessage(); got != want || ok != moves {
				t.Errorf("%s %s: %s %v, want %s %v", runner, s, got, ok, want, moves)
			}
			if moves && !fermata.CanMove(s, want) {
				t.Errorf("a message moves %s to %s, and the table does not", s, want)
			}
		}
	}
}

func TestTaskGoesOn(t *testing.T) {
	t.Parallel()
	for _, s := range fermata.TaskStates {
		for _, runner := range []string{"", fermata.RunnerExternal} {
			task := &fermata.Task{State: s, Runner: runner}
			if to := task.ResumedState(); s.IsSuspended() && !fermata.CanMove(s, to) {
				t.Errorf("an answer moves %s to %s, and the table does not", s, to)
			}
			for _, unread := range []int{0, 1} {
				task.Unread = unread
				if to := task.ReadyState(); s.IsEnded() && !fermata.CanMove(s, to) {
					t.Errorf("reopening moves %s to %s, and the table does not", s, to)
				}
			}
		}
	}
	ready := func(runner string, unread int) fermata.TaskState {
		return (&fermata.Task{Runner: runner, Unread: unread}).ReadyState()
	}
	got := []fermata.TaskState{ready("", 0), ready("", 1), ready("claude", 2), ready("external", 0), ready("external", 1)}
	if diff := cmp.Diff([]fermata.TaskState{"open", "input_received", "input_received", "in_progress", "in_progress"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"Hello", " \nHello", strings.Repeat("ä", fermata.MaxMessage)} {
		if err := fermata.CheckMessage(body); err != nil {
			t.Errorf("%.20q: %v", body, err)
		}
	}
	for _, body := range []string{"", " \n", "\x00a", "\xff", strings.Repeat("ä", fermata.MaxMessage+1)} {
		wantError(t, fermata.CheckMessage(body), fermata.CodeInvalidRequest, "body")
	}
}

// TestTaskAfterQuestion checks the state that a task takes after its question
// closed, and that the table has the transition.
func TestTaskAfterQuestion(t *testing.T) {
	t.Parallel()
	answered := &fermata.Resolution{Status: fermata.Answered}
	withdrawn := &fermata.Resolution{Status: fermata.Cancelled}
	timedOut := func(a fermata.TimeoutAction) *fermata.Resolution {
		return &fermata.Resolution{Status: fermata.TimedOut, Outcome: a}
	}
	const late = fermata.ReasonQuestionTimedOut
	tests := []struct {
		name           string
		state          fermata.TaskState
		r              *fermata.Resolution
		want           fermata.TaskState
		reason         string
		external       fermata.TaskState // of an external task; empty: the same
		single         fermata.TaskState // of one that ends with its answer; empty: as external
		externalReason string
	}{
		{"answered", "awaiting_input", answered, "input_received", "", "in_progress", "done", ""},
		{"approved", "awaiting_approval", answered, "input_received", "", "in_progress", "done", ""},
		{"withdrawn", "awaiting_input", withdrawn, "input_received", "", "in_progress", "cancelled", "the question was withdrawn"},
		{"default", "awaiting_input", timedOut("default"), "input_received", "", "in_progress", "done", ""},
		{"fail", "awaiting_approval", timedOut("fail"), "failed", late, "", "", late},
		{"skip", "awaiting_input", timedOut("skip"), "skipped", late, "", "", late},
		{"answered while it runs", "in_progress", answered, "in_progress", "", "", "", ""},
		{"fail while it runs", "in_progress", timedOut("fail"), "in_progress", "", "", "", ""},
		{"open", "open", timedOut("fail"), "open", "", "", "", ""},
		{"deferred", "deferred", answered, "deferred", "", "", "", ""},
	}
	for _, tc := range tests {
		if tc.external == "" {
			tc.external = tc.want
		}
		if tc.single == "" {
			tc.single = tc.external
		}
		q := &fermata.Question{Status: tc.r.Status, Resolution: tc.r}
		check := func(task *fermata.Task, mine bool, want fermata.TaskState, reason string) {
			t.Helper()
			got, why := task.StateAfterQuestion(q, mine)
			if got != want || why != reason || got != task.State && !fermata.CanMove(task.State, got) {
				t.Errorf("%s (runner %q): %s %q, want %s %q", tc.name, task.Runner, got, why, want, reason)
			}
		}
		externalReason := ""
		if tc.external.IsEnded() {
			externalReason = tc.externalReason
		}
		check(&fermata.Task{State: tc.state}, true, tc.want, tc.reason)
		check(&fermata.Task{State: tc.state}, false, tc.state, "")
		check(&fermata.Task{State: tc.state, Runner: "external"}, true, tc.external, externalReason)
		check(&fermata.Task{State: tc.state, Runner: "external", EndsWithAnswer: true}, true, tc.single, tc.externalReason)
	}
	// A message came first, and the question closed only later.
	for r, want := range map[*fermata.Resolution]fermata.TaskState{
		answered: "input_received", withdrawn: "input_received", timedOut("default"): "input_received", timedOut("fail"): "failed", timedOut("skip"): "skipped",
	} {
		task := &fermata.Task{State: fermata.TaskInputReceived}
		got, _ := task.StateAfterQuestion(&fermata.Question{Status: r.Status, Resolution: r}, true)
		if got != want || got != task.State && !fermata.CanMove(task.State, got) {
			t.Errorf("%+v after a message: %s, want %s", r, got, want)
		}
	}
}

func TestTaskSatisfiedBy(t *testing.T) {
	t.Parallel()
	for _, s := range fermata.TaskStates {
		task := &fermata.Task{ID: "task_1"}
		other, child := &fermata.Task{ID: "task_2", State: s}, &fermata.Task{ID: "task_3", ParentID: "task_1", State: s}
		if got, want := task.IsUnblockedBy(other), s == "done" || s == "skipped"; got != want {
			t.Errorf("another that is %s: %v", s, got)
		}
		if got := task.IsUnblockedBy(child); got != s.IsEnded() {
			t.Errorf("a child that is %s: %v", s, got)
		}
	}
}

func TestTaskResumable(t *testing.T) {
	t.Parallel()
	for _, s := range fermata.TaskStates {
		task := &fermata.Task{State: s}
		if task.IsResumable() && !fermata.CanMove(s, task.ReadyState()) && !fermata.CanMove(s, task.ResumedState()) {
			t.Errorf("a person may resume a task that is %s, and the table does not", s)
		}
		if task.IsResumable() && (s.IsEnded() || s.IsClaimable() || s == fermata.TaskInProgress) {
			t.Errorf("a task that is %s waits for nobody", s)
		}
	}
}
