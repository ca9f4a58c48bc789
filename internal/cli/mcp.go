package cli

import (
	"cmp"
	"context"
	"os"

	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/config"
)

type mcpCommand struct {
	config.MCP `embed:""`
}

func (mcpCommand) Help() string {
	return `Speaks the Model Context Protocol on standard input and output, for agents to start. It uses the server of FERMATA_URL or fermata login. Where none is configured and none listens on this machine, it runs one itself as long as the agent lives, and says on standard error where to answer.

Examples:

    claude mcp add fermata -- fermata mcp
    codex mcp add fermata -- fermata mcp
    FERMATA_URL=https://fermata.example FERMATA_TOKEN=fmt_… fermata mcp`
}

func (c *mcpCommand) Run(ctx context.Context, s *session.Session, hooks Hooks) error {
	if err := session.CheckAtLeast("--approve-wait", c.ApproveWait, 0); err != nil {
		return err
	}
	if hooks.MCP == nil {
		return session.NotBuiltError("mcp")
	}
	login, _, err := s.Login()
	if err != nil {
		return err
	}
	c.URL = login.Address(s.URL)
	c.Token = cmp.Or(s.Token, login.Token(c.URL))
	c.Configured = config.CanonicalURL(s.URL) != "" || login.URL != ""
	if id := os.Getenv("CLAUDE_CODE_SESSION_ID"); id != "" {
		c.OtherSession = "claude:" + id
	}
	return hooks.MCP(ctx, c.MCP)
}
