package workflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// defaultCallTimeout is the time limit of a call if neither the step nor its tool sets
// one.
const defaultCallTimeout = 5 * time.Minute

// namedTool returns the workspace's tool that a step names, or the server that provides it. It returns nil for a tool
// of this process and for an unknown tool.
func (x *execution) namedTool(ctx context.Context, name string) (*fermata.NamedTool, error) {
	if x.s.tools[name] != nil {
		return nil, nil
	}
	name, _, _ = strings.Cut(name, ".")
	n, err := x.s.db.Reader(ctx, x.claim.Task.WorkspaceID).NamedTool(name)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return nil, nil
	}
	return n, err
}

// call calls a tool in this process and returns its output and its note.
func (x *execution) call(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, named *fermata.NamedTool, input map[string]any) (any, string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout(step, named))
	defer cancel()
	c := tool.Call{
		Workspace: x.claim.Task.WorkspaceID, Project: x.run.Project, Workflow: x.run.Workflow, RunID: x.run.ID, Step: step.ID,
		Occurrence: row.Occurrence, Attempt: row.Attempt, Item: row.Item, Key: row.Key(), Input: input,
		Trigger: x.cause, Inputs: x.inputs,
	}
	var result tool.Result
	var err error
	var idempotent bool
	switch t := x.s.tools[step.Tool]; {
	case x.s.Stub != nil:
		result, err = x.s.Stub(ctx, step.Tool, c)
	case t != nil:
		idempotent = t.Info().Idempotent
		result, err = t.Call(ctx, c)
	case named != nil && named.Server != nil && x.s.Servers != nil:
		idempotent = isIdempotent(named, step.Tool)
		_, name, _ := strings.Cut(step.Tool, ".")
		result, err = x.s.Servers.Call(ctx, named.Name, *named.Server, name, c)
	default:
		return nil, "", permanentError(codeNoTool, fermata.Errorf(fermata.CodeNotFound, "there is no tool %s", step.Tool).
			WithHint("fermata workflow tools list shows those that there are"))
	}
	safe := idempotent || tool.IsSafeToRetry(err)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = &stepError{code: codeTimeout, err: fmt.Errorf("the step took longer than %s", callTimeout(step, named))}
	}
	if err != nil && safe {
		err = tool.MarkSafeToRetry(err)
	}
	return result.Output, result.Note, err
}

// isIdempotent reports whether the server lists its tool as idempotent.
func isIdempotent(server *fermata.NamedTool, name string) bool {
	list, _ := listedTools(server)
	return slices.ContainsFunc(list, func(i fermata.ToolInfo) bool { return i.Name == name && i.Idempotent })
}

// callTimeout returns the time limit of a call.
func callTimeout(step *definition.Step, named *fermata.NamedTool) time.Duration {
	if step.Timeout > 0 {
		return step.Timeout
	}
	if named != nil && named.Timeout != "" {
		if d, err := fermata.Timeout(named.Timeout).Duration(); err == nil {
			return d
		}
	}
	return defaultCallTimeout
}

// outputLength returns the total length in bytes of the outputs of a step's
// other items.
func (x *execution) outputLength(row *fermata.WorkflowStep) int {
	total := 0
	for _, r := range x.rows {
		if r != row && r.Item != nil && r.Step == row.Step && r.Occurrence == row.Occurrence {
			total += len(r.Output)
		}
	}
	return total
}

// storeOutput stores the output of a step. It fails if the output is too large or does
// not fit the step's schema.
func (x *execution) storeOutput(step *definition.Step, row *fermata.WorkflowStep, output any) error {
	doc := x.storedJSON(output)
	length, subject := len(doc), "the output has"
	if row.Item != nil {
		// The outputs of all items are stored until the step is done. Together
		// they are its output.
		length, subject = length+x.outputLength(row), "all items of a step share its limit, and their outputs have"
	}
	if length > fermata.MaxStepOutput {
		return permanentError(codeTooLarge, fermata.Errorf(fermata.CodeInvalidRequest, "%s %d bytes, a step may give %d", subject, length, fermata.MaxStepOutput).
			WithHint("write it to a file or an address, and give that"))
	}
	if err := checkOutput(step.Schema, decodeJSON(doc), outputHint(step.Tool == toolShell)); err != nil {
		return err
	}
	row.Output = doc
	return nil
}
