package app

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/runner/claude"
	"github.com/fermata-hq/fermata/internal/runner/command"
	"github.com/fermata-hq/fermata/internal/worker"
)

// runnerNames are the runners that a worker may have.
var runnerNames = []string{command.Name, claude.Name}

// newRunners makes the runners of a worker, in their order. An agent program
// that is named beside them is run by command, the last one.
func newRunners(o WorkerOptions) ([]worker.Runner, error) {
	wanted := o.Runners
	runs := len(o.Command) > 0 || o.AllowTaskCommands
	if len(wanted) == 0 || runs && !slices.Contains(wanted, command.Name) {
		wanted = append(slices.Clone(wanted), command.Name)
	}
	runners := make([]worker.Runner, 0, len(wanted))
	for _, text := range wanted {
		name, program, _ := strings.Cut(text, "=")
		if slices.ContainsFunc(runners, func(r worker.Runner) bool { return r.Name() == name }) {
			return nil, fmt.Errorf("the runner %s is named twice", name)
		}
		r, err := newRunner(name, program, o)
		if err != nil {
			return nil, err
		}
		runners = append(runners, r)
	}
	return runners, nil
}

func newRunner(name, program string, o WorkerOptions) (worker.Runner, error) {
	switch name {
	case command.Name:
		if len(o.Command) == 0 && !o.AllowTaskCommands {
			return nil, fmt.Errorf("the worker has nothing to run: name the agent program behind --, or let tasks name theirs with --allow-task-commands, or name a --runner")
		}
		return command.New(command.Options{
			Command: o.Command, AllowTaskCommands: o.AllowTaskCommands, PassEnv: o.PassEnv, URL: o.URL, Token: o.AgentToken,
		}), nil
	case claude.Name:
		agent, self, err := agentProgram(name, program)
		if err != nil {
			return nil, err
		}
		return claude.New(claude.Options{Program: agent, Fermata: self, URL: o.URL, Token: o.AgentToken, PassEnv: o.PassEnv}), nil
	default:
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "there is no runner %q", name).
			WithHint("the runners are %s", strings.Join(runnerNames, ", "))
	}
}

// agentProgram returns the paths of an agent program, found in PATH where none
// is named, and of this program, by which the agent asks.
func agentProgram(name, program string) (agent, self string, err error) {
	if program == "" {
		program = name
	}
	if agent, err = exec.LookPath(program); err != nil {
		return "", "", fermata.Errorf(fermata.CodeInvalidRequest, "the runner %s finds no program: %w", name, err).
			WithHint("install it, or say where it is: --runner %s=/path/to/%s", name, name)
	}
	self, err = os.Executable()
	return agent, self, err
}

// asksByAPI reports whether a runner's agents ask by the API, with a token.
func (o WorkerOptions) asksByAPI() bool {
	return slices.ContainsFunc(o.Runners, func(text string) bool {
		name, _, _ := strings.Cut(text, "=")
		return name != command.Name
	})
}
