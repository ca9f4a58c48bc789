package engine

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// questionRecord is what the events say about a question: how it opened, whom it asks, its deadline, the votes and
// its end.
type questionRecord struct {
	// opening is the event that opened the question. It is nil if there is none, or if it was compared before.
	opening *fermata.Event
	// knowsAssignees and knowsDeadline report whether the events name the assignees and the deadline. Events of earlier
	// versions do not.
	knowsAssignees, knowsDeadline bool
	assignees                     []string
	deadline                      *time.Time
	votes                         []recordedVote
	// held is the held answer, or nil if there is none.
	held *recordedHeldAnswer
	// closing is the event that closed the question, or nil while it is open.
	closing *fermata.Event
	// lateAnswers are the answers after the deadline, the last one of each person.
	lateAnswers []fermata.LateAnswer
	// grantUsed reports whether the grant was used.
	grantUsed bool
}

// recordedVote is a vote in the events. comment is the hash of the vote's comment, or nil if the event does not contain
// the hash.
type recordedVote struct {
	fermata.Vote
	comment *string
}

// recordedHeldAnswer is a held answer in the events: who gave it, and when it is released. The hash is empty if the event
// does not contain it.
type recordedHeldAnswer struct {
	by        fermata.Actor
	releaseAt time.Time
	hash      string
}

// recordEventTypes are the types of events from which a record is built.
var recordEventTypes = append([]fermata.EventType{
	fermata.EventQuestionAsked, fermata.EventQuestionAssigned, fermata.EventQuestionEscalated, fermata.EventQuestionExtended,
	fermata.EventQuestionVoteCast, fermata.EventQuestionHeld, fermata.EventQuestionUndone, fermata.EventQuestionAnsweredLate, fermata.EventGrantUsed,
}, fermata.ClosingEventTypes...)

// recordedFacts are the data of events from which a record is built.
type recordedFacts struct {
	ReleaseAt   time.Time         `json:"release_at"`
	ContentHash string            `json:"content_hash"`
	Assignees   []string          `json:"assignees"`
	Deadline    *time.Time        `json:"deadline"`
	Value       string            `json:"value"`
	Assurance   fermata.Assurance `json:"assurance"`
	Votes       json.RawMessage   `json:"votes"`
	Answers     map[string]any    `json:"answers"`
	CommentHash *string           `json:"comment_hash"`
	// KeyHash is nil in events of earlier versions.
	KeyHash   *string `json:"key_hash"`
	Comment   string  `json:"comment"`
	Restarted bool    `json:"restarted"`
}

// apply adds what an event says about the question.
func (r *questionRecord) apply(e *fermata.Event) {
	var facts recordedFacts
	_ = json.Unmarshal(e.Data, &facts) // data that was changed breaks the chain, and the audit reports that
	switch e.Type {
	case fermata.EventQuestionAsked:
		r.opening = e
		r.knowsAssignees, r.knowsDeadline = facts.ContentHash != "", facts.ContentHash != ""
		r.assignees, r.deadline = facts.Assignees, facts.Deadline
	case fermata.EventQuestionAssigned:
		r.knowsAssignees, r.assignees = true, facts.Assignees
	case fermata.EventQuestionEscalated:
		r.knowsAssignees, r.assignees = true, facts.Assignees
		r.knowsDeadline, r.deadline = true, facts.Deadline
	case fermata.EventQuestionExtended:
		r.knowsDeadline, r.deadline = true, facts.Deadline
	case fermata.EventQuestionVoteCast:
		r.votes = append(r.votes, recordedVote{fermata.Vote{By: e.Actor, Value: facts.Value, Assurance: facts.Assurance, At: e.At}, facts.CommentHash})
	case fermata.EventQuestionHeld:
		r.held = &recordedHeldAnswer{e.Actor, facts.ReleaseAt, facts.ContentHash}
	case fermata.EventQuestionUndone:
		r.held = nil
	case fermata.EventQuestionAnsweredLate:
		r.lateAnswers = slices.DeleteFunc(r.lateAnswers, func(l fermata.LateAnswer) bool { return l.By.ID == e.Actor.ID })
		r.lateAnswers = append(r.lateAnswers, fermata.LateAnswer{By: e.Actor, Answers: facts.Answers, Comment: facts.Comment, Restarted: facts.Restarted})
	case fermata.EventQuestionAnswered, fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled:
		r.recordClosing(e, facts)
	case fermata.EventGrantUsed:
		r.grantUsed = true
	default:
	}
}

// recordClosing records the end of the question. The vote that closes a question has no event of its own.
func (r *questionRecord) recordClosing(e *fermata.Event, facts recordedFacts) {
	r.closing = e
	var all []closedVote
	if json.Unmarshal(facts.Votes, &all) == nil && len(all) == len(r.votes)+1 {
		last, comment := all[len(all)-1], commentHash(facts.Comment)
		r.votes = append(r.votes, recordedVote{fermata.Vote{By: e.Actor, Value: last.Value, Assurance: last.Assurance, At: e.At}, &comment})
	}
}

