package workflow

import (
	"context"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// mostFeedback is how many characters of its last output an agent is shown.
const mostFeedback = 4000

// feedback tells an agent what came of the attempt before its own: why it was of no
// use, and what was given. It is "" at the first attempt.
func (x *execution) feedback(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep) (string, error) {
	if row.ChildID == "" {
		return "", nil
	}
	r := x.s.db.In(ctx, x.claim.Task.WorkspaceID)
	t, err := r.Task(row.ChildID)
	if err != nil {
		return "", err
	}
	if t.Runner == fermata.RunnerShell || t.Runner == fermata.RunnerWorkflow || t.Runner == fermata.RunnerExternal {
		return "", nil
	}
	if t.State != fermata.TaskDone {
		return "\n\nThis was tried before and ended as " + string(t.State) + ": " + x.told(short(t.Summary)) + "\n", nil
	}
	_, wrong := x.outputOf(ctx, step, t)
	if wrong == nil || t.RunID == "" {
		return "", nil
	}
	run, err := r.Run(t.RunID)
	if err != nil {
		return "", err
	}
	given := run.Summary
	if value, said, err := parts(run.Details, run.Summary); err == nil {
		given = said
		if value != nil {
			given = string(data(value))
		}
	}
	return fmt.Sprintf("\n\nThis was tried before, and the result could not be used: %s\n\nIt ended with:\n\n%s\n\nDo it again, and give a result that fits.\n",
		x.told(short(wrong.Error())), quoted(cut(x.told(given), mostFeedback))), nil
}

// quoted marks every line as quoted, as Markdown does.
func quoted(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n> ")
}
