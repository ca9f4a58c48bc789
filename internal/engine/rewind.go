package engine

import (
	"context"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// Rewound tells what a workflow run leaves behind when it goes back to a step.
type Rewound struct {
	// Tasks are the ids of tasks below the run, which are cancelled. Questions are the ids of questions, which are
	// withdrawn.
	Tasks, Questions []string
	// Why is the reason that people see on those tasks and questions.
	Why string
	// Event is the event that says that the run went back.
	Event *fermata.Event
}

// RewindWith makes a workflow run ready to continue from another step. The function changes the checkpoint that the
// next move reads. An ended run is opened again. The tasks and questions that the function returns are ended, and so
// is the question that the run waits for.
func (e *Engine) RewindWith(ctx context.Context, c fermata.Caller, id string, change func(tx *store.Tx, t *fermata.Task) (Rewound, error)) (*fermata.Task, error) {
	return e.change(ctx, c, fermata.ToRewindWorkflow, id, func(tx *store.Tx, t *fermata.Task) error {
		if err := t.CheckPaused(); err != nil {
			return err
		}
		if err := checkNotQueued(tx, t); err != nil {
			return err
		}
		left, err := change(tx, t)
		if err != nil {
			return err
		}
		if err := e.leaveBehind(tx, t, left, c.Actor()); err != nil {
			return err
		}
		tx.Append(left.Event)
		if t.State.IsEnded() {
			return e.reopen(tx, t, c.Actor())
		}
		endWaits(tx, t)
		t.Attempts = 0
		to := t.ReadyState()
		if t.State.Suspended() {
			to = fermata.TaskInputReceived
		}
		if err := move(tx, t, to, c.Actor()); err != nil {
			return err
		}
		tx.SaveTask(t)
		return nil
	})
}

// leaveBehind ends the tasks and questions that a rewound run leaves behind. The caller saves the task.
func (e *Engine) leaveBehind(tx *store.Tx, t *fermata.Task, left Rewound, by fermata.Actor) error {
	checkpoint := t.Checkpoint
	for _, id := range left.Tasks {
		if err := e.CancelIn(tx, id, left.Why, by); err != nil {
			return err
		}
	}
	// The end of a child may have moved the run.
	fresh, err := tx.Task(t.ID)
	if err != nil {
		return err
	}
	*t = *fresh
	t.Checkpoint = checkpoint
	if err := stopRun(tx, t, left.Why, by); err != nil {
		return err
	}
	questions := slices.Clone(left.Questions)
	if q := t.PendingQuestionID; q != "" && !slices.Contains(questions, q) {
		questions = append(questions, q)
	}
	t.PendingQuestionID = ""
	return closeQuestions(tx, questions, by, fermata.TaskCancelled, left.Why)
}
