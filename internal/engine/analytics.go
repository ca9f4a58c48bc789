package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// CountClosings counts the questions that have closed.
func (e *Engine) CountClosings(ctx context.Context, c fermata.Caller, f store.ClosingFilter) ([]store.ClosingCount, error) {
	if err := c.CheckPermission(fermata.ToReadAnalytics, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	return e.listReader(ctx, c).ClosingCounts(f)
}

// CountQuestions counts the closed and the open questions.
func (e *Engine) CountQuestions(ctx context.Context, c fermata.Caller, f store.ClosingFilter) ([]store.ClosingCount, error) {
	counts, err := e.CountClosings(ctx, c, f)
	if err != nil {
		return nil, err
	}
	pending, err := e.listReader(ctx, c).PendingCounts(f)
	return append(counts, pending...), err
}

// CommonQuestions is the result of [Engine.MostCommonQuestions]: the wordings
// in which most of the closed questions were asked.
type CommonQuestions struct {
	Closed int64
	Items  []store.CommonQuestion
	// Counts are the numbers of questions of each wording, by how they ended.
	// Titles are the titles of the newest question of each wording, by the id
	// of the question.
	Counts []store.ClosingCount
	Titles map[string]string
}

// MostCommonQuestions returns the wordings that were asked most often, at most limit of
// them.
func (e *Engine) MostCommonQuestions(ctx context.Context, c fermata.Caller, f store.ClosingFilter, limit int) (CommonQuestions, error) {
	var found CommonQuestions
	if err := c.CheckPermission(fermata.ToReadAnalytics, fermata.UnloadedResource); err != nil {
		return found, err
	}
	r := e.listReader(ctx, c)
	var err error
	if found.Closed, err = r.CountClosings(f); err != nil {
		return found, err
	}
	if found.Items, err = r.MostCommonQuestions(f, limit); err != nil || len(found.Items) == 0 {
		return found, err
	}
	f.GroupBy, f.Alike = store.ByAlike, []string{}
	var newest []string
	for _, common := range found.Items {
		f.Alike, newest = append(f.Alike, common.Alike), append(newest, common.Newest)
	}
	if found.Counts, err = r.ClosingCounts(f); err != nil {
		return found, err
	}
	questions, err := r.QuestionsByID(newest)
	found.Titles = make(map[string]string, len(questions))
	for _, q := range questions {
		found.Titles[q.ID] = q.Title
	}
	return found, err
}
