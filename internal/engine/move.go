package engine

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// moved is the data of an event that changes a task's state.
type moved struct {
	From   fermata.TaskState `json:"from"`
	To     fermata.TaskState `json:"to"`
	Reason string            `json:"reason,omitempty"`
	// Runner is that of runs of workflows; others need not be told apart.
	Runner string `json:"runner,omitempty"`
}

// toldRunner is the runner that a move of the task names.
func toldRunner(t *fermata.Task) string {
	if t.Runner == fermata.RunnerWorkflow {
		return t.Runner
	}
	return ""
}

// move changes a task's state along an arrow of the table. The event that led
// to it carries the move; an end has an event of its own, and so has a move
// that nothing else tells of. The caller saves the task.
func move(tx *store.Tx, t *fermata.Task, to fermata.TaskState, by fermata.Actor) error {
	from := t.State
	if from == to && !fermata.CanMove(from, to) {
		return nil
	}
	if err := t.Move(to); err != nil {
		return err
	}
	move := data(moved{from, to, t.Reason, toldRunner(t)})
	typ := fermata.EventTaskEnded
	if !to.IsEnded() {
		if cause := tx.Carrier(t.ID); cause != nil {
			cause.Data = joinObjects(cause.Data, move)
			return nil
		}
		typ = fermata.EventTaskStateChanged
	}
	tx.Append(&fermata.Event{Type: typ, TaskID: t.ID, RunID: t.RunID, Actor: by, Data: move})
	return nil
}

// joinObjects puts the members of two objects into one. Both have members, and
// share none.
func joinObjects(a, b json.RawMessage) json.RawMessage {
	return slices.Concat(a[:len(a)-1], []byte{','}, b[1:])
}

// end moves a task into an ended state: its pending questions are cancelled,
// and tasks that only waited for it become ready.
func (e *Engine) end(tx *store.Tx, t *fermata.Task, to fermata.TaskState, reason string, by fermata.Actor) error {
	questions, dependents, err := tx.Ends(t.ID, t.RunID)
	if err != nil {
		return err
	}
	t.Reason = reason
	if err := move(tx, t, to, by); err != nil {
		return err
	}
	t.PendingQuestionID, t.Unread = "", 0
	tx.SaveTask(t)
	if t.Runner == fermata.RunnerWorkflow {
		tx.EndSteps(t.ID, fermata.StepCancelled, "the run ended")
	}
	if err := closeQuestions(tx, questions, by, to, withdrawnWhy(to, reason)); err != nil {
		return err
	}
	return e.unblock(tx, t, dependents)
}

// withdrawnWhy says why the end of a task closes its questions, beside how it ended.
func withdrawnWhy(to fermata.TaskState, reason string) string {
	if to != fermata.TaskCancelled {
		return reason
	}
	if reason != "" {
		reason = ": " + reason
	}
	return "the task was cancelled" + reason
}

// closeQuestions closes what an ended task still asked, in the name of whoever
// ended it.
func closeQuestions(tx *store.Tx, ids []string, ender fermata.Actor, how fermata.TaskState, reason string) error {
	pending, err := tx.QuestionsByID(ids)
	if err != nil {
		return err
	}
	for _, q := range pending {
		if q.Status != fermata.Pending {
			continue
		}
		if q.HeldDue(tx.Now()) {
			if err := dropHeld(tx, q); err != nil {
				return err
			}
		}
		by, err := closeWithTask(q, ender, how, reason, tx.Now())
		if err != nil {
			return err
		}
		saveClosed(tx, q, by)
	}
	return nil
}

// closeWithTask closes a question of a task that ends, and returns who did.
// What somebody answered, or time decided, before that stands.
func closeWithTask(q *fermata.Question, ender fermata.Actor, how fermata.TaskState, reason string, now time.Time) (fermata.Actor, error) {
	switch {
	case q.HeldDue(now):
		q.Release()
		return *q.Resolution.AnsweredBy, nil
	case q.IsOverdue(now) && q.Expire(now) == fermata.ExpiredClosed:
		return fermata.ByTimeout, nil
	}
	return ender, q.EndWithTask(ender, how, reason, now)
}

// unblock makes the dependents ready that waited for nothing else. A child's
// end, however it ended, satisfies its parent; any other dependency must be
// done or skipped.
func (e *Engine) unblock(tx *store.Tx, ended *fermata.Task, dependents []string) error {
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
		if err := move(tx, t, t.ReadyState(), fermata.System); err != nil {
			return err
		}
		tx.SaveTask(t)
	}
	return nil
}

// isBlocked reports whether a task still waits for one of its dependencies. A run of a workflow goes on when one of its children has
// ended. The task that just changed is passed in, since its row may not be written yet.
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
		isSatisfied := t.SatisfiedBy(other)
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

// asked is the data of question.asked.
type asked struct {
	Type    fermata.QuestionType `json:"type"`
	Title   string               `json:"title"`
	Project string               `json:"project"`
	// TaskTitle is empty where it is the title of the question.
	TaskTitle string       `json:"task_title,omitempty"`
	Risk      fermata.Risk `json:"risk"`
	// Items is how many things are asked, where it is not one.
	Items int `json:"items,omitempty"`
	// Approvals is how many people must approve, where it is not one.
	Approvals int `json:"approvals,omitempty"`
	// ActionHash names the action; it is empty where there is none.
	ActionHash string `json:"action_hash"`
	// ContentHash names everything that is frozen; see [fermata.Question.ContentHash].
	ContentHash string `json:"content_hash"`
	// KeyHash names the idempotency key and the request; it is empty without a key.
	KeyHash string `json:"key_hash"`
	// Assignees and Deadline are those with which the question opened.
	Assignees []string   `json:"assignees,omitempty"`
	Deadline  *time.Time `json:"deadline,omitempty"`
}

// askedOf says what people choose a question by.
func askedOf(t *fermata.Task, q *fermata.Question) asked {
	a := askedFacts(q)
	if t.Title != q.Title {
		a.TaskTitle = t.Title
	}
	return a
}

// askedFacts returns the data of question.asked without what belongs to the task.
func askedFacts(q *fermata.Question) asked {
	a := asked{Type: q.Type, Title: q.Title, Project: q.Project, Risk: q.Risk, ActionHash: q.ActionHash, ContentHash: q.ContentHash(), KeyHash: q.KeyHash(), Assignees: q.Assignees, Deadline: q.Deadline}
	if len(q.Items) > 1 {
		a.Items = len(q.Items)
	}
	if q.Approvals != nil && q.Approvals.Required > 1 {
		a.Approvals = q.Approvals.Required
	}
	return a
}
