package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
)

type rejectCommand struct {
	decision
}

func (rejectCommand) Help() string {
	return `Examples:

    fermata reject 3f9k2a
    fermata reject 3f9k2a -m "not on a Friday"`
}

func (c *rejectCommand) Run(ctx context.Context, s *session) error {
	return c.decide(ctx, s, fermata.Reject, nil)
}
