package session

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// Tasks reads pages up to limit tasks. The second result reports whether there are more tasks.
func (s *Session) Tasks(ctx context.Context, q client.TaskQuery, limit int) ([]*fermata.Task, bool, error) {
	server, err := s.Server()
	if err != nil {
		return nil, false, err
	}
	return CollectPages(limit, func(cursor string, n int) ([]*fermata.Task, string, error) {
		q.Cursor, q.Limit = cursor, n
		return server.Tasks(ctx, q)
	})
}

// Questions reads pages up to limit questions. The second result reports whether there are more questions.
func (s *Session) Questions(ctx context.Context, q client.QuestionQuery, limit int) ([]*fermata.Question, bool, error) {
	server, err := s.Server()
	if err != nil {
		return nil, false, err
	}
	return CollectPages(limit, func(cursor string, n int) ([]*fermata.Question, string, error) {
		q.Cursor, q.Limit = cursor, n
		return server.Questions(ctx, q)
	})
}

// MaxPageSize is the largest number of items that one request asks for.
const MaxPageSize = 100

// PrintMoreHint prints on standard error that a list was cut at its limit.
func (s *Session) PrintMoreHint(hasMore bool, shownCount int) {
	if hasMore {
		s.Stderr().Line("%d shown, and there are more: --limit %d shows more of them", shownCount, 10*shownCount)
	}
}

// CollectPages collects the pages of a list up to limit, and reports whether there are more. The list is never nil, so
// that it is [] in JSON.
func CollectPages[T any](limit int, read func(cursor string, n int) ([]T, string, error)) ([]T, bool, error) {
	all := []T{}
	cursor := ""
	for {
		items, next, err := read(cursor, min(limit-len(all), MaxPageSize))
		if err != nil {
			return nil, false, err
		}
		all = append(all, items...)
		if next == "" || len(all) >= limit || next == cursor {
			return all, next != "" && next != cursor, nil
		}
		cursor = next
	}
}
