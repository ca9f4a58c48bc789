package workflow

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// maxFeedback limits how many characters of its last output an agent is shown.
const maxFeedback = 4000

// feedback returns a text that tells an agent why its step is done again. It has the comment of the person that sent
// the run back, and the result of the previous attempt. It is "" on the first attempt.
func (x *execution) feedback(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep) (string, error) {
	lastResult, err := x.lastAttemptText(ctx, step, row)
	return x.sentBackText(row) + lastResult, err
}

// sentBackText returns a text with the comment of the person that sent the run back, and the step's previous output. It is
// "" if no person sent the run back.
func (x *execution) sentBackText(row *fermata.WorkflowStep) string {
	if x.st.Feedback == "" {
		return ""
	}
	comment := "\n\nThis was done before, and a person sent it back:\n\n" + quoteLines(x.st.Feedback) + "\n"
	before := x.byKey[rowKeyOf(row.Step, row.Occurrence-1, row.Item)]
	if before == nil || len(before.Output) == 0 {
		return comment
	}
	output := string(before.Output)
	if text, ok := decodeJSON(before.Output).(string); ok {
		output = text
	}
	return comment + "\nIt gave:\n\n" + quoteLines(truncate(x.hideInText(output), maxFeedback)) + "\n"
}

// lastAttemptText returns a text with the result of the previous attempt of an agent. It is "" on the first attempt, if
// that result was usable, and for a task that no agent did.
func (x *execution) lastAttemptText(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep) (string, error) {
	if row.ChildID == "" {
		return "", nil
	}
	r := x.s.db.Reader(ctx, x.claim.Task.WorkspaceID)
	t, err := r.Task(row.ChildID)
	if err != nil {
		return "", err
	}
	if t.Runner == fermata.RunnerShell || t.Runner == fermata.RunnerWorkflow || t.Runner == fermata.RunnerExternal {
		return "", nil
	}
	if t.State != fermata.TaskDone {
		return withReason("\n\nThis was tried before and ended as "+string(t.State), x.hideInText(boundText(cmp.Or(t.Summary, t.Reason)))) + "\n", nil
	}
	if t.RunID == "" {
		return "", nil
	}
	run, err := r.Run(t.RunID)
	if err != nil {
		return "", err
	}
	_, outputErr := x.outputOf(ctx, step, t, run)
	if outputErr == nil {
		return "", nil
	}
	output := run.Summary
	if value, agentText, err := splitDetails(run.Details, run.Summary); err == nil {
		output = agentText
		if value != nil {
			output = string(encodeJSON(value))
		}
	}
	return fmt.Sprintf("\n\nThis was tried before, and the result could not be used: %s\n\nIt ended with:\n\n%s\n\nDo it again, and give a result that fits.\n",
		x.hideInText(boundText(outputErr.Error())), quoteLines(truncate(x.hideInText(output), maxFeedback))), nil
}

// quoteLines marks every line as a quotation in Markdown.
func quoteLines(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n> ")
}
