package answer

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// RejectCommand is fermata reject: it shows an action and sends the rejection.
type RejectCommand struct {
	decision
}

// Help returns the description and the examples that --help prints.
func (RejectCommand) Help() string {
	return `Examples:

    fermata reject 3f9k2a
    fermata reject 3f9k2a -m "not on a Friday"`
}

// Run runs the command.
func (c *RejectCommand) Run(ctx context.Context, s *session.Session) error {
	return c.decide(ctx, s, fermata.Reject, nil)
}
