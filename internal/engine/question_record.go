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
	// knowsPeople and knowsDeadline report whether the events name the assignees and the deadline. Events of earlier
	// versions do not.
	knowsPeople, knowsDeadline bool
	assignees                  []string
	deadline                   *time.Time
	votes                      []recordedVote
	// held is the held answer, or nil if there is none.
	held *recordedHeld
	// closing is the event that closed the question, or nil while it is open.
	closing *fermata.Event
	// late are the answers after the deadline, the last one of each person.
	late []fermata.Late
	// used reports whether the grant was used.
	used bool
}

// recordedVote is a vote in the events. The comment is a hash, or nil if the event does not contain it.
type recordedVote struct {
	fermata.Vote
	comment *string
}

// recordedHeld is a held answer in the events: who gave it, and when it is released. The hash is empty if the event
// does not contain it.
type recordedHeld struct {
	by        fermata.Actor
	releaseAt time.Time
	hash      string
}

// recordTypes are the types of events from which a record is built.
var recordTypes = append([]fermata.EventType{
	fermata.EventQuestionAsked, fermata.EventQuestionAssigned, fermata.EventQuestionEscalated, fermata.EventQuestionExtended,
	fermata.EventQuestionVoteCast, fermata.EventQuestionHeld, fermata.EventQuestionUndone, fermata.EventQuestionAnsweredLate, fermata.EventGrantUsed,
}, closingEvents...)

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

// take adds what an event says about the question.
func (r *questionRecord) take(e *fermata.Event) {
	var said recordedFacts
	_ = json.Unmarshal(e.Data, &said) // data that was changed breaks the chain, and the audit reports that
	switch e.Type {
	case fermata.EventQuestionAsked:
		r.opening = e
		r.knowsPeople, r.knowsDeadline = said.ContentHash != "", said.ContentHash != ""
		r.assignees, r.deadline = said.Assignees, said.Deadline
	case fermata.EventQuestionAssigned:
		r.knowsPeople, r.assignees = true, said.Assignees
	case fermata.EventQuestionEscalated:
		r.knowsPeople, r.assignees = true, said.Assignees
		r.knowsDeadline, r.deadline = true, said.Deadline
	case fermata.EventQuestionExtended:
		r.knowsDeadline, r.deadline = true, said.Deadline
	case fermata.EventQuestionVoteCast:
		r.votes = append(r.votes, recordedVote{fermata.Vote{By: e.Actor, Value: said.Value, Assurance: said.Assurance, At: e.At}, said.CommentHash})
	case fermata.EventQuestionHeld:
		r.held = &recordedHeld{e.Actor, said.ReleaseAt, said.ContentHash}
	case fermata.EventQuestionUndone:
		r.held = nil
	case fermata.EventQuestionAnsweredLate:
		r.late = slices.DeleteFunc(r.late, func(l fermata.Late) bool { return l.By.ID == e.Actor.ID })
		r.late = append(r.late, fermata.Late{By: e.Actor, Answers: said.Answers, Comment: said.Comment, Restarted: said.Restarted})
	case fermata.EventQuestionAnswered, fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled:
		r.close(e, said)
	case fermata.EventGrantUsed:
		r.used = true
	default:
	}
}

// close records the end of the question. The vote that closes a question has no event of its own.
func (r *questionRecord) close(e *fermata.Event, said recordedFacts) {
	r.closing = e
	var all []closedVote
	if json.Unmarshal(said.Votes, &all) == nil && len(all) == len(r.votes)+1 {
		last, comment := all[len(all)-1], commentHash(said.Comment)
		r.votes = append(r.votes, recordedVote{fermata.Vote{By: e.Actor, Value: last.Value, Assurance: last.Assurance, At: e.At}, &comment})
	}
}

// differs returns the name of a fact in which the question differs from the events, or "" if there is none.
func (r *questionRecord) differs(q *fermata.Question) string {
	if r.opening != nil {
		if name := questionDiffers(q, r.opening); name != "" {
			return name
		}
	}
	switch {
	case !slices.EqualFunc(r.votes, q.Votes, isSameVote):
		return "votes"
	case r.closing != nil:
		return r.endDiffers(q)
	case q.Status != fermata.Pending:
		return "end"
	case r.knowsPeople && !slices.Equal(r.assignees, q.Assignees):
		return "assignees"
	case r.knowsDeadline && !isSameTime(r.deadline, q.Deadline):
		return "deadline"
	case r.heldDiffers(q):
		return "held answer"
	}
	return ""
}

// heldDiffers reports whether the held answer differs from the events.
func (r *questionRecord) heldDiffers(q *fermata.Question) bool {
	if r.held == nil || q.Held == nil {
		return r.held != nil || q.Held != nil
	}
	return r.held.by != q.Held.By || !isSameTime(&r.held.releaseAt, &q.Held.ReleaseAt) || r.held.hash != "" && r.held.hash != q.Held.ContentHash()
}

// endDiffers returns the name of a fact in which the end of the question differs from the events, or "".
func (r *questionRecord) endDiffers(q *fermata.Question) string {
	if name := questionDiffers(q, r.closing); name != "" {
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
	case !slices.EqualFunc(r.late, end.Late, isSameLate):
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
func isSameVote(said recordedVote, now fermata.Vote) bool {
	return said.By == now.By && said.Value == now.Value && isSameTime(&said.At, &now.At) && (said.Assurance == "" || said.Assurance == now.Assurance) &&
		(said.comment == nil || *said.comment == commentHash(now.Comment))
}

func isSameLate(said, now fermata.Late) bool {
	return said.By == now.By && said.Comment == now.Comment && said.Restarted == now.Restarted && isSame(factsOf(said.Answers), factsOf(now.Answers))
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
	if changed := record.differsFromAsked(q); changed != "" {
		return nil, fermata.ChangedInDatabase(changed)
	}
	return record, nil
}

// differsFromAsked is differs for a question that must have an opening event.
func (r *questionRecord) differsFromAsked(q *fermata.Question) string {
	if r.opening == nil {
		return "beginning"
	}
	return r.differs(q)
}

// dropHeld removes a held answer that must not count. Either the events do not say that the person gave it, or the
// person may not answer the question at present. If it stayed, the event that closes the question would name this
// person.
func dropHeld(tx *store.Tx, q *fermata.Question) error {
	record, err := recordOf(tx, q)
	if err != nil {
		return err
	}
	var why string
	if record.heldDiffers(q) {
		why = "An answer to this question was written into the database, past the server. It was dropped. Look at who writes the database: `fermata audit verify`."
	} else {
		may, err := mayStillAnswer(tx, q, q.Held.By.ID)
		if err != nil || may {
			return err
		}
		why = "The answer of " + q.Held.By.DisplayName() + " was dropped before it counted: they may not answer this question any more."
	}
	q.Held = nil
	tx.UpdatePending(q)
	tx.Append(&fermata.Event{Type: fermata.EventQuestionUndone, TaskID: q.TaskID, QuestionID: q.ID, Actor: fermata.System})
	comment(tx, q, fermata.System, why)
	return nil
}

// recordOf builds the record of a question from its events.
func recordOf(r eventReader, q *fermata.Question) (*questionRecord, error) {
	events, err := r.EventsOn(q)
	if err != nil {
		return nil, err
	}
	record := &questionRecord{}
	for _, e := range events {
		record.take(e)
	}
	return record, nil
}

// eventReader is a reader, or a transaction, which also returns its own new events.
type eventReader interface {
	EventsOn(q *fermata.Question) ([]*fermata.Event, error)
}
