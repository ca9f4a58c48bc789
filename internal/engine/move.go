package engine

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// movedData is the data of an event that changes a task's state.
type movedData struct {
	fermata.TaskMove
	// Runner is set for workflow runs only. No reader of the event needs to know the other runners.
	Runner string `json:"runner,omitempty"`
}

// eventRunner returns the runner that the event of a move names.
func eventRunner(t *fermata.Task) string {
	if t.Runner == fermata.RunnerWorkflow {
		return t.Runner
	}
	return ""
}

// moveTask changes a task's state by a transition of the state table. If this transaction
// already has an event that caused the move, the move is added to the data of that event. The end of a task has an
// event of its own, and so has a move without a cause. The caller saves the task.
func moveTask(tx *store.Tx, t *fermata.Task, to fermata.TaskState, by fermata.Actor) error {
	from := t.State
	if from == to && !fermata.CanMove(from, to) {
		return nil
	}
	if err := t.Move(to); err != nil {
		return err
	}
	move := &fermata.TaskMove{From: from, To: to, Reason: t.Reason, Kind: t.Kind()}
	moveData := encodeData(movedData{*move, eventRunner(t)})
	typ := fermata.EventTaskEnded
	if !to.IsEnded() {
		if cause := tx.TakeLastEvent(t.ID); cause != nil {
			cause.Data, cause.Move = joinObjects(cause.Data, moveData), move
			return nil
		}
		typ = fermata.EventTaskStateChanged
	}
	tx.Append(&fermata.Event{Type: typ, TaskID: t.ID, RunID: t.RunID, Actor: by, Data: moveData, Move: move})
	return nil
}

// joinObjects joins the fields of two JSON objects in one object. Both must
// have fields, and no field name may be in both.
func joinObjects(a, b json.RawMessage) json.RawMessage {
	return slices.Concat(a[:len(a)-1], []byte{','}, b[1:])
}

// endTask moves a task into an ended state. Its pending questions are cancelled,
// and tasks that waited only for it become ready.
func (e *Engine) endTask(tx *store.Tx, t *fermata.Task, to fermata.TaskState, reason string, by fermata.Actor) error {
	questions, dependents, err := tx.AffectedByTaskEnd(t.ID, t.RunID)
	if err != nil {
		return err
	}
	t.Reason = reason
	if err := moveTask(tx, t, to, by); err != nil {
		return err
	}
	t.PendingQuestionID, t.Unread = "", 0
	tx.SaveTask(t)
	if t.Runner == fermata.RunnerWorkflow {
		tx.EndSteps(t.ID, fermata.StepCancelled, "the run ended")
	}
	if err := closeQuestions(tx, questions, by, to, withdrawalReason(to, reason)); err != nil {
		return err
	}
	return e.unblockDependents(tx, t, dependents)
}

// withdrawalReason returns the reason that the questions of an ended task show.
func withdrawalReason(to fermata.TaskState, reason string) string {
	if to != fermata.TaskCancelled {
		return reason
	}
	if reason != "" {
		reason = ": " + reason
	}
	return "the task was cancelled" + reason
}

// closeQuestions closes the pending questions of an ended task in the name of
// the actor that ended it.
func closeQuestions(tx *store.Tx, ids []string, ender fermata.Actor, endState fermata.TaskState, reason string) error {
	pending, err := tx.QuestionsByID(ids)
	if err != nil {
		return err
	}
	for _, q := range pending {
		if q.Status != fermata.Pending {
			continue
		}
		if q.IsReleaseDue(tx.Now()) {
			if err := dropInvalidHeldAnswer(tx, q); err != nil {
				return err
			}
		}
		by, err := closeWithTask(q, ender, endState, reason, tx.Now())
		if err != nil {
			return err
		}
		saveClosed(tx, q, by)
	}
	return nil
}

// closeWithTask closes a question of a task that ends, and returns the actor
// that closed it. A held answer that was due before, or a deadline that had
// passed, still counts.
func closeWithTask(q *fermata.Question, ender fermata.Actor, endState fermata.TaskState, reason string, now time.Time) (fermata.Actor, error) {
	switch {
	case q.IsReleaseDue(now):
		q.Release()
		return *q.Resolution.AnsweredBy, nil
	case q.IsOverdue(now) && q.Expire(now) == fermata.ExpiredClosed:
		return fermata.TimeoutActor, nil
	}
	return ender, q.CloseWithTask(ender, endState, reason, now)
}

