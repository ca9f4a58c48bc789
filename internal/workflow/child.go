package workflow

import (
	"cmp"
	"context"
	"encoding/json"
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
	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// unit is one piece of work of a step: the step itself, or one of its items.
type unit struct {
	row   *fermata.WorkflowStep
	input map[string]any
	// feedback tells an agent why the previous attempt failed. It is "" on the first attempt.
	feedback string
}

// child describes how a step delegates its work to a task.
type child struct {
	schema json.RawMessage
	// create creates the task, in the transaction that stops the run.
	create func(x *execution, h *engine.LeasedRun, step *definition.Step, u unit) (*fermata.Task, error)
}

// spec is the data that the worker reads from a step's task, in addition to the text of the task.
type spec struct {
	Command []string `json:"command,omitempty"`
	// WorkingCopy is the id of the run, because its steps share one working copy. A step with its own working copy has
	// From instead, the id of the run from whose branch that copy starts.
	WorkingCopy string `json:"working_copy,omitempty"`
	From        string `json:"from,omitempty"`
	Push        bool   `json:"push,omitempty"`
	// PlainOutput says that the output of the command is data: a worker reads no agent's result from it. Otherwise a
	// failed command could print a line that counts as success.
	PlainOutput bool `json:"plain_output,omitempty"`
	// CommandReport says what the worker puts into the details of a command's run; see [commandReport].
	CommandReport string `json:"command_report,omitempty"`
	// Timeout is the time limit of one execution, as time.Duration.String writes it.
	Timeout string `json:"timeout,omitempty"`
	Key     string `json:"key"`
}

// builtInChild returns how a built-in tool is delegated. It reports false for a tool that is not delegated.
func (s *Service) builtInChild(name string) (child, bool) {
	if s.Stub != nil {
		return child{}, false
	}
	switch name {
	case toolAgent:
		return child{create: createAgentTask}, true
	case toolShell:
		return child{create: createShellTask}, true
	case toolWorkflow:
		return child{create: s.createRun}, true
	}
	return child{}, false
}

// namedToolChild returns how a tool of the workspace is delegated.
func (s *Service) namedToolChild(n *fermata.NamedTool) child {
	return child{schema: n.Schema, create: func(x *execution, h *engine.LeasedRun, step *definition.Step, u unit) (*fermata.Task, error) {
		texts, err := renderNamedTool(n, u.input, x.run, x.inputs, x.cause)
		if err != nil {
			return nil, err
		}
		if n.Agent != nil {
			return x.createTask(h, step, u, fermata.NewTask{
				Runner: n.Agent.Runner, Agent: n.Agent.Agent, Size: n.Agent.Size, Isolated: n.Isolated, Body: AgentPrompt(texts[0], n.Schema) + u.feedback,
			}, spec{Timeout: configuredTimeout(step, n)})
		}
		return x.createTask(h, step, u, fermata.NewTask{Runner: fermata.RunnerShell, Isolated: n.Isolated}, commandSpec(texts, step, n))
	}}
}

// renderNamedTool returns the prompt of an agent, or the arguments of a command, with the input of a step. It returns a
// [stepError] if the input lacks a value.
func renderNamedTool(n *fermata.NamedTool, input map[string]any, run *fermata.WorkflowRun, inputs, cause map[string]any) ([]string, error) {
	env := definition.Env{"input": input, "inputs": inputs, "trigger": cause, "run": map[string]any{"id": run.ID, "workflow": run.Workflow}}
	sources, what := n.Command, "command"
	if n.Agent != nil {
		sources, what = []string{n.Agent.Prompt}, "prompt"
	}
	texts := make([]string, len(sources))
	for i, source := range sources {
		var err error
		if texts[i], err = renderText(source, env); err != nil {
			return nil, permanentError(codeInput, fmt.Errorf("the %s of %s: %w", what, n.Name, err))
		}
	}
	return texts, nil
}

// commandSpec returns the spec of the task of a command.
func commandSpec(argv []string, step *definition.Step, n *fermata.NamedTool) spec {
	report := reportOutput
	if len(step.Schema) > 0 || n != nil && len(n.Schema) > 0 {
		report = reportJSON
	}
	return spec{Command: argv, PlainOutput: true, CommandReport: report, Timeout: configuredTimeout(step, n)}
}

// configuredTimeout returns the time limit that a step or its tool sets for an execution, or "" if neither sets one.
func configuredTimeout(step *definition.Step, n *fermata.NamedTool) string {
	if step.Timeout == 0 && (n == nil || n.Timeout == "") {
		return ""
	}
	return callTimeout(step, n).String()
}

// renderText renders the templates in a text.
func renderText(source string, env definition.Env) (string, error) {
	v, err := parseTemplate(source)
	if err != nil {
		return "", err
	}
	rendered, err := v.Render(env)
	if err != nil {
		return "", err
	}
	if s, ok := rendered.(string); ok {
		return s, nil
	}
	if rendered == nil {
		return "", fmt.Errorf("%s is null", source)
	}
	return string(encodeJSON(rendered)), nil
}

// parseTemplate parses a text with templates.
func parseTemplate(source string) (definition.Value, error) {
	v, faults := expression.Text(source)
	if len(faults) > 0 {
		return v, fmt.Errorf("%s", faults[0].Message)
	}
	return v, nil
}

func createAgentTask(x *execution, h *engine.LeasedRun, step *definition.Step, u unit) (*fermata.Task, error) {
	n, sp := agentTask(step, u)
	return x.createTask(h, step, u, n, sp)
}

// agentTask returns the task for the agent of a step.
func agentTask(step *definition.Step, u unit) (fermata.NewTask, spec) {
	str := func(key string) string { s, _ := u.input[key].(string); return s }
	isolated, _ := u.input["isolated"].(bool)
	return fermata.NewTask{
		Title: str("title"), Runner: str("runner"), Agent: str("agent"), Size: str("size"), Isolated: isolated, Body: AgentPrompt(str("prompt"), step.Schema) + u.feedback,
	}, spec{Timeout: configuredTimeout(step, nil)}
}

func createShellTask(x *execution, h *engine.LeasedRun, step *definition.Step, u unit) (*fermata.Task, error) {
	n, sp := shellTask(step, u)
	return x.createTask(h, step, u, n, sp)
}

// shellTask returns the task for the command of a step.
func shellTask(step *definition.Step, u unit) (fermata.NewTask, spec) {
	var argv []string
	if script, ok := u.input["run"].(string); ok {
		argv = []string{"sh", "-eu", "-c", script}
	}
	isolated, _ := u.input["isolated"].(bool)
	list, _ := u.input["command"].([]any)
	for _, arg := range list {
		text, _ := expression.ScalarText(arg) // the schema allows nothing else
		argv = append(argv, text)
	}
	return fermata.NewTask{Runner: fermata.RunnerShell, Isolated: isolated}, commandSpec(argv, step, nil)
}

// createTask creates the task of a step.
func (x *execution) createTask(h *engine.LeasedRun, step *definition.Step, u unit, n fermata.NewTask, sp spec) (*fermata.Task, error) {
	n, err := x.fillTask(step, u, n, sp)
	if err != nil {
		return nil, err
	}
	return h.CreateChild(n, x.asker())
}

// fillTask adds to the task of a step what all such tasks have.
func (x *execution) fillTask(step *definition.Step, u unit, n fermata.NewTask, sp spec) (fermata.NewTask, error) {
	if n.Title == "" {
		n.Title = x.run.Workflow + ": " + step.ID
		if u.row.Item != nil {
			n.Title += fmt.Sprintf(" (%d)", *u.row.Item+1)
		}
	}
	sp.Key = u.row.Key()
	if step.OwnCopy {
		sp.From, sp.Push = x.run.ID, x.mustPushStepBranches()
	} else {
		sp.WorkingCopy, sp.Push = x.run.ID, x.mustPushRunBranch()
	}
	if n.Runner == fermata.RunnerShell && step.Retry != nil && step.Retry.Attempts == 1 {
		// If the worker of a command is lost, nobody knows how much of the command ran. So a command with one attempt
		// is not run again.
		n.MaxAttempts = 1
	}
	n.Title, n.Project, n.Spec = truncate(n.Title, fermata.MaxTaskTitle), x.run.Project, encodeJSON(sp)
	return n, x.checkTask(n)
}

// mustPushRunBranch reports whether the workflow opens a pull request, so that the branch of the run must be pushed to GitHub.
func (x *execution) mustPushRunBranch() bool {
	for i := range x.def.Steps {
		if x.def.Steps[i].Tool == "github_create_pr" {
			return true
		}
	}
	return false
}

// mustPushStepBranches reports whether the workflow opens a pull request from a named branch. Then the branches of its steps must
// be pushed to GitHub.
func (x *execution) mustPushStepBranches() bool {
	return slices.ContainsFunc(x.def.Steps, func(step definition.Step) bool {
		_, namesHead := step.Input.Field("head")
		return step.Tool == "github_create_pr" && namesHead
	})
}

// delegate creates a task for each unit. The step waits until one of these tasks ends, or one of the tasks in open,
// which exist already.
func (x *execution) delegate(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, c child, units []unit, open []string) error {
	for i := range units {
		var err error
		if units[i].feedback, err = x.feedback(ctx, step, units[i].row); err != nil {
			return err
		}
	}
	x.st.WaitsFor = waitForChildren
	row.State = fermata.StepWaiting
	x.touch(row)
	err := x.park(ctx, nil, func(h *engine.LeasedRun) ([]string, error) {
		ids := slices.Clone(open)
		for _, u := range units {
			t, err := c.create(x, h, step, u)
			if err != nil {
				return nil, err
			}
			u.row.State, u.row.ChildID = fermata.StepWaiting, t.ID
			x.touch(u.row)
			ids = append(ids, t.ID)
		}
		return ids, nil
	})
	if refusal := asChildRefusal(err); refusal != nil {
		x.st.WaitsFor = ""
		for _, u := range units {
			u.row.ChildID = ""
		}
		return x.failAfterItems(ctx, step, row, open, refusal)
	}
	return err
}

// asChildRefusal returns the failure of a step whose task could not be created. It returns nil for any other error.
func asChildRefusal(err error) error {
	if f, ok := err.(*stepError); ok { //nolint:errorlint // nothing wraps the error that create returns
		return f
	}
	if fermata.CodeOf(err) == fermata.CodeInvalidRequest {
		return permanentError(codeInput, err)
	}
	return nil
}

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
		return true, withCommandOutput(&stepError{code: codeChild, err: errors.New(failureReason(t, run))}, t, run)
	}
	output, err := x.outputOf(ctx, step, t, run)
	if err != nil {
		return true, withCommandOutput(err, t, run)
	}
	notePrinted(row, output)
	return true, withCommandOutput(x.storeOutput(step, row, output), t, run)
}

