package workflow

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

type cancelCommand struct {
	session.WriteFlags
	ID     string `arg:"" name:"run" complete:"open_run" help:"The run."`
	Reason string `short:"m" placeholder:"TEXT|@FILE" help:"Say why."`
}

func (cancelCommand) Help() string {
	return `Its question is withdrawn, and the tasks below it are cancelled, too.

Examples:

    fermata workflow cancel 3f9k2a -m "wrong issue"`
}

func (c *cancelCommand) Run(ctx context.Context, s *session.Session) error {
	reason, err := s.TextOrFile("--reason", c.Reason)
	if err != nil {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	run, err := server.WorkflowRun(ctx, c.ID)
	if err != nil {
		return err
	}
	body := map[string]string{"reason": reason}
	return s.SendTaskChange(ctx, session.TaskChange{Flags: c.WriteFlags, ID: run.ID, Verb: "cancel", Body: body, Send: func(ctx context.Context, id string) (*fermata.Task, error) {
		return server.CancelTask(ctx, id, reason)
	}})
}

type retryCommand struct {
	session.WriteFlags
	ID    string           `arg:"" name:"run" complete:"ended_run" help:"The run."`
	Input string           `placeholder:"JSON|@FILE" help:"What the step gets instead of its input: a JSON object."`
	Wait  session.WaitFlag `help:"Wait until the run has ended, as fermata workflow run does."`
}

func (retryCommand) Help() string {
	return `What the steps before it gave stays as it is; the run stays with the definition that it began with.

Examples:

    fermata workflow retry 3f9k2a
    fermata workflow retry 3f9k2a --input '{"url": "https://example.com/b"}' --wait`
}

func (c *retryCommand) Run(ctx context.Context, s *session.Session) error {
	input, err := s.TextOrFile("--input", c.Input)
	if err != nil {
		return err
	}
	var doc json.RawMessage
	if input = strings.TrimSpace(input); input != "" {
		if doc = json.RawMessage(input); !json.Valid(doc) || input[0] != '{' {
			return fermata.Errorf(fermata.CodeInvalidRequest, "--input is no JSON object").WithHint(`write it like '{"url": "https://example.com"}'`)
		}
	}
	body := map[string]any{}
	if doc != nil {
		body["input"] = doc
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/workflow-runs/"+c.ID+"/retry", body); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	run, err := server.RetryWorkflowRun(ctx, c.ID, doc)
	if err != nil {
		return err
	}
	s.PrintDone("", "%s goes on", run.ID)
	return printStarted(ctx, s, run, c.Wait)
}
