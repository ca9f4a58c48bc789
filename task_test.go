package fermata_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
)

func TestTaskCreate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		task fermata.NewTask
		want fermata.Task
	}{
		{"the least", fermata.NewTask{Title: "a"}, fermata.Task{Title: "a", Project: "default", State: "open", Priority: 2, MaxAttempts: 3}},
		{"the highest priority", fermata.NewTask{Title: "a", Priority: ptr(0), Project: "shop", MaxAttempts: 1}, fermata.Task{Title: "a", Project: "shop", State: "open", MaxAttempts: 1}},
		{"external", fermata.NewTask{Title: "a", Runner: "external", EndsWithAnswer: true}, fermata.Task{Title: "a", Project: "default", State: "in_progress", Priority: 2, MaxAttempts: 3, Runner: "external", EndsWithAnswer: true}},
		{"deferred", fermata.NewTask{Title: "a", DeferUntil: ptr(later.Add(time.Microsecond))}, fermata.Task{Title: "a", Project: "default", State: "deferred", Priority: 2, MaxAttempts: 3, DeferUntil: &later}},
		{"deferred to the past", fermata.NewTask{Title: "a", DeferUntil: &noon}, fermata.Task{Title: "a", Project: "default", State: "open", Priority: 2, MaxAttempts: 3}},
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
		{"external and deferred", fermata.NewTask{Title: "a", Runner: "external", DeferUntil: &over}, []string{"runner"}},
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
	wantError(t, bad.Apply(task, over), fermata.CodeInvalidRequest, "title", "body", "priority", "labels[0]")
}

// TestTaskInterrupt holds the human interruption of spec 3.2.
func TestTaskInterrupt(t *testing.T) {
	t.Parallel()
	moved := map[fermata.TaskState]bool{"open": true, "deferred": true, "awaiting_input": true, "awaiting_approval": true}
	for _, runner := range []string{"", "claude", fermata.RunnerExternal} {
		for _, s := range fermata.TaskStates {
			task := &fermata.Task{State: s, Runner: runner}
			want, moves := s, moved[s]
			if runner == fermata.RunnerExternal && s.Suspended() {
				moves = false
			}
			if moves {
				want = fermata.TaskInputReceived
			}
			if got, ok := task.Interrupt(); got != want || ok != moves {
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
			if to := task.Resumed(); s.Suspended() && !fermata.CanMove(s, to) {
				t.Errorf("an answer moves %s to %s, and the table does not", s, to)
			}
			for _, unread := range []int{0, 1} {
				task.Unread = unread
				if to := task.Ready(); s.Ended() && !fermata.CanMove(s, to) {
					t.Errorf("reopening moves %s to %s, and the table does not", s, to)
				}
			}
		}
	}
	ready := func(runner string, unread int) fermata.TaskState {
		return (&fermata.Task{Runner: runner, Unread: unread}).Ready()
	}
	got := []fermata.TaskState{ready("", 0), ready("", 1), ready("claude", 2), ready("external", 0), ready("external", 1)}
	if diff := cmp.Diff([]fermata.TaskState{"open", "input_received", "input_received", "in_progress", "in_progress"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	for body, ok := range map[string]bool{
		"Hello": true, strings.Repeat("ä", fermata.MaxMessage): true, strings.Repeat("ä", fermata.MaxMessage+1): false, "": false, " \n": false, "\x00a": false, "\xff": false,
	} {
		err := fermata.CheckMessage(body)
		if ok != (err == nil) {
			t.Errorf("%.20q: %v", body, err)
		}
		if !ok {
			wantError(t, err, fermata.CodeInvalidRequest, "body")
		}
	}
}
