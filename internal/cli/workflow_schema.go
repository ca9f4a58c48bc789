package cli

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
)

type workflowSchemaCommand struct{}

func (workflowSchemaCommand) Help() string {
	return `Editors complete and check definitions with it: put this line first into a file.

    # yaml-language-server: $schema=workflow.schema.json

A server has it at /schemas/workflow.json.

Examples:

    fermata workflow schema > workflow.schema.json`
}

func (c *workflowSchemaCommand) Run(s *session, local workflowLocal) error {
	if local.Schema == nil {
		return notBuilt("workflow")
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, local.Schema(), "", "  "); err != nil {
		return fermata.Internal("write the schema", err)
	}
	s.stdout().line("%s", indented.String())
	return nil
}

type workflowSecretCommand struct {
	write
	Name string `arg:"" complete:"workflow" help:"Name of the workflow."`
}

func (workflowSecretCommand) Help() string {
	return `The secret is printed on standard output and cannot be shown again; an earlier one is void at once. Requests are signed as Standard Webhooks says.

Examples:

    fermata workflow webhook-secret deploy`
}

func (c *workflowSecretCommand) Run(ctx context.Context, s *session) error {
	if done, err := s.printDryRun(c.write, "POST", "/workflows/"+c.Name+"/webhook-secret", nil); done {
		return err
	}
	server, err := s.server()
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
			url = s.webhookURL(t)
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
	s.printDone(w.WorkspaceID, "made a secret for the webhook of %s", oneLine(c.Name))
	if secret == "" {
		// The call was retried, and only the first reply held the secret.
		return fermata.Errorf(fermata.CodeUnavailable, "the reply with the secret was lost on its way").
			WithHint("make another: fermata workflow webhook-secret %s", c.Name)
	}
	if s.JSON {
		return s.writeJSON(map[string]string{"secret": secret, "url": url})
	}
	s.stderr().line("call it with POST %s", url)
	s.stdout().line("%s", secret)
	return nil
}
