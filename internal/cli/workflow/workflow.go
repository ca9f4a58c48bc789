package workflow

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// Command is fermata workflow: it checks, stores, draws, runs, follows and tests workflows.
type Command struct {
	Validate validateCommand `cmd:"" help:"Say everything that is wrong with a definition."`
	Put      putCommand      `cmd:"" help:"Store a definition on the server."`
	List     listCommand     `cmd:"" help:"List the workflows."`
	Show     showCommand     `cmd:"" help:"Show a workflow or a run, live with --watch."`
	Graph    graphCommand    `cmd:"" help:"Draw the steps of a workflow."`
	Run      runCommand      `cmd:"" help:"Start a run."`
	Runs     runsCommand     `cmd:"" help:"List runs."`
	Cancel   cancelCommand   `cmd:"" help:"Cancel a run and all below it."`
	Retry    retryCommand    `cmd:"" help:"Let a run go on with the step where it ended."`
	Rewind   rewindCommand   `cmd:"" help:"Send a run back to a step, with feedback."`
	Move     moveCommand     `cmd:"" help:"Let a run go on with the newest definition."`
	Test     testCommand     `cmd:"" help:"Run a definition with scripted answers, without a server."`
	Schema   schemaCommand   `cmd:"" help:"Print the JSON Schema of definitions, for editors."`
	Enable   enableCommand   `cmd:"" help:"Let triggers start runs again."`
	Disable  disableCommand  `cmd:"" help:"Let no trigger start a run any more."`
	Remove   removeCommand   `cmd:"" help:"Remove a workflow; its runs stay."`
	Secret   secretCommand   `cmd:"" name:"webhook-secret" help:"Make the secret that signs requests to a webhook."`
	Tools    toolsCommand    `cmd:"" help:"The tools of the workspace that steps may name."`
}

// readSource reads a definition or a file of tools; - is standard input.
func readSource(s *session.Session, file string) ([]byte, error) {
	data, err := s.ReadFile("definition", file, fermata.MaxWorkflowSource)
	if e, ok := session.AsError(err); ok {
		return nil, e.WithHint("name a YAML file, or - for standard input")
	}
	return data, err
}

// Local holds the functions of the commands that work without a server. A command whose function is nil
// reports that it is not part of this build.
type Local struct {
	// Check returns the problems of a definition.
	Check func(source []byte) fermata.WorkflowCheck
	// CheckTool returns the problems of a tool of a workspace. If it is nil, only the server checks tools.
	CheckTool func(*fermata.NamedTool) error
	// Schema returns the JSON Schema of definitions.
	Schema func() json.RawMessage
	// Simulate runs a definition with scripted answers.
	Simulate func(context.Context, SimulationInput) (*fermata.TestReport, error)
}

// checkSource returns the problems of a definition that this program can find
// without a server.
func (l Local) checkSource(source []byte) (*fermata.WorkflowCheck, error) {
	if l.Check == nil {
		return nil, session.NotBuiltError("workflow")
	}
	check := l.Check(source)
	return &check, nil
}

// findWorkflowOrRun returns the workflow with the name, or the run with the id or
// its ending.
func findWorkflowOrRun(ctx context.Context, s *session.Session, word string) (*fermata.Workflow, *fermata.WorkflowRun, error) {
	server, err := s.Server()
	if err != nil {
		return nil, nil, err
	}
	if !strings.HasPrefix(word, fermata.PrefixTask+"_") {
		w, err := server.Workflow(ctx, word, "")
		if err == nil || session.IsLookupFailure(err) {
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
