package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
)

// maxCompared is the largest number of answered questions that a question is
// compared with. maxSuggested is the largest number of answers that are
// suggested.
const (
	maxCompared  = 500
	maxSuggested = 20
)

// Similar returns the answers that people gave to questions like this one, the
// most frequent first. There are at most 20.
func (e *Engine) Similar(ctx context.Context, c fermata.Caller, id string) ([]fermata.PastAnswer, error) {
	if err := c.CheckPermission(fermata.ToReadQuestions, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	id, err := e.questionID(ctx, c, id)
	if err != nil {
		return nil, err
	}
	r := e.listReader(ctx, c)
	q, err := r.Question(id)
	if err != nil {
		return nil, err
	}
	past, err := r.PastAnswers(q.Type, maxCompared)
	if err != nil {
		return nil, err
	}
	found := q.Similar(past)
	return found[:min(len(found), maxSuggested)], nil
}
