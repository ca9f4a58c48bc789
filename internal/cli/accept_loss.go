package cli

import (
	"context"

	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/config"
)

type acceptLossCommand struct {
	config.AcceptLoss `embed:""`
}

func (acceptLossCommand) Help() string {
	return `For a server that refuses to start because its database is behind what was acknowledged: after a backup was restored on purpose, or when nothing better than what is there can be found. It shows what is missing; with --yes, it records that as an event, database.loss_accepted, and the server starts again. Stop the server first. A witness of the audit (--audit-witness) that knows what is missing still refuses the database: keep it as evidence, and start the server with a new one. With PostgreSQL, --data is the folder that the server was started with.

Examples:

    fermata accept-loss
    fermata accept-loss --yes --data /var/lib/fermata`
}

func (c *acceptLossCommand) Run(ctx context.Context, s *session.Session, hooks Hooks) error {
	if hooks.AcceptLoss == nil {
		return session.NotBuiltError("accept-loss")
	}
	return hooks.AcceptLoss(ctx, c.AcceptLoss)
}
