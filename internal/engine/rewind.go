package engine

import (
	"context"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// RewindEffects lists the tasks and questions that a workflow run leaves behind when it goes back to a step.
type RewindEffects struct {
	// Tasks are the ids of tasks below the run, which are cancelled. Questions are the ids of questions, which are
	// withdrawn.
	Tasks, Questions []string
	// Reason is the reason that people see on those tasks and questions.
	Reason string
	// Event is the event that says that the run went back.
	Event *fermata.Event
}

// RewindWith makes a workflow run ready to continue from another step. It calls change, which sets the checkpoint from
// which the run continues. It ends the tasks and questions that change returns, and the question that the run waits
// for. An ended run is reopened.
func (e *Engine) RewindWith(ctx context.Context, c fermata.Caller, id string, change func(tx *store.Tx, t *fermata.Task) (RewindEffects, error)) (*fermata.Task, error) {
	return e.changeTask(ctx, c, fermata.ToRewindWorkflow, id, func(tx *store.Tx, t *fermata.Task) error {
		if err := t.CheckNotPaused(); err != nil {
			return err
		}
		if err := checkNotQueued(tx, t); err != nil {
			return err
		}
		effects, err := change(tx, t)
		if err != nil {
			return err
		}
		if err := e.endLeftBehind(tx, t, effects, c.Actor()); err != nil {
			return err
		}
		tx.Append(effects.Event)
		if t.State.IsEnded() {
			return e.reopenTask(tx, t, c.Actor())
		}
		t.Attempts = 0
		to := t.ReadyState()
		if t.State.IsSuspended() {
			to = fermata.TaskInputReceived
		}
		if err := moveTask(tx, t, to, c.Actor()); err != nil {
			return err
		}
		tx.SaveTask(t)
		return nil
	})
}

// endLeftBehind ends the tasks and questions that a rewound run leaves behind. The caller saves the task.
func (e *Engine) endLeftBehind(tx *store.Tx, t *fermata.Task, effects RewindEffects, by fermata.Actor) error {
	checkpoint := t.Checkpoint
	for _, id := range effects.Tasks {
		if err := e.CancelTaskInTx(tx, id, effects.Reason, by); err != nil {
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
	if err := stopRun(tx, t, effects.Reason, by); err != nil {
		return err
	}
	questions := slices.Clone(effects.Questions)
	if q := t.PendingQuestionID; q != "" && !slices.Contains(questions, q) {
		questions = append(questions, q)
	}
	t.PendingQuestionID = ""
	return closeQuestions(tx, questions, by, fermata.TaskCancelled, effects.Reason)
}
