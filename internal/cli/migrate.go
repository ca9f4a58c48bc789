package cli

import (
	"context"

	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/config"
)

type migrateCommand struct {
	config.Storage `embed:""`
}

func (migrateCommand) Help() string {
	return `The server does this by itself when it starts.

Examples:

    fermata migrate
    fermata migrate --database postgres://fermata@db/fermata`
}

func (c *migrateCommand) Run(ctx context.Context, s *session.Session, hooks Hooks) error {
	if hooks.Migrate == nil {
		return session.NotBuiltError("migrate")
	}
	return hooks.Migrate(ctx, c.Storage)
}
