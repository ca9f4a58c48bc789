package cli

import (
	"context"
	"os"
	"time"

	"github.com/fermata-hq/fermata/internal/config"
)

type mcpCommand struct {
	Task        string        `env:"FERMATA_TASK" placeholder:"ID" help:"Task that questions belong to; without one they go to a task of the agent's session."`
	RunID       string        `name:"run" env:"FERMATA_RUN" placeholder:"ID" help:"Run of that task; once it is over, nothing more of it may run."`
	Session     string        `env:"FERMATA_SESSION" placeholder:"KEY" help:"Name of the agent's session (default: what the agent tells)."`
	Project     string        `env:"FERMATA_PROJECT" placeholder:"NAME" help:"Project of questions outside any task."`
	AskTool     string        `env:"FERMATA_ASK_TOOL" default:"ask_user" placeholder:"NAME" help:"Name of the tool ${default}, for an agent program that has one of that name: Gemini CLI without a terminal hides both."`
	Listen      string        `env:"FERMATA_LISTEN" default:"127.0.0.1:7433" placeholder:"ADDRESS" help:"Where to look for a server, and to start one, when none is configured (default ${default})."`
	Data        string        `env:"FERMATA_DATA" type:"path" placeholder:"FOLDER" help:"Folder of the server that is started when none is configured."`
	ApproveWait time.Duration `env:"FERMATA_APPROVE_WAIT" default:"10m" help:"How long a permission prompt waits for a person before it is denied for the time being; 0s does not wait."`
	LogLevel    string        `env:"FERMATA_LOG_LEVEL" enum:"debug,info,warn,error" default:"warn" help:"debug, info, warn or error."`
}

func (mcpCommand) Help() string {
	return `Speaks the Model Context Protocol on standard input and output, for agents to start. It uses the server of FERMATA_URL or fermata login. Where none is configured and none listens on this machine, it runs one itself as long as the agent lives, and says on standard error where to answer.

Examples:

    claude mcp add fermata -- fermata mcp
    codex mcp add fermata -- fermata mcp
    FERMATA_URL=https://fermata.example FERMATA_TOKEN=fmt_… fermata mcp`
}

func (c *mcpCommand) Run(ctx context.Context, s *session) error {
	if err := checkAtLeast("--approve-wait", c.ApproveWait, 0); err != nil {
		return err
	}
	if s.hooks.MCP == nil {
		return notBuilt("mcp")
	}
	login, _, err := s.login()
	if err != nil {
		return err
	}
	o := MCPOptions{
		URL: login.Address(s.URL), Token: s.Token, Configured: config.Canonical(s.URL) != "" || login.URL != "",
		Task: c.Task, RunID: c.RunID, Session: c.Session, Project: c.Project, AskTool: c.AskTool, Listen: c.Listen, Data: c.Data, ApproveWait: c.ApproveWait, LogLevel: c.LogLevel,
	}
	if o.Token == "" {
		o.Token = login.Token(o.URL)
	}
	if o.ApproveWait == 0 {
		o.ApproveWait = -1
	}
	if id := os.Getenv("CLAUDE_CODE_SESSION_ID"); id != "" {
		o.OtherSession = "claude:" + id
	}
	return s.hooks.MCP(ctx, o)
}
