package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/config"
)

// agentCommand returns the agent program and its arguments without the "--" before them.
func agentCommand(a config.Agents) []string {
	command := a.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if (a.Runners[0] == "command" || a.Runners[0] == "acp") && len(command) > 0 && strings.ContainsRune(command[0], filepath.Separator) {
		// Resolve the path of a program at once. In a working copy the same path may lead to another program.
		if path, err := filepath.Abs(command[0]); err == nil {
			command = append([]string{path}, command[1:]...)
		}
	}
	return command
}

// checkAgents refuses values with which no run could start or end, and flags that none of the runners reads.
func checkAgents(a config.Agents) error {
	if err := checkAgentCommand(a.Command); err != nil {
		return err
	}
	for _, name := range a.PassEnv {
		if strings.Contains(name, "=") {
			return fermata.Errorf(fermata.CodeInvalidRequest, "--pass-env takes the name of a variable, not %q", name).WithHint("the value is that of the worker's own environment")
		}
	}
	if err := errors.Join(session.CheckAtLeast("--run-timeout", a.RunTimeout, 0), session.CheckAtLeast("--live-wait", a.LiveWait, 0)); err != nil {
		return err
	}
	others := slices.ContainsFunc(a.Runners, func(name string) bool { return name != "command" })
	return session.CheckUnreadFlags("--runner "+strings.Join(a.Runners, " and "), map[string]bool{
		"--program":             a.Program != "" && !others,
		"--live-wait":           a.LiveWait != config.DefaultLiveWait && !slices.Contains(a.Runners, "acp"),
		"--allow-unknown-agent": a.AllowUnknownAgent && !slices.Contains(a.Runners, "acp"),
	})
}

// checkAgentCommand refuses an unknown flag, because it would be taken for the agent program.
func checkAgentCommand(command []string) error {
	if len(command) == 0 || command[0] == "--" || !strings.HasPrefix(command[0], "-") {
		return nil
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "unknown flag %s", command[0]).
		WithHint("--help lists the flags; arguments of the agent program stand behind --")
}

// givenAgentFlags returns the flags for agents on the command line. Environment variables do not count, because they may be
// meant for another command.
func givenAgentFlags(a config.Agents) []string {
	isUnset := func(variable string) bool { return os.Getenv(variable) == "" }
	return session.GivenFlags(map[string]bool{
		"--runner": !slices.Equal(a.Runners, []string{"command"}) && isUnset("FERMATA_RUNNER"), "--program": a.Program != "",
		"--allow-task-commands": a.AllowTaskCommands, "--run-timeout": a.RunTimeout != 0, "--live-wait": a.LiveWait != config.DefaultLiveWait,
		"--allow-unknown-agent": a.AllowUnknownAgent,
		"--pass-env":            len(a.PassEnv) > 0, "--isolate": a.Isolation.On && isUnset("FERMATA_ISOLATE"), "--isolate-read": len(a.Isolation.Read) > 0,
		"--isolate-write": len(a.Isolation.Write) > 0, "--isolate-offline": a.Isolation.Offline,
		"--agent-token": a.AgentToken != "" && isUnset("FERMATA_AGENT_TOKEN"), "an agent program": len(a.Command) > 0,
	})
}

type workerCommand struct {
	config.Worker `embed:""`
}

func (workerCommand) Help() string {
	return `Examples:

    fermata worker --workdir ~/src/shop -- ./agent.sh
    fermata worker --workdir ~/src/shop --runner codex --agent-token @agent.token
    fermata worker --workdir ~/src/shop --runner gemini --agent-token @agent.token -- --model gemini-2.5-pro
    fermata worker --workdir ~/src/shop --runner acp --agent-token @agent.token -- opencode acp
    fermata worker --workdir ~/src/shop --isolate -- ./agent.sh
    fermata worker --project shop --concurrency 2 --workdir . -- my-agent --fast
    fermata worker --once --on-completed keep --on-failed keep -- ./agent.sh`
}

func (c *workerCommand) Run(ctx context.Context, s *session.Session, hooks Hooks) error {
	var err error
	if c.Agents.AgentToken, err = s.TokenFromFlag("--agent-token", c.Agents.AgentToken); err != nil {
		return err
	}
	if err = checkAgents(c.Agents); err != nil {
		return err
	}
	if c.Concurrency < 1 {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--concurrency must be at least 1, and not %d", c.Concurrency)
	}
	if c.Lease < fermata.MinLease || c.Lease > fermata.MaxLease {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--lease must be between %s and %s, and not %s", fermata.MinLease, fermata.MaxLease, c.Lease)
	}
	if hooks.Worker == nil {
		return session.NotBuiltError("worker")
	}
	login, _, err := s.Login()
	if err != nil {
		return err
	}
	c.URL = login.Address(s.URL)
	c.Token = cmp.Or(s.Token, login.Token(c.URL))
	if c.Name == "" {
		if c.Name, err = os.Hostname(); err != nil {
			c.Name = "worker"
		}
	}
	c.Agents.Command = agentCommand(c.Agents)
	return hooks.Worker(ctx, c.Worker)
}
