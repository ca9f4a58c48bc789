package cli

import (
	"context"

	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/config"
)

type keysCommand struct {
	Rotate keysRotateCommand `cmd:"" help:"Make a new master key and seal all secrets with it."`
}

type keysRotateCommand struct {
	config.Storage `embed:""`
}

func (keysRotateCommand) Help() string {
	return `Secrets of channels and the keys that sign are sealed in the database with the master key. Old keys stay in the file, because they open older backups. Stop a server that uses SQLite first; servers that share PostgreSQL and the file may go on.

Examples:

    fermata keys rotate
    fermata keys rotate --data /var/lib/fermata --master-key-file /etc/fermata/master.key`
}

func (c *keysRotateCommand) Run(ctx context.Context, s *session.Session, hooks Hooks) error {
	if hooks.RotateKeys == nil {
		return session.NotBuiltError("keys rotate")
	}
	return hooks.RotateKeys(ctx, c.Storage)
}
