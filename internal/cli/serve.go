package cli

import (
	"context"
	"os"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/config"
)

type serveCommand struct {
	config.Server `embed:""`
}

func (serveCommand) Help() string {
	return `Examples:

    fermata serve --single-user
    fermata serve --workers 2 --workdir ~/src/shop -- ./agent.sh
    fermata serve --workers 2 --workdir ~/src/shop --runner claude
    fermata serve --data /var/lib/fermata
    fermata serve --listen 0.0.0.0:7433 --database postgres://fermata@db/fermata`
}

func (c *serveCommand) Run(ctx context.Context, s *session.Session, hooks Hooks) error {
	var err error
	if c.Agents.AgentToken, err = s.TokenFromFlag("--agent-token", c.Agents.AgentToken); err != nil {
		return err
	}
	if err = c.checkWorkers(); err != nil {
		return err
	}
	if hooks.Serve == nil {
		return session.NotBuiltError("serve")
	}
	c.SignIn.OIDCClientSecret = os.Getenv("FERMATA_OIDC_CLIENT_SECRET")
	c.Agents.Command = agentCommand(c.Agents)
	return hooks.Serve(ctx, c.Server)
}

// checkWorkers refuses values that no worker can use. Without workers it also refuses the flags that only workers
// read.
func (c *serveCommand) checkWorkers() error {
	if err := checkAgentCommand(c.Agents.Command); err != nil {
		return err
	}
	switch {
	case c.Workers < 0:
		return fermata.Errorf(fermata.CodeInvalidRequest, "--workers must be at least 0, and not %d", c.Workers)
	case c.Workers > 0:
		return checkAgents(c.Agents)
	}
	unread := givenAgentFlags(c.Agents)
	if c.WorkDir != "" {
		unread = append(unread, "--workdir")
	}
	if len(unread) == 0 {
		return nil
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "a server without workers does not read %s", strings.Join(unread, ", ")).
		WithHint("add --workers 1 to run tasks inside the server, or leave this out")
}
