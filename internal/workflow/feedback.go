package workflow

import (
	"context"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// mostFeedback limits how many characters of its last output an agent is shown.
const mostFeedback = 4000

// feedback returns a text that tells an agent why its step is done again. It has the comment of the person that sent
// the run back, and the result of the previous attempt. It is "" on the first attempt.
func (x *execution) feedback(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep) (string, error) {
	tried, err := x.lastAttempt(ctx, step, row)
	return x.sentBack(row) + tried, err
}

// sentBack returns a text with the comment of the person that sent the run back, and the step's previous output. It is
// "" if no person sent the run back.
func (x *execution) sentBack(row *fermata.WorkflowStep) string {
	if x.st.Feedback == "" {
		return ""
	}
	said := "\n\nThis was done before, and a person sent it back:\n\n" + quoteLines(x.st.Feedback) + "\n"
	before := x.byKey[keyOf(row.Step, row.Occurrence-1, row.Item)]
	if before == nil || len(before.Output) == 0 {
		return said
	}
	given := string(before.Output)
	if text, ok := value(before.Output).(string); ok {
		given = text
	}
	return said + "\nIt gave:\n\n" + quoteLines(cut(x.hideInText(given), mostFeedback)) + "\n"
}

// lastAttempt returns a text with the result of the previous attempt. It is "" on the first attempt, and if that
// attempt was usable.
func (x *execution) lastAttempt(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep) (string, error) {
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
		return "\n\nThis was tried before and ended as " + string(t.State) + ": " + x.hideInText(boundText(t.Summary)) + "\n", nil
	}
	if t.RunID == "" {
		return "", nil
	}
	run, err := r.Run(t.RunID)
	if err != nil {
		return "", err
	}
	_, wrong := x.outputOf(ctx, step, t, run)
	if wrong == nil {
		return "", nil
	}
	given := run.Summary
	if value, said, err := parts(run.Details, run.Summary); err == nil {
		given = said
		if value != nil {
			given = string(data(value))
		}
	}
	return fmt.Sprintf("\n\nThis was tried before, and the result could not be used: %s\n\nIt ended with:\n\n%s\n\nDo it again, and give a result that fits.\n",
		x.hideInText(boundText(wrong.Error())), quoteLines(cut(x.hideInText(given), mostFeedback))), nil
}

// quoteLines marks every line as a quotation in Markdown.
func quoteLines(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n> ")
}
