package cli

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// namesCommand is the command that the completion scripts call.
type namesCommand struct {
	Kinds []string `arg:"" sep:"," help:"workflow, run, open_run, ended_run, tool or own_tool."`
}

func (namesCommand) Help() string {
	return `Each name stands on a line, what it is behind a tab. Without a server there are none.

Examples:

    fermata names workflow,run`
}

// namesTimeout is the longest time that a person who pressed the tab key waits.
const namesTimeout = 5 * time.Second

// maxNames is the largest number of offered runs. The newest are offered.
const maxNames = 50

func (c *namesCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, namesTimeout)
	defer cancel()
	for _, kind := range c.Kinds {
		words, err := namesOf(ctx, server, kind)
		if err != nil {
			return err
		}
		for _, w := range words {
			// A shell may run other characters in a word as a command.
			if plainWordPattern().MatchString(w.text) {
				s.Stdout().Line("%s\t%s", w.text, terminal.OneLine(w.help))
			}
		}
	}
	return nil
}

var plainWordPattern = lazyregexp.New(`^[A-Za-z0-9_.]([A-Za-z0-9_.-]*)$`)

// namesOf returns the names of one kind.
func namesOf(ctx context.Context, server *client.Client, kind string) ([]word, error) {
	switch kind {
	case "workflow":
		all, err := server.Workflows(ctx)
		return toWords(all, func(w *fermata.Workflow) word { return word{w.Name, w.Description} }), err
	case "run", "open_run", "ended_run":
		q := client.WorkflowRunQuery{Limit: maxNames}
		for _, state := range fermata.TaskStates {
			if kind == "open_run" && !state.IsEnded() || kind == "ended_run" && state.IsEnded() && state != fermata.TaskDone {
				q.State = append(q.State, state)
			}
		}
		all, _, err := server.WorkflowRuns(ctx, q)
		return toWords(all, func(r *fermata.WorkflowRun) word {
			return word{terminal.ShortID(r.ID), string(r.State) + " " + r.Title}
		}), err
	case "tool":
		all, err := server.Tools(ctx)
		return toWords(all, func(t fermata.ToolInfo) word { return word{t.Name, t.Description} }), err
	case "own_tool":
		all, err := server.NamedTools(ctx)
		return toWords(all, func(t *fermata.NamedTool) word { return word{t.Name, t.Description} }), err
	default:
		return nil, session.InputErrorf("there are no names of the kind %q", kind)
	}
}

func toWords[T any](all []T, convert func(T) word) []word {
	words := make([]word, 0, len(all))
	for _, v := range all {
		words = append(words, convert(v))
	}
	return words
}
