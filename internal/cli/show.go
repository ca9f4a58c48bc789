package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
)

type showCommand struct {
	ID string `arg:"" help:"A task or a question."`
}

func (showCommand) Help() string {
	return `Examples:

    fermata show 3f9k2a
    fermata show task_01k5h2m9n0abc3f9k2a
    fermata show 3f9k2a --json`
}

func (c *showCommand) Run(ctx context.Context, s *session) error {
	t, q, err := s.find(ctx, c.ID)
	if err != nil {
		return err
	}
	if q != nil {
		if s.JSON {
			return s.json(q)
		}
		s.data().question(q, s.now())
		return nil
	}
	if s.JSON {
		return s.json(t)
	}
	thread, err := pages(1000, func(cursor string, n int) ([]*fermata.Message, string, error) {
		return s.client.Messages(ctx, t.ID, cursor, n)
	})
	if err != nil {
		return err
	}
	s.data().task(t, s.now())
	s.data().messages(thread, s.now())
	return nil
}