// unblockDependents makes dependents ready if they waited for nothing else. A child that
// has ended with any result satisfies its parent. Any other dependency must be
// done or skipped.
func (e *Engine) unblockDependents(tx *store.Tx, ended *fermata.Task, dependents []string) error {
	tasks, err := tx.TasksByID(dependents)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		if t.State != fermata.TaskBlocked {
			continue
		}
		waits, err := e.isBlocked(tx, t, ended)
		if err != nil {
			return err
		}
		if waits {
			continue
		}
		if err := moveTask(tx, t, t.ReadyState(), fermata.SystemActor); err != nil {
			return err
		}
		tx.SaveTask(t)
	}
	return nil
}

// isBlocked reports whether a task still waits for a dependency. A workflow run continues when one of its children
// has ended. The task that just changed is passed in, because its row may not be written yet.
func (e *Engine) isBlocked(tx *store.Tx, t *fermata.Task, changed *fermata.Task) (bool, error) {
	others, err := tx.TasksByID(t.BlockedBy)
	if err != nil {
		return false, err
	}
	children, ended := 0, 0
	for _, other := range others {
		if changed != nil && other.ID == changed.ID {
			other = changed
		}
		isSatisfied := t.IsUnblockedBy(other)
		switch {
		case t.Runner == fermata.RunnerWorkflow && other.ParentID == t.ID:
			children++
			if isSatisfied {
				ended++
			}
		case !isSatisfied:
			return true, nil
		}
	}
	return children > 0 && ended == 0, nil
}

// askedData is the data of the event question.asked.
type askedData struct {
	Type    fermata.QuestionType `json:"type"`
	Title   string               `json:"title"`
	Project string               `json:"project"`
	// TaskTitle is empty if it equals the title of the question.
	TaskTitle string       `json:"task_title,omitempty"`
	Risk      fermata.Risk `json:"risk"`
	// Items is the number of items, if it is more than one.
	Items int `json:"items,omitempty"`
	// Approvals is the number of people who must approve, if it is more than one.
	Approvals int `json:"approvals,omitempty"`
	// ActionHash is the hash of the action, or empty if there is none.
	ActionHash string `json:"action_hash"`
	// ContentHash is the hash of everything that is frozen; see [fermata.Question.ContentHash].
	ContentHash string `json:"content_hash"`
	// KeyHash is the hash of the idempotency key and the request. It is empty without a key.
	KeyHash string `json:"key_hash"`
	// Assignees and Deadline are the first ones, from the time when the question was asked.
	Assignees []string   `json:"assignees,omitempty"`
	Deadline  *time.Time `json:"deadline,omitempty"`
}

// newAskedData returns the data of question.asked. People choose by these data which question to read.
func newAskedData(t *fermata.Task, q *fermata.Question) askedData {
	a := askedFacts(q)
	if t.Title != q.Title {
		a.TaskTitle = t.Title
	}
	return a
}

// askedFacts returns the data of question.asked without the title of the task.
func askedFacts(q *fermata.Question) askedData {
	a := askedData{Type: q.Type, Title: q.Title, Project: q.Project, Risk: q.Risk, ActionHash: q.ActionHash, ContentHash: q.ContentHash(), KeyHash: q.KeyHash(), Assignees: q.Assignees, Deadline: q.Deadline}
	if len(q.Items) > 1 {
		a.Items = len(q.Items)
	}
	if q.Approvals != nil && q.Approvals.Required > 1 {
		a.Approvals = q.Approvals.Required
	}
	return a
}

// makeReady makes a task ready for a claim, or blocks it if it still waits for
// other tasks.
func (e *Engine) makeReady(tx *store.Tx, t *fermata.Task, by fermata.Actor) error {
	to := t.ReadyState()
	if t.State != fermata.TaskBlocked && t.Runner != fermata.RunnerExternal && len(t.BlockedBy) > 0 {
		waits, err := e.isBlocked(tx, t, nil)
		if err != nil {
			return err
		}
		if waits && t.State.IsEnded() {
			// An ended task cannot become blocked directly, so it becomes ready first.
			if err := moveTask(tx, t, to, by); err != nil {
				return err
			}
		}
		if waits {
			to = fermata.TaskBlocked
		}
	}
	if err := moveTask(tx, t, to, by); err != nil {
		return err
	}
	tx.SaveTask(t)
	return nil
}