// difference returns the name of a fact in which the question differs from the events, or "" if there is none.
func (r *questionRecord) difference(q *fermata.Question) string {
	if r.opening != nil {
		if name := questionDifference(q, r.opening); name != "" {
			return name
		}
	}
	switch {
	case !slices.EqualFunc(r.votes, q.Votes, isSameVote):
		return "votes"
	case r.closing != nil:
		return r.endDifference(q)
	case q.Status != fermata.Pending:
		return "end"
	case r.knowsAssignees && !slices.Equal(r.assignees, q.Assignees):
		return "assignees"
	case r.knowsDeadline && !isSameTime(r.deadline, q.Deadline):
		return "deadline"
	case r.isHeldAnswerChanged(q):
		return "held answer"
	}
	return ""
}

// isHeldAnswerChanged reports whether the held answer differs from the events.
func (r *questionRecord) isHeldAnswerChanged(q *fermata.Question) bool {
	if r.held == nil || q.HeldAnswer == nil {
		return r.held != nil || q.HeldAnswer != nil
	}
	return r.held.by != q.HeldAnswer.By || !isSameTime(&r.held.releaseAt, &q.HeldAnswer.ReleaseAt) || r.held.hash != "" && r.held.hash != q.HeldAnswer.ContentHash()
}

// endDifference returns the name of a fact in which the end of the question differs from the events, or "".
func (r *questionRecord) endDifference(q *fermata.Question) string {
	if name := questionDifference(q, r.closing); name != "" {
		return name
	}
	end := q.Resolution
	switch {
	case end.Status != q.Status:
		return "end"
	case len(q.Items) == 1 && !isSame(factsOf(map[string]any{"answer": end.Answer}), factsOf(map[string]any{"answer": end.Answers[q.Items[0].Key]})):
		return "answer"
	case end.DecidedBy == fermata.ActorHuman && end.AnsweredBy != nil && *end.AnsweredBy != r.closing.Actor:
		return "answered_by"
	case !slices.EqualFunc(r.lateAnswers, end.LateAnswers, isSameLate):
		return "late answers"
	}
	return ""
}

func isSameTime(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.UnixMilli() == b.UnixMilli()
}

// isSameVote reports whether a vote in the events and one of the question are the same. Events of earlier versions
// have neither assurance nor comment.
func isSameVote(recorded recordedVote, current fermata.Vote) bool {
	return recorded.By == current.By && recorded.Value == current.Value && isSameTime(&recorded.At, &current.At) && (recorded.Assurance == "" || recorded.Assurance == current.Assurance) &&
		(recorded.comment == nil || *recorded.comment == commentHash(current.Comment))
}

func isSameLate(recorded, current fermata.LateAnswer) bool {
	return recorded.By == current.By && recorded.Comment == current.Comment && recorded.Restarted == current.Restarted && isSame(factsOf(recorded.Answers), factsOf(current.Answers))
}

// CheckRecorded refuses a question that differs from what the events say about it. Such a question must not be
// answered, and its answer must not be used. Events of the present transaction count, too.
func CheckRecorded(r eventReader, q *fermata.Question) error {
	_, err := checkedRecord(r, q)
	return err
}

// checkedRecord returns what the events say about a question, or the error of [CheckRecorded].
func checkedRecord(r eventReader, q *fermata.Question) (*questionRecord, error) {
	record, err := recordOf(r, q)
	if err != nil {
		return nil, err
	}
	if changed := record.differenceFromAsked(q); changed != "" {
		return nil, fermata.ChangedInDatabaseError(changed)
	}
	return record, nil
}

// differenceFromAsked is like difference, but a question without an opening event also differs.
func (r *questionRecord) differenceFromAsked(q *fermata.Question) string {
	if r.opening == nil {
		return "beginning"
	}
	return r.difference(q)
}

// dropInvalidHeldAnswer removes a held answer that must not count. Either the events do not say that the person gave it, or the
// person may not answer the question at present. If it stayed, the event that closes the question would name this
// person.
func dropInvalidHeldAnswer(tx *store.Tx, q *fermata.Question) error {
	record, err := recordOf(tx, q)
	if err != nil {
		return err
	}
	var why string
	if record.isHeldAnswerChanged(q) {
		why = "An answer to this question was written into the database, past the server. It was dropped. Look at who writes the database: `fermata audit verify`."
	} else {
		may, err := mayStillAnswer(tx, q, q.HeldAnswer.By.ID)
		if err != nil || may {
			return err
		}
		why = "The answer of " + q.HeldAnswer.By.DisplayName() + " was dropped before it counted: they may not answer this question any more."
	}
	q.HeldAnswer = nil
	tx.UpdatePending(q)
	tx.Append(&fermata.Event{Type: fermata.EventQuestionUndone, TaskID: q.TaskID, QuestionID: q.ID, Actor: fermata.SystemActor})
	addComment(tx, q, fermata.SystemActor, why)
	return nil
}

// recordOf builds the record of a question from its events.
func recordOf(r eventReader, q *fermata.Question) (*questionRecord, error) {
	events, err := r.EventsOfQuestion(q)
	if err != nil {
		return nil, err
	}
	record := &questionRecord{}
	for _, e := range events {
		record.apply(e)
	}
	return record, nil
}

// eventReader is a reader, or a transaction, which also returns its own new events.
type eventReader interface {
	EventsOfQuestion(q *fermata.Question) ([]*fermata.Event, error)
}
