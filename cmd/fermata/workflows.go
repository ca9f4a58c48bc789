package main

import (
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/app"
	cliworkflow "github.com/fermata-hq/fermata/internal/cli/workflow"
	"github.com/fermata-hq/fermata/internal/workflow"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// checkWorkflow returns the problems of a definition, without a server.
func checkWorkflow(source []byte) fermata.WorkflowCheck {
	return workflow.Check(source, app.WorkflowTools())
}

// simulateWorkflow runs a definition with scripted answers.
func simulateWorkflow(ctx context.Context, t cliworkflow.SimulationInput) (*fermata.TestReport, error) {
	return workflow.Simulate(ctx, t.Source, t.Answers, app.WorkflowTools())
}

// workflowSchema returns the JSON Schema that editors use to check definitions.
func workflowSchema() json.RawMessage { return definition.Schema() }
