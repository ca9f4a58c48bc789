package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// questionID returns the full id for an id, or the end of one, that a person typed.
func (e *Engine) questionID(ctx context.Context, c fermata.Caller, idOrSuffix string) (string, error) {
	return e.reader(ctx, c).FindID("question", "questions", fermata.PrefixQuestion, idOrSuffix)
}

// Question returns the question with the id.
func (e *Engine) Question(ctx context.Context, c fermata.Caller, id string) (*fermata.Question, error) {
	if err := c.CheckPermission(fermata.ToReadQuestions, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	id, err := e.questionID(ctx, c, id)
	if err != nil {
		return nil, err
	}
	r := e.reader(ctx, c)
	q, err := r.Question(id)
	if err != nil {
		return nil, err
	}
	return q.ViewFor(c), fillQuestions(r, c, []*fermata.Question{q})
}

// changeQuestion loads a question, applies a deadline or held answer that is due, and then calls fn to change it. fn
// calls a rule of the question, which checks the permission.
func (e *Engine) changeQuestion(ctx context.Context, c fermata.Caller, v fermata.Verb, id string,
	fn func(tx *store.Tx, t *fermata.Task, q *fermata.Question) error,
) (*fermata.Question, error) {
	id, err := e.questionID(ctx, c, id)
	if err != nil {
		return nil, err
	}
	return write(ctx, e, c, v, func(tx *store.Tx) (*fermata.Question, error) {
		q, t, err := e.loadAndSettleIfDue(tx, id)
		if err != nil {
			return nil, err
		}
		appendedBefore := tx.AppendedCount()
		err = fn(tx, t, q)
		return q, wrapTooLate(tx, appendedBefore, err)
	}, store.ReadAhead{Question: id, Events: v == fermata.ToAnswer, HandOver: e.claims.hasWorkers(c.WorkspaceID)})
}

// Clarify sends a message back to the agent that asked. The task resumes with
// the message, and the question stays open.
func (e *Engine) Clarify(ctx context.Context, c fermata.Caller, id, body string) (*fermata.Question, error) {
	if err := fermata.CheckMessage(body); err != nil {
		return nil, err
	}
	return e.changeQuestion(ctx, c, fermata.ToAnswer, id, func(tx *store.Tx, t *fermata.Task, q *fermata.Question) error {
		if err := q.CheckMayAnswer(c); err != nil {
			return err
		}
		if q.Status != fermata.Pending {
			return q.ClosedError()
		}
		return e.storeMessage(tx, t, &fermata.Message{
			TaskID: t.ID, QuestionID: q.ID, Kind: fermata.MessageClarification, Author: c.Actor(), Body: body,
		})
	})
}

// CancelQuestion withdraws a question. A task that waits for it resumes without an answer.
func (e *Engine) CancelQuestion(ctx context.Context, c fermata.Caller, id, reason string) (*fermata.Question, error) {
	if err := c.CheckPermission(fermata.ToCancelQuestion, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	return e.changeQuestion(ctx, c, fermata.ToCancelQuestion, id, func(tx *store.Tx, t *fermata.Task, q *fermata.Question) error {
		if err := checkTaskPermission(tx, c, fermata.ToCancelQuestion, t); err != nil {
			return err
		}
		cancelled, err := q.Cancel(c.Actor(), reason, tx.Now())
		if err != nil || !cancelled {
			return err
		}
		return e.settle(tx, t, q, c.Actor())
	})
}

// ExtendQuestion moves a question's deadline to a later time, within the limits of the policy.
func (e *Engine) ExtendQuestion(ctx context.Context, c fermata.Caller, id string, by fermata.Timeout) (*fermata.Question, error) {
	d, err := by.DurationOfField("by")
	if err != nil {
		return nil, err
	}
	return e.changeQuestion(ctx, c, fermata.ToAnswer, id, func(tx *store.Tx, t *fermata.Task, q *fermata.Question) error {
		if err := q.CheckMayAnswer(c); err != nil {
			return err
		}
		policy, err := e.policy(tx.Reader)
		if err != nil {
			return err
		}
		if err := q.Extend(d, policy, tx.Now()); err != nil {
			return err
		}
		tx.UpdatePending(q)
		tx.Append(&fermata.Event{
			Type: fermata.EventQuestionExtended, TaskID: t.ID, QuestionID: q.ID, Actor: c.Actor(),
			Data: encodeData(map[string]any{"by": by, "deadline": q.Deadline}),
		})
		return nil
	})
}
