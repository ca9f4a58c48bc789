package cli

import (
	"context"

	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/config"
)

type demoCommand struct {
	config.Demo `embed:""`
}

func (demoCommand) Help() string {
	return `Examples:

    fermata demo
    fermata demo --answer toml
    fermata demo --answer "json no"`
}

func (c *demoCommand) Run(ctx context.Context, s *session.Session, hooks Hooks) error {
	if hooks.Demo == nil {
		return session.NotBuiltError("demo")
	}
	return hooks.Demo(ctx, c.Demo)
}
