package fermata_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

// TestEveryStateHasAColumn checks that a board shows every task, and that its
// columns agree with the states.
func TestEveryStateHasAColumn(t *testing.T) {
	t.Parallel()
	counts := fermata.NewTaskCounts()
	for i, s := range fermata.TaskStates {
		counts.Add(s, int64(1+i))
		if got := s.Column() == fermata.ColumnNeedsPerson; got != s.IsSuspended() {
			t.Errorf("%s is shown in the column %s", s, s.Column())
		}
		if got := s.Column() == fermata.ColumnDone; got != s.IsEnded() {
			t.Errorf("%s is shown in the column %s", s, s.Column())
		}
	}
	var states, columns int64
	for _, n := range counts.States {
		states += n
	}
	for _, column := range fermata.BoardColumns {
		columns += counts.Columns[column]
	}
	if states != counts.Total || columns != counts.Total || len(counts.Columns) != len(fermata.BoardColumns) {
		t.Errorf("the parts do not make the whole: %+v", counts)
	}
}

func TestWaitingIsSaidOnlyWhileAPersonIsNeeded(t *testing.T) {
	t.Parallel()
	for _, s := range fermata.TaskStates {
		for _, status := range fermata.QuestionStatuses {
			task := fermata.Task{State: s}
			got := task.DescribeWaiting(&fermata.Question{ID: "q_1", Status: status})
			if want := s.IsSuspended() && status == fermata.Pending; (got != nil) != want {
				t.Errorf("a task that is %s with a question that is %s: %+v", s, status, got)
			}
		}
		if task := (&fermata.Task{State: s}); task.DescribeWaiting(nil) != nil {
			t.Errorf("a task that is %s waits for no question", s)
		}
	}
}
