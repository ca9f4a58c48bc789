package cli

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/fermata-hq/fermata"
)

type workflowCancelCommand struct {
	write
	ID     string `arg:"" name:"run" complete:"open_run" help:"The run."`
	Reason string `short:"m" placeholder:"TEXT|@FILE" help:"Say why."`
}

func (workflowCancelCommand) Help() string {
	return `Its question is withdrawn, and the tasks below it are cancelled, too.

Examples:

    fermata workflow cancel 3f9k2a -m "wrong issue"`
}

func (c *workflowCancelCommand) Run(ctx context.Context, s *session) error {
	reason, err := s.textOrFile("--reason", c.Reason)
	if err != nil {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	run, err := server.WorkflowRun(ctx, c.ID)
	if err != nil {
		return err
	}
	body := map[string]string{"reason": reason}
	return s.sendTaskChange(ctx, taskChange{write: c.write, id: run.ID, verb: "cancel", body: body, send: func(ctx context.Context, id string) (*fermata.Task, error) {
		return server.CancelTask(ctx, id, reason)
	}})
}

type workflowRetryCommand struct {
	write
	ID    string   `arg:"" name:"run" complete:"ended_run" help:"The run."`
	Input string   `placeholder:"JSON|@FILE" help:"What the step gets instead of its input: a JSON object."`
	Wait  waitFlag `help:"Wait until the run has ended, as fermata workflow run does."`
}

func (workflowRetryCommand) Help() string {
	return `What the steps before it gave stays as it is; the run stays with the definition that it began with.

Examples:

    fermata workflow retry 3f9k2a
    fermata workflow retry 3f9k2a --input '{"url": "https://example.com/b"}' --wait`
}

func (c *workflowRetryCommand) Run(ctx context.Context, s *session) error {
	input, err := s.textOrFile("--input", c.Input)
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
	if done, err := s.printDryRun(c.write, "POST", "/workflow-runs/"+c.ID+"/retry", body); done {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	run, err := server.RetryWorkflowRun(ctx, c.ID, doc)
	if err != nil {
		return err
	}
	s.printDone("", "%s goes on", run.ID)
	return s.printStarted(ctx, run, c.Wait)
}
