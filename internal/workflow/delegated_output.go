package workflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// gather collects the results of a step's tasks.
func (x *execution) gather(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep) error {
	if step.Foreach != nil {
		return x.gatherItems(ctx, step, row)
	}
	ended, err := x.storeTaskOutput(ctx, step, row)
	if err != nil {
		x.st.WaitsFor = ""
		return x.failUnlessInterrupted(ctx, step, row, err)
	}
	if !ended {
		return x.parkOn(ctx, nil, row.ChildID)
	}
	x.st.WaitsFor = ""
	if err := x.finish(ctx, row, fermata.StepDone); err != nil {
		return err
	}
	x.leaveStep(step)
	return nil
}

// failUnlessInterrupted fails the step, unless the cause was the database or the end of ctx.
func (x *execution) failUnlessInterrupted(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, err error) error {
	if fermata.CodeOf(err) == fermata.CodeUnavailable || ctx.Err() != nil {
		return err
	}
	return x.handleFailure(ctx, step, row, err)
}

// storeTaskOutput stores the output of a row's task. It reports whether the task has ended.
func (x *execution) storeTaskOutput(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep) (ended bool, err error) {
	r := x.s.db.Reader(ctx, x.claim.Task.WorkspaceID)
	t, err := r.Task(row.ChildID)
	if err != nil {
		return false, err
	}
	if !t.State.IsEnded() {
		return false, nil
	}
	if t.Reason == fermata.ReasonLowConfidence && row.QuestionID != "" {
		return true, permanentError(codeSetAside, errors.New(x.setAsideNote(r, step, row)))
	}
	var run *fermata.Run
	if t.RunID != "" {
		if run, err = r.Run(t.RunID); err != nil {
			return true, err
		}
	}
	if err := noteEarlierRun(r, row, run, t.Runner); err != nil {
		return true, err
	}
	if row.QuestionID != "" {
		return true, x.storeItemAnswer(ctx, step, row)
	}
	if t.State != fermata.TaskDone {
		reason, err := failureReason(r, t, run)
		if err != nil {
			return true, err
		}
		return true, withCommandOutput(&stepError{code: failureCodeOf(t), err: errors.New(reason)}, t, run)
	}
	output, err := x.outputOf(ctx, step, t, run)
	if err != nil {
		return true, withCommandOutput(err, t, run)
	}
	noteLostOutput(row, output)
	return true, withCommandOutput(x.storeOutput(step, row, output), t, run)
}

// noteLostOutput adds notes to a step if its output lacks some of the bytes that a command printed.
func noteLostOutput(row *fermata.WorkflowStep, output any) {
	fields, _ := output.(map[string]any)
	if fields["left_out"] != nil {
		addNote(row, fmt.Sprintf("the first %v bytes of what it printed were left out", fields["left_out"]))
	}
	if text, _ := fields["output"].(string); strings.ContainsRune(text, utf8.RuneError) && isCommandOutput(fields) {
		addNote(row, "each \uFFFD in its output stands for bytes that are no UTF-8 text")
	}
}

// failureCodeOf returns the code of the error of a step whose task was not done.
func failureCodeOf(t *fermata.Task) string {
	if t.State == fermata.TaskFailed && t.Reason == fermata.ReasonRunTimeout {
		return codeTimeout
	}
	return codeChild
}

// failureReason returns the reason why a task was not done. The run is its last one, or nil.
func failureReason(r store.Reader, t *fermata.Task, run *fermata.Run) (string, error) {
	switch {
	case t.State == fermata.TaskFailed && t.Summary != "":
		return t.Summary, nil
	case t.Reason == fermata.ReasonAttemptsUsedUp && t.MaxAttempts == 1:
		why := "its worker was lost"
		if run != nil {
			why = cmp.Or(run.Summary, why)
		}
		return why + ", and it is not run again", nil
	case t.Reason == fermata.ReasonAttemptsUsedUp:
		return fmt.Sprintf("its worker was lost %d times", t.Attempts), nil
	}
	subject, err := nameTask(r, t)
	if err != nil || t.State != fermata.TaskCancelled {
		return withReason(fmt.Sprintf("%s is %s", subject, t.State), cmp.Or(t.Summary, t.Reason)), err
	}
	by, err := cancellerOf(r, t)
	if by == "" {
		return withReason(subject+" was cancelled", t.Reason), err
	}
	return withReason(by+" cancelled "+subject, t.Reason), err
}

// nameTask names a step's task: the run of another workflow by its id.
func nameTask(r store.Reader, t *fermata.Task) (string, error) {
	if t.Runner != fermata.RunnerWorkflow {
		return "its task", nil
	}
	run, err := r.WorkflowRun(t.ID)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("the run %s of %s", run.ID, run.Workflow), nil
}

