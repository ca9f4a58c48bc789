package engine

import (
	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// closedData is the data of the events that close a question.
type closedData struct {
	Type      fermata.QuestionType  `json:"type"`
	Project   string                `json:"project"`
	DecidedBy fermata.ActorKind     `json:"decided_by"`
	Channel   string                `json:"channel,omitempty"`
	Outcome   fermata.TimeoutAction `json:"outcome,omitempty"`
	Answers   map[string]any        `json:"answers,omitempty"`
	Comment   string                `json:"comment,omitempty"`
	// Seconds is the time from the question to its end. It is 0 if the clock
	// was set back in between.
	Seconds float64 `json:"seconds"`
	// By is the id of the person who answered. Assurance is how strongly this person had signed in. ActionHash is the
	// hash of the approved action. These three are always in the data, even if they are empty.
	By         string            `json:"by"`
	Assurance  fermata.Assurance `json:"assurance"`
	ActionHash string            `json:"action_hash"`
	// Votes are the approvals and refusals of a question that needs several people.
	Votes []closedVote `json:"votes,omitempty"`
	// Signed is the decision that the person's passkey signed.
	Signed *fermata.SignedDecision `json:"signed,omitempty"`
}

type closedVote struct {
	By        string            `json:"by"`
	Value     string            `json:"value"`
	Assurance fermata.Assurance `json:"assurance,omitempty"`
}

// newClosedData returns the data of the event that closes the question.
func newClosedData(q *fermata.Question) closedData {
	r := q.Resolution
	c := closedData{
		Type: q.Type, Project: q.Project, DecidedBy: r.DecidedBy, Channel: r.Channel, Outcome: r.Outcome,
		Answers: r.Answers, Comment: r.Comment, Seconds: max(0, r.At.Sub(q.CreatedAt).Seconds()),
		Assurance: r.Assurance, ActionHash: r.ActionHash, Signed: r.Signed,
	}
	if r.AnsweredBy != nil {
		c.By = r.AnsweredBy.ID
	}
	for _, v := range q.Votes {
		c.Votes = append(c.Votes, closedVote{v.By.ID, v.Value, v.Assurance})
	}
	return c
}

var closingEventByStatus = map[fermata.QuestionStatus]fermata.EventType{
	fermata.Answered:  fermata.EventQuestionAnswered,
	fermata.TimedOut:  fermata.EventQuestionTimedOut,
	fermata.Cancelled: fermata.EventQuestionCancelled,
}

// saveClosed saves the end of a question and appends its event. It does not
// change the task; see [Engine.settle].
func saveClosed(tx *store.Tx, q *fermata.Question, by fermata.Actor) {
	tx.UpdatePending(q)
	tx.Append(&fermata.Event{
		Type: closingEventByStatus[q.Status], TaskID: q.TaskID, QuestionID: q.ID, Actor: by, Data: encodeData(newClosedData(q)),
	})
}

// settle saves the end of a question and moves its task on, in the same
// transaction. This is the only way from a closed question to a resumed task.
func (e *Engine) settle(tx *store.Tx, t *fermata.Task, q *fermata.Question, by fermata.Actor) error {
	saveClosed(tx, q, by)
	if t.State.IsEnded() {
		return nil
	}
	isAwaited := t.PendingQuestionID == q.ID
	if isAwaited {
		t.PendingQuestionID = ""
	}
	t.Unread++
	to, reason := t.StateAfterQuestion(q, isAwaited)
	switch {
	case to == t.State:
		tx.SaveTask(t)
		return nil
	case to.IsEnded():
		return e.endTask(tx, t, to, reason, by)
	}
	if err := moveTask(tx, t, to, by); err != nil {
		return err
	}
	tx.SaveTask(t)
	return nil
}
