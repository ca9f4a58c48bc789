package engine

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/fermata-hq/fermata"
)

// checkQuestions compares the questions that the events open or close with their rows.
func (v *verification) checkQuestions(events []*fermata.Event) error {
	questionEvents := slices.DeleteFunc(slices.Clone(events), func(e *fermata.Event) bool {
		return e.Type != fermata.EventQuestionAsked && !slices.Contains(fermata.ClosingEventTypes, e.Type)
	})
	rows, err := v.questions(questionEvents)
	if err != nil {
		return err
	}
	for _, e := range questionEvents {
		q := rows[e.QuestionID]
		if q == nil {
			return v.reportProblem("event %d names the question %s, and there is no such question", e.Seq, e.QuestionID)
		}
		if name := v.compareQuestion(q, e); name != "" {
			return v.reportProblem("the question %s has another %s than event %d says", q.ID, name, e.Seq)
		}
		for _, member := range q.Signers() {
			if err := q.CheckSigned(member); err != nil {
				return v.reportProblem("the question %s: %v", q.ID, err)
			}
		}
	}
	return nil
}

// questions returns the rows of the questions that the events name, by their ids.
func (v *verification) questions(questionEvents []*fermata.Event) (map[string]*fermata.Question, error) {
	var ids []string
	for _, e := range questionEvents {
		ids = append(ids, e.QuestionID)
	}
	found, err := v.r.QuestionsByID(fermata.SortUnique(ids))
	rows := map[string]*fermata.Question{}
	for _, q := range found {
		rows[q.ID] = q
	}
	return rows, err
}

// compareQuestion compares a question with the event that opened or closed it. It returns the name of a fact that
// differs, or "". A question that timed out can still get late answers, so its end is compared only after the last
// event. No other closed question changes.
func (v *verification) compareQuestion(q *fermata.Question, e *fermata.Event) string {
	if e.Type == fermata.EventQuestionAsked {
		if record := v.recorded.questions[q.ID]; record != nil {
			record.opening = nil // the opening event was compared, so do not keep it
		}
		return questionDifference(q, e)
	}
	if e.Type == fermata.EventQuestionTimedOut {
		return ""
	}
	record := v.recorded.questions[q.ID]
	if record == nil {
		return "end"
	}
	delete(v.recorded.questions, q.ID)
	return record.difference(q)
}

// checkOpenQuestions compares the questions that are open or timed out with everything that the events say about
// them.
func (v *verification) checkOpenQuestions() error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(v.recorded.questions)), exportPage) {
		rows, err := v.r.QuestionsByID(ids)
		if err != nil {
			return err
		}
		for _, q := range rows {
			if name := v.recorded.questions[q.ID].difference(q); name != "" {
				return v.reportProblem("the question %s has another %s than the events say", q.ID, name)
			}
		}
	}
	return nil
}

// questionDifference returns the name of a fact in which a question differs from the event that opened or closed it. It returns
// "" if there is none.
func questionDifference(q *fermata.Question, e *fermata.Event) string {
	if e.Type == fermata.EventQuestionAsked {
		return askedDifference(q, e)
	}
	facts := eventFacts(e)
	switch {
	case closingEventByStatus[q.Status] != e.Type || q.Resolution == nil:
		return "end"
	case q.Resolution.IsApproved() && q.Resolution.ActionHash != "" && !fermata.HasHash(approvedAction(q), q.Resolution.ActionHash):
		return "action"
	}
	return firstDifference(facts, factsOf(newClosedData(q)), "type", "decided_by", "by", "assurance", "channel", "outcome", "answers", "comment", "seconds", "action_hash", "votes", "signed")
}

// askedDifference compares a question with the event that opened it. The hash of the content covers every frozen fact.
// Events of earlier versions do not have the hash, so their facts are compared one by one.
func askedDifference(q *fermata.Question, e *fermata.Event) string {
	var facts recordedFacts
	_ = json.Unmarshal(e.Data, &facts) // data that was changed breaks the chain, and the audit reports that
	if facts.ContentHash == "" || facts.ContentHash != q.ContentHash() {
		name := firstDifference(eventFacts(e), factsOf(askedFacts(q)), "type", "title", "project", "risk", "items", "approvals", "action_hash")
		if name == "" && facts.ContentHash != "" {
			name = "text, asker or rule"
		}
		if name != "" {
			return name
		}
	}
	switch {
	case facts.KeyHash != nil && *facts.KeyHash != q.KeyHash():
		return "idempotency key"
	case q.AskedBy != e.Actor:
		return "asker"
	case !isSameTime(&q.CreatedAt, &e.At):
		return "time"
	}
	return ""
}

// approvedAction returns the action that people approved: the edited one, or else the question's own.
func approvedAction(q *fermata.Question) json.RawMessage {
	if r := q.Resolution; r != nil && len(r.Action) > 0 {
		return r.Action
	}
	return q.Action
}
