package cli

import (
	"context"

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

func (c *demoCommand) Run(ctx context.Context, s *session, hooks Hooks) error {
	if hooks.Demo == nil {
		return notBuilt("demo")
	}
	return hooks.Demo(ctx, c.Demo)
}
