// Package tool defines the interface between the workflow engine and the tools
// that run in its process.
package tool

import (
	"context"
	"encoding/json"
	"time"
)

// Tool does the work of a step, in the process of the engine. It must be safe
// for concurrent use.
type Tool interface {
	Info() Info
	// Call does the work once. ctx ends after the step's timeout, or when the
	// lease is lost.
	Call(ctx context.Context, c Call) (Result, error)
}

// Info describes a tool.
type Info struct {
	Name, Description string
	// Input is the JSON Schema of the input (draft 2020-12, with
	// additionalProperties false). Literal values are checked when a definition
	// is loaded, and the whole input when the step runs, before [Tool.Call].
	Input json.RawMessage
	// Check returns an error for an input that fits the schema and that the tool refuses whatever the world is like, such
	// as a URL that is none. It is nil if the schema says everything. The problems of a [fermata.Error] name their
	// fields. Test mode and the loader call Check as well, so it has no effect and reads nothing else.
	Check func(input map[string]any) error
	// Output is the JSON Schema of the output, or nil.
	Output json.RawMessage
	// Idempotent reports whether two calls with the same key have the effect of
	// one.
	Idempotent bool
}

// Call is one call of a tool by a step.
type Call struct {
	Workspace, Project, Workflow, RunID, Step string
	Occurrence, Attempt                       int
	// Item is the index in a foreach, from 0; nil without one.
	Item *int
	// Key is the idempotency key to pass on. It is the same for every attempt
	// of (run, step, occurrence, item).
	Key   string
	Input map[string]any
	// Trigger describes the event that started the run: type, and for GitHub
	// repository, issue, label and actor.
	Trigger map[string]any
	Inputs  map[string]any
}

// Result is the result of a call. Note is a short text about it for people.
type Result struct {
	Output any
	Note   string
}

// Failure is an error that says whether a retry can help. Any other error is
// retried as the step says.
type Failure interface {
	error
	Permanent() bool
	RetryAfter() time.Duration
}
