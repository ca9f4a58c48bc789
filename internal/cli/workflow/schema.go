package workflow

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type schemaCommand struct{}

func (schemaCommand) Help() string {
	return `Editors complete and check definitions with it: put this line first into a file.

    # yaml-language-server: $schema=workflow.schema.json

A server has it at /schemas/workflow.json.

Examples:

    fermata workflow schema > workflow.schema.json`
}

func (c *schemaCommand) Run(s *session.Session, local Local) error {
	if local.Schema == nil {
		return session.NotBuiltError("workflow")
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, local.Schema(), "", "  "); err != nil {
		return fermata.Internal("write the schema", err)
	}
	s.Stdout().Line("%s", indented.String())
	return nil
}

type secretCommand struct {
	session.WriteFlags
	Name string `arg:"" complete:"workflow" help:"Name of the workflow."`
}

func (secretCommand) Help() string {
	return `The secret is printed on standard output and cannot be shown again; an earlier one is void at once. Requests are signed as Standard Webhooks says.

Examples:

    fermata workflow webhook-secret deploy`
}

func (c *secretCommand) Run(ctx context.Context, s *session.Session) error {
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/workflows/"+c.Name+"/webhook-secret", nil); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	w, err := server.Workflow(ctx, c.Name, "")
	if err != nil {
		return err
	}
	url := ""
	for _, t := range w.Triggers {
		if t.Type == fermata.TriggerWebhook {
			url = webhookURL(s, t)
		}
	}
	if url == "" {
		return fermata.Errorf(fermata.CodeInvalidRequest, "the workflow %s has no webhook", c.Name).
			WithHint("add `- webhook: true` to its triggers")
	}
	secret, err := server.NewWebhookSecret(ctx, c.Name)
	if err != nil {
		return err
	}
	s.PrintDone(w.WorkspaceID, "made a secret for the webhook of %s", terminal.OneLine(c.Name))
	if secret == "" {
		// The call was retried, and only the first reply held the secret.
		return fermata.Errorf(fermata.CodeUnavailable, "the reply with the secret was lost on its way").
			WithHint("make another: fermata workflow webhook-secret %s", c.Name)
	}
	if s.JSON {
		return s.WriteJSON(map[string]string{"secret": secret, "url": url})
	}
	s.Stderr().Line("call it with POST %s", url)
	s.Stdout().Line("%s", secret)
	return nil
}
