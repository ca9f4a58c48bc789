package worker

import (
	"cmp"
	"context"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// maxHistory limits how many questions, and how many messages, an agent that begins again is told. It gets the
// latest ones.
const maxHistory = 100

// History returns all questions, answers and messages of people about the task, for an agent whose conversation is
// lost. It holds at most the latest 100 questions and 100 messages.
func (d handle) History(ctx context.Context) (*fermata.ResumeContext, error) {
	t := d.a.claim.Task
	questions, err := d.closedQuestions(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	messages, err := d.personMessages(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	var pending *fermata.Question
	var last *fermata.LastRun
	if rc := d.a.claim.Context; rc != nil {
		pending, last = rc.Pending, rc.LastRun
	}
	rc := fermata.NewResumeContext(t, last, questions, messages, pending)
	rc.Resumed = true
	return rc, nil
}

// closedQuestions returns the questions of the task that have ended, oldest first.
func (d handle) closedQuestions(ctx context.Context, taskID string) ([]*fermata.Question, error) {
	all, err := readAllPages(func(cursor string) ([]*fermata.Question, string, error) {
		return d.a.w.server.Questions(ctx, client.QuestionQuery{TaskID: taskID, Cursor: cursor})
	})
	all = slices.DeleteFunc(all, func(q *fermata.Question) bool { return q.Resolution == nil })
	slices.SortFunc(all, func(a, b *fermata.Question) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return all[max(0, len(all)-maxHistory):], err
}

// personMessages returns the messages of people in the thread, oldest first.
func (d handle) personMessages(ctx context.Context, taskID string) ([]*fermata.Message, error) {
	all, err := readAllPages(func(cursor string) ([]*fermata.Message, string, error) {
		return d.a.w.server.Messages(ctx, taskID, cursor, 0)
	})
	all = slices.DeleteFunc(all, func(m *fermata.Message) bool { return m.Author.Kind != fermata.ActorHuman })
	slices.SortFunc(all, func(a, b *fermata.Message) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return all[max(0, len(all)-maxHistory):], err
}

// readAllPages gathers every page of a list.
func readAllPages[T any](page func(cursor string) ([]T, string, error)) ([]T, error) {
	var all []T
	cursor := ""
	for {
		items, next, err := page(cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if next == "" {
			return all, nil
		}
		cursor = next
	}
}
