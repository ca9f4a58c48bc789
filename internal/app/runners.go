package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/runner/acp"
	"github.com/fermata-hq/fermata/internal/runner/claude"
	"github.com/fermata-hq/fermata/internal/runner/codex"
	"github.com/fermata-hq/fermata/internal/runner/command"
	"github.com/fermata-hq/fermata/internal/runner/gemini"
	"github.com/fermata-hq/fermata/internal/runner/opencode"
	"github.com/fermata-hq/fermata/internal/worker"
)

// needsAgentToken reports whether the agents of a runner ask through Fermata's
// MCP server.
func needsAgentToken(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return name != command.Name })
}

// runners returns the runners of a worker, in the order in which they are
// named.
func runners(o WorkerOptions) ([]worker.Runner, error) {
	if len(o.Agents.Runners) == 0 {
		o.Agents.Runners = []string{command.Name}
	}
	switch several := len(o.Agents.Runners) > 1; {
	case needsAgentToken(o.Agents.Runners) && o.Agents.AgentToken == "":
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the agents need a token to ask with").
			WithHint("make one with `fermata token create --scope ask agents`, and name it with --agent-token")
	case several && o.Agents.Program != "":
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "--program is allowed only with one runner")
	case several && len(o.Agents.Command) > 0 && !slices.Contains(o.Agents.Runners, command.Name):
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "arguments behind -- are allowed only with one runner")
	}
	made := make([]worker.Runner, 0, len(o.Agents.Runners)+1)
	for _, name := range o.Agents.Runners {
		if name == command.Name && len(o.Agents.Command) == 0 && o.Agents.AllowTaskCommands {
			// The worker has no program of its own and runs only those that
			// tasks name.
			continue
		}
		r, err := newRunner(name, o)
		if err != nil {
			return nil, err
		}
		made = append(made, r)
	}
	if o.Agents.AllowTaskCommands {
		made = append(made, command.NewShell(o.commandOptions()))
	}
	return made, nil
}

// commandOptions returns the options for programs that speak the protocol of
// the runner command.
func (o WorkerOptions) commandOptions() command.Options {
	return command.Options{Command: o.Agents.Command, PassEnv: o.Agents.PassEnv, URL: o.URL, Token: o.Agents.AgentToken}
}

func newRunner(name string, o WorkerOptions) (worker.Runner, error) {
	if name == command.Name {
		if len(o.Agents.Command) == 0 {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the worker has nothing to run").
				WithHint("name the agent program behind --, or let tasks name theirs with --allow-task-commands")
		}
		return command.New(o.commandOptions()), nil
	}
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	a := agent.Options{Program: o.Agents.Program, Fermata: executable, URL: o.URL, Token: o.Agents.AgentToken, PassEnv: o.Agents.PassEnv}
	if len(o.Agents.Runners) == 1 {
		a.ExtraArgs = o.Agents.Command
	}
	a.Folder = filepath.Join(o.Folder, ".agents", name)
	switch name {
	case acp.Name:
		return newACP(a, o.Agents.LiveWait, o.Agents.AllowUnknownAgent || o.Agents.Isolation.On)
	case claude.Name:
		return claude.New(a), nil
	case codex.Name:
		return codex.New(a), nil
	case gemini.Name:
		return gemini.New(a), nil
	case opencode.Name:
		return opencode.New(a), nil
	default:
		return nil, fmt.Errorf("there is no runner %s", name)
	}
}

// newACP returns the runner for agents that speak the Agent Client Protocol.
// Their program is named after --. The runner asks with the agents' token,
// which can never answer. So the asker of an approval can never give the
// approval itself.
func newACP(a agent.Options, wait time.Duration, allowUnknown bool) (worker.Runner, error) {
	if a.Program == "" {
		if len(a.ExtraArgs) == 0 {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the runner acp has nothing to run").
				WithHint("name the agent program and its arguments behind --, as in -- opencode acp, and no other runner beside it")
		}
		a.Program, a.ExtraArgs = a.ExtraArgs[0], a.ExtraArgs[1:]
	}
	asker, err := client.New(a.URL, a.Token, client.WithUserAgent("fermata-acp"))
	if err != nil {
		return nil, err
	}
	if wait == 0 {
		wait = -1
	}
	return acp.New(acp.Options{Options: a, Asker: asker, Wait: wait, AllowUnknown: allowUnknown}), nil
}
