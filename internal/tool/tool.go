// Package tool is the language between the engine of workflows and the tools
// that their steps call in process.
package tool

import (
	"context"
	"encoding/json"
	"time"
)

// Tool does what steps ask for, in process. Many goroutines use one value.
type Tool interface {
	Info() Info
	// Call does it once. ctx ends with the step's timeout or the loss of the lease.
	Call(ctx context.Context, c Call) (Result, error)
}

// Info says what a tool is.
type Info struct {
	Name, Description string
	// Input is the JSON Schema of the input (draft 2020-12, additionalProperties
	// false); it is checked at load for what is literal, at run for all.
	Input json.RawMessage
	// Output is a JSON Schema, or nil.
	Output json.RawMessage
	// Idempotent says that two calls with one key have the effect of one.
	Idempotent bool
}

// Call is what a step hands to its tool.
type Call struct {
	Workspace, Project, Workflow, RunID, Step string
	Occurrence, Attempt                       int
	// Item is the index in a foreach.
	Item *int
	// Key is stable for (run, step, occurrence, item): the idempotency key to hand on.
	Key   string
	Input map[string]any
	// Trigger is what started the run: type, and for GitHub repository, issue,
	// label, actor.
	Trigger map[string]any
	Inputs  map[string]any
}

// Result is what a call came to.
type Result struct {
	Output any
	Note   string
}

// Failure is an error that says whether trying again can help; any other error
// is retried as the step says.
type Failure interface {
	error
	Permanent() bool
	RetryAfter() time.Duration
}
