package answer

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

type RejectCommand struct {
	decision
}

func (RejectCommand) Help() string {
	return `Examples:

    fermata reject 3f9k2a
    fermata reject 3f9k2a -m "not on a Friday"`
}

func (c *RejectCommand) Run(ctx context.Context, s *session.Session) error {
	return c.decide(ctx, s, fermata.Reject, nil)
}
