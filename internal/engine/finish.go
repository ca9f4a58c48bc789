package engine

import (
	"context"
	"errors"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// finished is the data of run.finished. A run that ends with a question has
// no summary here: question.asked tells what it came to.
type finished struct {
	Result  fermata.Result `json:"result"`
	Summary string         `json:"summary,omitempty"`
}

// Finish ends a run with a result and moves its task on.
func (e *Engine) Finish(ctx context.Context, c fermata.Caller, runID string, f fermata.Finish) (*fermata.Task, error) {
	if err := require(c, fermata.ScopeWork); err != nil {
		return nil, err
	}
	if err := f.Check(); err != nil {
		return nil, err
	}
	return write(ctx, e, c, func(tx *store.Tx) (*fermata.Task, error) {
		run, t, err := held(tx, runID, f.Token)
		if err == nil {
			err = e.timeDecidesFirst(tx, t)
		}
		if err != nil {
			return nil, err
		}
		endRun(tx, t, run, f, c.Actor())
		if err := e.conclude(tx, t, run, f, c.Actor()); err != nil {
			return nil, err
		}
		// The row was written with its last value; the run is written last, so
		// that it names the question it asked.
		tx.SaveRun(run)
		return t, nil
	}, store.Ahead{Run: runID, Ends: f.Result == fermata.ResultCompleted || f.Result == fermata.ResultFailed})
}

// endRun notes what a run came to, on the run and on its task.
func endRun(tx *store.Tx, t *fermata.Task, run *fermata.Run, f fermata.Finish, by fermata.Actor) {
	now := tx.Now()
	run.State, run.Result, run.Summary, run.Details, run.EndedAt = fermata.RunFinished, f.Result, f.Summary, f.Details, &now
	t.Summary = f.Summary
	if f.Session != nil {
		t.Session = f.Session
	}
	if len(f.Checkpoint) > 0 {
		t.Checkpoint = f.Checkpoint
	}
	told := finished{f.Result, f.Summary}
	if f.Result == fermata.ResultNeedsInput {
		told.Summary = ""
	}
	tx.Append(&fermata.Event{Type: fermata.EventRunFinished, TaskID: t.ID, RunID: run.ID, Actor: by, Data: data(told)})
}

// conclude moves the task as the result says.
func (e *Engine) conclude(tx *store.Tx, t *fermata.Task, run *fermata.Run, f fermata.Finish, by fermata.Actor) error {
	switch f.Result {
	case fermata.ResultCompleted:
		return e.end(tx, t, fermata.TaskDone, "", by)
	case fermata.ResultFailed:
		return e.end(tx, t, fermata.TaskFailed, "", by)
	case fermata.ResultBlocked:
		return e.block(tx, t, run, f, by)
	default:
		return e.suspend(tx, t, run, f, by)
	}
}

// suspend stops the task on the question of its run: the one in the result, or
// one that was asked during the run. If that was answered meanwhile, the task
// goes on at once.
func (e *Engine) suspend(tx *store.Tx, t *fermata.Task, run *fermata.Run, f fermata.Finish, by fermata.Actor) error {
	t.Attempts = 0
	if f.Question == nil {
		run.QuestionID = t.PendingQuestionID
		if t.PendingQuestionID == "" && t.Unread == 0 {
			return fermata.Invalid(fermata.Problem{Field: "question", Message: "needs_input needs a question, and none is pending"})
		}
		return e.afterRun(tx, t, nil, by)
	}
	// The run is over: the question suspends the task at once.
	q, err := e.askAtEnd(tx, t, run, *f.Question, by)
	if err != nil {
		return err
	}
	run.QuestionID = q.ID
	if q.Status != fermata.Pending && t.State == fermata.TaskInProgress && t.Unread == 0 && t.PendingQuestionID == "" {
		// The key is that of a question whose answer was handed over before.
		return q.ClosedError()
	}
	if t.State == fermata.TaskInProgress {
		return e.afterRun(tx, t, q, by)
	}
	return nil
}

// askAtEnd opens the question with which a run ends.
func (e *Engine) askAtEnd(tx *store.Tx, t *fermata.Task, run *fermata.Run, a fermata.Ask, by fermata.Actor) (*fermata.Question, error) {
	if a.Type == fermata.NonBlocking {
		return nil, fermata.Invalid(fermata.Problem{Field: "question.type", Message: "a non_blocking question does not stop a run: ask it while the run goes on"})
	}
	q, err := e.ask(tx, t, run.ID, a, by)
	var fe *fermata.Error
	if errors.As(err, &fe) {
		for i := range fe.Problems {
			fe.Problems[i].Field = "question." + fe.Problems[i].Field
		}
	}
	return q, err
}

// block makes the task wait for others. When there is nothing that it could
// wait for, a person is asked how to go on: every waiting task has something
// that someone can act on.
func (e *Engine) block(tx *store.Tx, t *fermata.Task, run *fermata.Run, f fermata.Finish, by fermata.Actor) error {
	t.Attempts = 0
	on := f.BlockedBy
	if len(on) == 0 {
		children, err := tx.Children(t.ID)
		if err != nil {
			return err
		}
		for _, child := range children {
			if !child.State.Ended() {
				on = append(on, child.ID)
			}
		}
	}
	if len(on) == 0 {
		policy, err := e.policy(tx.Reader)
		if err != nil {
			return err
		}
		return e.suspend(tx, t, run, fermata.Finish{Question: blockedQuestion(f, policy)}, by)
	}
	if err := e.dependOn(tx, t, on); err != nil {
		return err
	}
	waits, err := e.waiting(tx, t, nil)
	if err != nil {
		return err
	}
	to := fermata.TaskBlocked
	if !waits {
		to = t.Ready()
	}
	if err := move(tx, t, to, by); err != nil {
		return err
	}
	tx.SaveTask(t)
	return nil
}

// blockedQuestion asks how to go on when an agent is stuck on no task.
func blockedQuestion(f fermata.Finish, p fermata.Policy) *fermata.Ask {
	timeout := fermata.Never
	if !p.AllowNever {
		timeout = p.MaxTimeout
	}
	return &fermata.Ask{
		Type: fermata.Blocking, Title: "The agent is blocked: how should it go on?", Body: f.Summary,
		Question: "How should the agent go on?", ResponseType: fermata.ResponseText, Timeout: timeout,
	}
}

// FinishExternal ends a task that belongs to whoever made it.
func (e *Engine) FinishExternal(ctx context.Context, c fermata.Caller, id string, f fermata.Finish) (*fermata.Task, error) {
	if err := require(c, fermata.ScopeAsk, fermata.ScopeWork); err != nil {
		return nil, err
	}
	if err := f.Check(); err != nil {
		return nil, err
	}
	to := fermata.TaskDone
	switch f.Result {
	case fermata.ResultCompleted:
	case fermata.ResultFailed:
		to = fermata.TaskFailed
	default:
		return nil, fermata.Invalid(fermata.Problem{Field: "result", Message: "of an external task must be completed or failed"})
	}
	id, err := e.taskID(ctx, c, id)
	if err != nil {
		return nil, err
	}
	return write(ctx, e, c, func(tx *store.Tx) (*fermata.Task, error) {
		t, err := tx.Task(id)
		if err == nil {
			err = mayWrite(c, t.Project)
		}
		if err != nil {
			return nil, err
		}
		if t.Runner != fermata.RunnerExternal {
			return nil, fermata.Errorf(fermata.CodeIllegalTransition, "the task is no external one: its run finishes it").
				WithHint("use POST /v1/runs/{id}/finish")
		}
		if err := e.timeDecidesFirst(tx, t); err != nil {
			return nil, err
		}
		if !fermata.CanMove(t.State, to) {
			return nil, refuse(tx, tx.Appended(), t.Move(to))
		}
		t.Summary = f.Summary
		return t, e.end(tx, t, to, "", c.Actor())
	}, store.Ahead{Task: id})
}
