package engine

import (
	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// findByIdempotencyKey returns the question that the asker asked before with the idempotency key, or nil if there is none. Another
// question under the key is a conflict.
func findByIdempotencyKey(tx *store.Tx, a fermata.Ask, by fermata.Actor) (*fermata.Question, error) {
	q, err := tx.QuestionByKey(a.IdempotencyKey, by)
	switch {
	case fermata.CodeOf(err) == fermata.CodeNotFound:
		return nil, nil
	case err != nil:
		return nil, err
	case q.Fingerprint != a.Fingerprint():
		return nil, keyTakenError(q)
	}
	// A person who writes the database directly could give the key to an answered question.
	return q, CheckRecorded(tx, q)
}

// keyTakenError returns the error for a key that belongs to another question of the asker.
func keyTakenError(q *fermata.Question) error {
	return fermata.Errorf(fermata.CodeIdempotencyConflict, "the idempotency key %q belongs to another question, %s", q.IdempotencyKey, q.ID).
		WithHint("use a new key for a new question")
}

// countRepeatedAsk returns the pending question that this ask repeats, and counts the ask. It returns nil if there is
// none. A question of another asker does not count, nor does a question that asks other people or needs less from them.
func (e *Engine) countRepeatedAsk(tx *store.Tx, t *fermata.Task, runID string, a fermata.Ask, policy fermata.Policy, by fermata.Actor) (*fermata.Question, error) {
	if t.PendingQuestionID == "" && a.DedupeKey == "" {
		return nil, nil
	}
	pending, err := tx.PendingQuestionsOf(t.ID)
	if err != nil {
		return nil, err
	}
	for _, q := range pending {
		if q.IsDecided(tx.Now()) || !q.IsRepeatedBy(a) || !q.AskedBy.Is(by) {
			continue
		}
		if q.Fingerprint != a.Fingerprint() {
			next, _, err := e.openQuestion(tx, t, runID, a, policy, by)
			if err != nil {
				return nil, err
			}
			if !q.IsAsStrictAs(next) {
				continue
			}
		}
		q.AskCount++
		tx.UpdatePending(q)
		tx.Append(&fermata.Event{
			Type: fermata.EventQuestionAskedAgain, TaskID: t.ID, QuestionID: q.ID, Actor: by,
			Data: encodeData(map[string]int{"ask_count": q.AskCount}),
		})
		return q, nil
	}
	return nil, nil
}

// replacePending makes room for a question that suspends the task. It cancels a
// question that an earlier run asked, since the agent continued without the
// answer. Otherwise it refuses the new question. It also refuses it if the
// pending question is decided and must be settled first.
func (e *Engine) replacePending(tx *store.Tx, t *fermata.Task, next *fermata.Question, by fermata.Actor) error {
	if t.PendingQuestionID == "" {
		return nil
	}
	old, err := tx.Question(t.PendingQuestionID)
	if err != nil {
		return err
	}
	if old.IsDecided(tx.Now()) {
		// The deadline or a held answer has decided the old question. That
		// decision must be settled first.
		return fermata.Errorf(fermata.CodePendingQuestionExists, "question %s is decided and is being settled", old.ID).
			WithHint("read the task again")
	}
	if next.RunID == "" || old.RunID == next.RunID {
		e := fermata.Errorf(fermata.CodePendingQuestionExists, "the task waits for an answer to %s already: %s", old.ID, old.Title)
		e.Question = old.ViewFor(fermata.Caller{Kind: by.Kind})
		return e.WithHint("if it is the same question, stop and wait for its answer; else cancel it first, or put both into one question with several items")
	}
	if _, err := old.Cancel(by, "replaced by "+next.ID, tx.Now()); err != nil {
		return err
	}
	saveClosed(tx, old, by)
	t.PendingQuestionID = ""
	return nil
}
