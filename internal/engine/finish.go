package engine

import (
	"context"
	"errors"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// finishedData is the data of the event run.finished. A run that ends with a
// question has no summary here, because the event question.asked describes its
// result.
type finishedData struct {
	Result  fermata.Result `json:"result"`
	Summary string         `json:"summary,omitempty"`
	// Unheard are the ids of messages and closed questions that the run was handed but its agent was never told. They
	// wait for the next run.
	Unheard []string `json:"unheard,omitempty"`
}

// Finish ends a run with a result and moves its task on. The result of a lost run counts if no other run has begun. If
// the result comes with a claim, the same transaction claims the next task.
func (e *Engine) Finish(ctx context.Context, c fermata.Caller, runID string, f fermata.Finish) (*fermata.FinishReply, error) {
	if err := c.CheckPermission(fermata.ToHoldRun, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	if err := f.Check(); err != nil {
		return nil, err
	}
	next, err := e.prepareNextClaim(ctx, c, f.Claim)
	if err != nil {
		return nil, err
	}
	ahead := append(next.readAhead(), store.ReadAhead{Run: runID, TaskEnd: f.Result == fermata.ResultCompleted || f.Result == fermata.ResultFailed})
	reply, err := write(ctx, e, c, fermata.ToHoldRun, func(tx *store.Tx) (*fermata.FinishReply, error) {
		run, t, err := e.leasedOrLostRun(tx, c, runID, f)
		if err == nil {
			err = e.settlePendingIfDue(tx, t)
		}
		if err != nil {
			return nil, err
		}
		if err := markHeardAsHanded(tx, t, run, f); err != nil {
			return nil, err
		}
		unheard, err := takeBackUnheard(tx, t, run, f.Heard)
		if err != nil {
			return nil, err
		}
		endRun(tx, t, run, f, unheard, c.Actor())
		e.touchWorker(tx, run)
		if err := e.moveByResult(tx, t, run, f, c.Actor()); err != nil {
			return nil, err
		}
		// The run is saved last, so that its row names the question it asked.
		tx.SaveRun(run)
		reply := &fermata.FinishReply{Task: t}
		reply.Next, err = next.claim(tx)
		return reply, err
	}, ahead...)
	if err == nil {
		next.noteFound(reply.Next != nil)
	}
	return reply, err
}

// leasedOrLostRun loads the run that reports a result, and its task. A lost run takes its task back, with everything
// its agent was told, unless another run has begun.
func (e *Engine) leasedOrLostRun(tx *store.Tx, c fermata.Caller, runID string, f fermata.Finish) (*fermata.Run, *fermata.Task, error) {
	run, t, err := loadLeasedRun(tx, c, runID, f.Token)
	if fermata.CodeOf(err) != fermata.CodeStaleRun || !run.CountsLate(t, f.Token, tx.Now()) {
		return run, t, err
	}
	if run.State == fermata.RunRunning {
		// The lease has ended, but no sweep has noticed it.
		return run, t, nil
	}
	run.State, run.EndedAt = fermata.RunRunning, nil
	tx.ReviveRun(run)
	// Its worker may count as not running, on another server too.
	e.recordedWorkers.forgetName(run.WorkspaceID, run.Worker)
	t.Attempts = max(0, t.Attempts-1)
	if t.State.IsEnded() {
		// The lost run was the last attempt, so the task had failed.
		t.Reason = ""
		if err := moveTask(tx, t, t.ReadyState(), c.Actor()); err != nil {
			return nil, nil, err
		}
	}
	if err := moveTask(tx, t, fermata.TaskInProgress, c.Actor()); err != nil {
		return nil, nil, err
	}
	return run, t, countUnread(tx, t)
}

// endRun records the result of a run on the run and on its task.
func endRun(tx *store.Tx, t *fermata.Task, run *fermata.Run, f fermata.Finish, unheard []string, by fermata.Actor) {
	now := tx.Now()
	run.State, run.Result, run.Summary, run.Details, run.EndedAt = fermata.RunFinished, f.Result, f.Summary, f.Details, &now
	t.Summary = f.Summary
	if f.Session != nil {
		t.Session = f.Session
	}
	if len(f.Checkpoint) > 0 {
		t.Checkpoint = f.Checkpoint
	}
	payload := finishedData{f.Result, f.Summary, unheard}
	if f.Result == fermata.ResultNeedsInput {
		payload.Summary = ""
	}
	tx.Append(&fermata.Event{Type: fermata.EventRunFinished, TaskID: t.ID, RunID: run.ID, Actor: by, Data: encodeData(payload)})
}

// markHeardAsHanded marks the messages and answers as handed that the agent got without a heartbeat. An agent that waits for an
// answer gets it before the next heartbeat.
func markHeardAsHanded(tx *store.Tx, t *fermata.Task, run *fermata.Run, f fermata.Finish) error {
	if f.Heard == nil || len(*f.Heard) == 0 || t.Unread == 0 {
		return nil
	}
	tx.HandOverByID(t.ID, run.ID, *f.Heard)
	return countUnread(tx, t)
}

// takeBackUnheard takes back the messages and answers that the run was handed and that are not in heard. They are
// handed over again. It returns their ids. If heard is nil, it takes nothing back.
func takeBackUnheard(tx *store.Tx, t *fermata.Task, run *fermata.Run, heard *[]string) ([]string, error) {
	if heard == nil || run.HandedCount == 0 {
		return nil, nil
	}
	questions, err := tx.UnhandedQuestions(t.ID, run.ID)
	if err != nil {
		return nil, err
	}
	messages, err := tx.UnhandedMessages(t.ID, run.ID)
	if err != nil {
		return nil, err
	}
	unheard := fermata.UnheardIDs(*heard, run.ID, questions, messages)
	if len(unheard) == 0 {
		return nil, nil
	}
	tx.TakeBackHandOverByID(t.ID, run.ID, unheard)
	return unheard, countUnread(tx, t)
}

// moveByResult moves the task as the result says. Messages that no run was handed stop the task from ending or waiting:
// it continues at once, with its session and its working copy.
func (e *Engine) moveByResult(tx *store.Tx, t *fermata.Task, run *fermata.Run, f fermata.Finish, by fermata.Actor) error {
	if err := e.releaseHeldAnswers(tx, t, run, f.Result); err != nil {
		return err
	}
	goesOn, err := hasUnhandedWords(tx, t, f.Result)
	if err != nil {
		return err
	}
	if goesOn {
		return e.continueTask(tx, t, f, by)
	}
	switch f.Result {
	case fermata.ResultCompleted:
		return e.endTask(tx, t, fermata.TaskDone, "", by)
	case fermata.ResultFailed:
		return e.endTask(tx, t, fermata.TaskFailed, f.Reason, by)
	case fermata.ResultBlocked:
		return e.blockTask(tx, t, run, f, by)
	default:
		return e.suspendTask(tx, t, run, f, by)
	}
}

// releaseHeldAnswers settles questions with their held answers if the run would end the task. Otherwise the end of the task
// would drop these answers.
func (e *Engine) releaseHeldAnswers(tx *store.Tx, t *fermata.Task, run *fermata.Run, r fermata.Result) error {
	if r != fermata.ResultCompleted && r != fermata.ResultFailed {
		return nil
	}
	ids, _, err := tx.AffectedByTaskEnd(t.ID, run.ID)
	if err != nil || len(ids) == 0 {
		return err
	}
	pending, err := tx.QuestionsByID(ids)
	if err != nil {
		return err
	}
	for _, q := range pending {
		if q.Status != fermata.Pending || q.HeldAnswer == nil {
			continue
		}
		if err := e.releaseAnswer(tx, t, q); err != nil {
			return err
		}
	}
	return nil
}

// hasUnhandedWords reports whether the result leaves words of people unread, so that the task must continue.
func hasUnhandedWords(tx *store.Tx, t *fermata.Task, r fermata.Result) (bool, error) {
	if t.Unread == 0 {
		return false, nil
	}
	questions, messages, err := tx.PendingHandOver(t.ID)
	return err == nil && t.ContinueForMessages(r, questions, messages), err
}

// continueTask makes the task ready for a claim with the words that no run was handed. It also stores the tasks that a
// blocked run waits for, because the next run may wait for them again.
func (e *Engine) continueTask(tx *store.Tx, t *fermata.Task, f fermata.Finish, by fermata.Actor) error {
	if f.Result == fermata.ResultBlocked && len(f.BlockedBy) > 0 {
		if err := e.dependOn(tx, t, f.BlockedBy); err != nil {
			return err
		}
	}
	return e.moveAfterRun(tx, t, nil, by)
}

// suspendTask stops the task on the question of its run: the one in the result, or
// one that was asked during the run. If that question was answered in the
// meantime, the task is ready at once.
func (e *Engine) suspendTask(tx *store.Tx, t *fermata.Task, run *fermata.Run, f fermata.Finish, by fermata.Actor) error {
	t.Attempts = 0
	if f.Question == nil && t.PendingQuestionID == "" && t.Unread == 0 {
		f.Question = f.SummaryQuestion()
	}
	if f.Question == nil {
		run.QuestionID = t.PendingQuestionID
		if t.PendingQuestionID == "" && t.Unread == 0 {
			return fermata.Invalid(fermata.Problem{Field: "question", Message: "needs_input needs a question or a summary that asks, and no question is pending"})
		}
		return e.moveAfterRun(tx, t, nil, by)
	}
	// The run has ended, so the question suspends the task at once.
	q, err := e.askAtEnd(tx, t, run, *f.Question, by)
	if err != nil {
		return err
	}
	run.QuestionID = q.ID
	if q.Status != fermata.Pending && t.State == fermata.TaskInProgress && t.Unread == 0 && t.PendingQuestionID == "" {
		// The idempotency key belongs to a question whose answer was handed over before.
		return q.ClosedError()
	}
	if t.State == fermata.TaskInProgress {
		return e.moveAfterRun(tx, t, q, by)
	}
	return nil
}

// askAtEnd opens the question with which a run ends. The asker is an agent.
func (e *Engine) askAtEnd(tx *store.Tx, t *fermata.Task, run *fermata.Run, a fermata.Ask, by fermata.Actor) (*fermata.Question, error) {
	if a.Type == fermata.NonBlocking {
		return nil, fermata.Invalid(fermata.Problem{Field: "question.type", Message: "a non_blocking question does not stop a run: ask it while the run goes on"})
	}
	q, err := e.ask(tx, t, run.ID, a.WithOwnAnswers(), by)
	var fe *fermata.Error
	if errors.As(err, &fe) {
		if fe.Code == fermata.CodeNotFound {
			// The run exists, but something that its question names does not.
			err = fermata.Invalid(fermata.Problem{Field: "question", Message: fe.Message})
		}
		for i := range fe.Problems {
			fe.Problems[i].Field = "question." + fe.Problems[i].Field
		}
	}
	return q, err
}

// blockTask makes the task wait for other tasks. If there is nothing to wait for,
// it asks a person how to continue, so that every waiting task has something
// that a person can act on.
func (e *Engine) blockTask(tx *store.Tx, t *fermata.Task, run *fermata.Run, f fermata.Finish, by fermata.Actor) error {
	t.Attempts = 0
	blockers := f.BlockedBy
	if len(blockers) == 0 {
		children, err := tx.Children(t.ID)
		if err != nil {
			return err
		}
		for _, child := range children {
			if !child.State.IsEnded() {
				blockers = append(blockers, child.ID)
			}
		}
	}
	if len(blockers) == 0 {
		return e.suspendTask(tx, t, run, fermata.Finish{Question: blockedQuestion(f)}, by)
	}
	if err := e.dependOn(tx, t, blockers); err != nil {
		return err
	}
	waits, err := e.isBlocked(tx, t, nil)
	if err != nil {
		return err
	}
	to := fermata.TaskBlocked
	if !waits {
		to = t.ReadyState()
	}
	if err := moveTask(tx, t, to, by); err != nil {
		return err
	}
	tx.SaveTask(t)
	return nil
}

// blockedQuestion returns the question for an agent that is blocked, but not by a task.
func blockedQuestion(f fermata.Finish) *fermata.Ask {
	return &fermata.Ask{
		Type: fermata.Blocking, Title: "The agent is blocked: how should it go on?", Body: f.Summary,
		Question: "How should the agent go on?", ResponseType: fermata.ResponseText,
	}
}

// FinishExternal ends an external task, for its owner. The result must be completed or failed.
func (e *Engine) FinishExternal(ctx context.Context, c fermata.Caller, id string, f fermata.Finish) (*fermata.Task, error) {
	if err := c.CheckPermission(fermata.ToFinishTask, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	if err := f.Check(); err != nil {
		return nil, err
	}
	if f.Claim != nil {
		return nil, fermata.Invalid(fermata.Problem{Field: "claim", Message: "is allowed only with the result of a run"})
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
	return write(ctx, e, c, fermata.ToFinishTask, func(tx *store.Tx) (*fermata.Task, error) {
		t, err := tx.Task(id)
		if err == nil {
			err = checkTaskPermission(tx, c, fermata.ToFinishTask, t)
		}
		if err != nil {
			return nil, err
		}
		if t.Runner != fermata.RunnerExternal {
			return nil, fermata.Errorf(fermata.CodeIllegalTransition, "the task is not external: only its run can finish it").
				WithHint("use POST /v1/runs/{id}/finish")
		}
		if err := e.settlePendingIfDue(tx, t); err != nil {
			return nil, err
		}
		if !fermata.CanMove(t.State, to) {
			return nil, wrapTooLate(tx, tx.AppendedCount(), t.Move(to))
		}
		t.Summary = f.Summary
		return t, e.endTask(tx, t, to, f.Reason, c.Actor())
	}, store.ReadAhead{Task: id})
}