// cancellerOf returns the name of who cancelled a task, or "" if the server did.
func cancellerOf(r store.Reader, t *fermata.Task) (string, error) {
	ends, err := r.Events(store.EventFilter{TaskID: t.ID, Types: []string{string(fermata.EventTaskEnded)}, Newest: true, Limit: 1})
	if err != nil || len(ends) == 0 || ends[0].Actor.Kind == fermata.ActorSystem {
		return "", err
	}
	return ends[0].Actor.DisplayName(), nil
}

// withReason returns a text with the reason behind it, if there is one.
func withReason(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + ": " + reason
}

// storeItemAnswer stores the answer to the question of an item. The task of an item does not say how its question ended,
// so storeItemAnswer reads the resolution. It sets the state of a row that was skipped or rejected.
func (x *execution) storeItemAnswer(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep) error {
	q, err := x.question(ctx, row)
	if err != nil {
		return err
	}
	if err := engine.CheckRecorded(x.s.db.Reader(ctx, x.claim.Task.WorkspaceID), q); err != nil {
		if fermata.CodeOf(err) == fermata.CodePolicyViolation {
			err = permanentError(codeRefused, err)
		}
		return err
	}
	answer, isSkipped, err := closedAnswer(q)
	if err != nil {
		return err
	}
	if isSkipped {
		row.State, row.Note = fermata.StepSkipped, nobodyAnswered
		return nil
	}
	noteUnanswered(row, q)
	if err := x.storeOutput(step, row, answer); err != nil || answer["decision"] != fermata.Reject {
		return err
	}
	if step.OnReject != definition.OnRejectSkip && step.OnRejectGoto == "" {
		return permanentError(codeRejected, fmt.Errorf("%v rejected it", answer["by"]))
	}
	row.State = fermata.StepRejected
	return nil
}

// noteEarlierRun adds a note to a step if the last run of its task began again what an earlier run had begun: the worker
// was lost, or handed the task back. A workflow run is not begun again: the next server continues it from its
// checkpoint.
func noteEarlierRun(r store.Reader, row *fermata.WorkflowStep, run *fermata.Run, runner string) error {
	if run == nil || run.Attempt == 1 || runner == fermata.RunnerWorkflow {
		return nil
	}
	runs, err := r.Runs(run.TaskID)
	for _, before := range slices.Backward(runs) {
		if before.ID == run.ID {
			continue
		}
		if why := whyBegunAgain(before); why != "" {
			addNote(row, "run again: "+why)
			break
		}
	}
	return err
}

// whyBegunAgain returns why another run began after this one, or "" if this one had a result.
func whyBegunAgain(run *fermata.Run) string {
	switch run.State {
	case fermata.RunLost:
		return cmp.Or(run.Summary, "the worker "+run.Worker+" was lost")
	case fermata.RunReleased:
		return cmp.Or(run.Summary, "the worker "+run.Worker+" handed it back")
	default:
		return ""
	}
}

// addNote adds a sentence to the note of a step.
func addNote(row *fermata.WorkflowStep, text string) {
	row.Note = strings.TrimPrefix(row.Note+"; "+text, "; ")
}

// withSummary returns the output of an agent without a schema. Steps read the summary of every agent under the same name,
// also if the agent is a program that reports details.
func withSummary(output any, summary string) any {
	fields, ok := output.(map[string]any)
	if !ok {
		return map[string]any{"summary": summary, "details": output}
	}
	if _, hasOwn := fields["summary"]; !hasOwn {
		fields["summary"] = summary
	}
	return fields
}

// outputOf returns the output of a task, read from its last run.
func (x *execution) outputOf(ctx context.Context, step *definition.Step, t *fermata.Task, run *fermata.Run) (any, error) {
	if run == nil {
		return map[string]any{"summary": t.Summary}, nil
	}
	schema := step.Schema
	if t.Runner == fermata.RunnerWorkflow {
		return decodeObject(run.Details)["outputs"], nil
	}
	if len(schema) == 0 {
		named, err := x.namedTool(ctx, step.Tool)
		if err != nil {
			return nil, err
		}
		if named != nil {
			schema = named.Schema
		}
	}
	parse := ParseOutput
	if t.Runner == fermata.RunnerShell {
		parse = parseCommandOutput
	}
	output, err := parse(schema, run.Details, run.Summary)
	if err == nil {
		if len(schema) == 0 && t.Runner != fermata.RunnerShell {
			output = withSummary(output, run.Summary)
		}
		return output, nil
	}
	err = &stepError{code: codeOutput, err: err}
	if t.Runner != fermata.RunnerShell {
		// An agent usually succeeds if it is told what was wrong.
		err = tool.MarkSafeToRetry(err)
	}
	return nil, err
}
