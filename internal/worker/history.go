package worker

import (
	"context"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// historyPages is how many pages of questions, and of messages, are read.
const historyPages = 5

// History is what people were asked and said about the task before this run, oldest
// first: what an agent needs beside the context of its claim when its session is gone. It
// takes calls to the server, and the scope read.
func (d desk) History(ctx context.Context) (*fermata.ResumeContext, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	t, server := d.a.claim.Task, d.a.w.server
	questions, err := pages(func(cursor string) ([]*fermata.Question, string, error) {
		return server.Questions(ctx, client.QuestionQuery{TaskID: t.ID, Cursor: cursor})
	})
	if err != nil {
		return nil, err
	}
	messages, err := pages(func(cursor string) ([]*fermata.Message, string, error) {
		return server.Messages(ctx, t.ID, cursor, 0)
	})
	if err != nil {
		return nil, err
	}
	return history(t, d.a.claim.Context, questions, messages), nil
}

// history keeps closed questions and what people wrote, without what the claim brings.
func history(t *fermata.Task, told *fermata.ResumeContext, questions []*fermata.Question, messages []*fermata.Message) *fermata.ResumeContext {
	known := map[string]bool{}
	if told != nil {
		for _, q := range told.Questions {
			known[q.QuestionID] = true
		}
		for _, m := range told.Messages {
			known[m.ID] = true
		}
	}
	questions = slices.DeleteFunc(questions, func(q *fermata.Question) bool { return q.Resolution == nil || known[q.ID] })
	slices.SortFunc(questions, func(a, b *fermata.Question) int { return a.CreatedAt.Compare(b.CreatedAt) })
	messages = slices.DeleteFunc(messages, func(m *fermata.Message) bool { return m.Author.Kind != fermata.ActorHuman || known[m.ID] })
	slices.SortFunc(messages, func(a, b *fermata.Message) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return fermata.NewResumeContext(t, questions, messages, nil)
}

// pages reads a list to its end, or as far as it goes.
func pages[T any](page func(cursor string) ([]T, string, error)) ([]T, error) {
	var all []T
	for n, cursor := 0, ""; n == 0 || cursor != "" && n < historyPages; n++ {
		items, next, err := page(cursor)
		if err != nil {
			return nil, err
		}
		all, cursor = append(all, items...), next
	}
	return all, nil
}