// notePrinted adds notes to a step if its output lacks some of the bytes that a command printed.
func notePrinted(row *fermata.WorkflowStep, output any) {
	fields, _ := output.(map[string]any)
	if fields["left_out"] != nil {
		addNote(row, fmt.Sprintf("the first %v bytes of what it printed were left out", fields["left_out"]))
	}
	if text, _ := fields["output"].(string); strings.ContainsRune(text, utf8.RuneError) && isCommandOutput(fields) {
		addNote(row, "each \uFFFD in its output stands for bytes that are no UTF-8 text")
	}
}

// failureReason returns the reason why a task was not done. The run is its last one, or nil.
func failureReason(t *fermata.Task, run *fermata.Run) string {
	switch {
	case t.State == fermata.TaskFailed && t.Summary != "":
		return t.Summary
	case t.Reason == fermata.ReasonAttemptsUsedUp && t.MaxAttempts == 1:
		why := "its worker was lost"
		if run != nil {
			why = cmp.Or(run.Summary, why)
		}
		return why + ", and it is not run again"
	case t.Reason == fermata.ReasonAttemptsUsedUp:
		return fmt.Sprintf("its worker was lost %d times", t.Attempts)
	}
	return fmt.Sprintf("its task is %s: %s", t.State, cmp.Or(t.Summary, t.Reason))
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
	details := run.Details
	if t.Runner == fermata.RunnerShell {
		details = parseCommandReport(run.Details).result
	}
	output, err := ParseOutput(schema, details, run.Summary)
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
