package cli

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type workflowCommand struct {
	Validate workflowValidateCommand `cmd:"" help:"Say everything that is wrong with a definition."`
	Put      workflowPutCommand      `cmd:"" help:"Store a definition on the server."`
	List     workflowListCommand     `cmd:"" help:"List the workflows."`
	Show     workflowShowCommand     `cmd:"" help:"Show a workflow or a run, live with --watch."`
	Graph    workflowGraphCommand    `cmd:"" help:"Draw the steps of a workflow."`
	Run      workflowRunCommand      `cmd:"" help:"Start a run."`
	Runs     workflowRunsCommand     `cmd:"" help:"List runs."`
	Cancel   workflowCancelCommand   `cmd:"" help:"Cancel a run and all below it."`
	Retry    workflowRetryCommand    `cmd:"" help:"Let a run go on with the step where it ended."`
	Rewind   workflowRewindCommand   `cmd:"" help:"Send a run back to a step, with feedback."`
	Move     workflowMoveCommand     `cmd:"" help:"Let a run go on with the newest definition."`
	Test     workflowTestCommand     `cmd:"" help:"Run a definition with scripted answers, without a server."`
	Schema   workflowSchemaCommand   `cmd:"" help:"Print the JSON Schema of definitions, for editors."`
	Enable   workflowEnableCommand   `cmd:"" help:"Let triggers start runs again."`
	Disable  workflowDisableCommand  `cmd:"" help:"Let no trigger start a run any more."`
	Remove   workflowRemoveCommand   `cmd:"" help:"Remove a workflow; its runs stay."`
	Secret   workflowSecretCommand   `cmd:"" name:"webhook-secret" help:"Make the secret that signs requests to a webhook."`
	Tools    workflowToolsCommand    `cmd:"" help:"The tools of the workspace that steps may name."`
}

// readSource reads a definition or a file of tools; - is standard input.
func (s *session) readSource(file string) ([]byte, error) {
	data, err := s.readFile("definition", file, fermata.MaxWorkflowSource)
	if e, ok := asError(err); ok {
		return nil, e.WithHint("name a YAML file, or - for standard input")
	}
	return data, err
}

// workflowLocal holds the functions of the commands that work without a server. A command whose function is nil
// reports that it is not part of this build.
type workflowLocal struct {
	// Check returns the problems of a definition.
	Check func(source []byte) client.WorkflowCheck
	// CheckTool returns the problems of a tool of a workspace. If it is nil, only the server checks tools.
	CheckTool func(*fermata.NamedTool) error
	// Schema returns the JSON Schema of definitions.
	Schema func() json.RawMessage
	// Simulate runs a definition with scripted answers.
	Simulate func(context.Context, SimulationInput) (*SimulationReport, error)
}

// checkSource returns the problems of a definition that this program can find
// without a server.
func (l workflowLocal) checkSource(source []byte) (*client.WorkflowCheck, error) {
	if l.Check == nil {
		return nil, notBuilt("workflow")
	}
	check := l.Check(source)
	return &check, nil
}

// findWorkflowOrRun returns the workflow with the name, or the run with the id or
// its ending.
func (s *session) findWorkflowOrRun(ctx context.Context, word string) (*fermata.Workflow, *fermata.WorkflowRun, error) {
	server, err := s.server()
	if err != nil {
		return nil, nil, err
	}
	if !strings.HasPrefix(word, fermata.PrefixTask+"_") {
		w, err := server.Workflow(ctx, word, "")
		if err == nil || isLookupFailure(err) {
			return w, nil, err
		}
	}
	run, err := server.WorkflowRun(ctx, word)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		err = fermata.Errorf(fermata.CodeNotFound, "there is no workflow and no run %q", word).
			WithHint("fermata workflow list shows workflows, fermata workflow runs shows runs")
	}
	return nil, run, err
}

// shortHash returns the beginning of a definition's hash, as people see it.
func shortHash(hash string) string { return hash[:min(len(hash), 8)] }
