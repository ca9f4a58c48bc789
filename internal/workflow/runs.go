package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/redact"
	"github.com/fermata-hq/fermata/internal/store"
)

// RunFilter limits a list of runs. Empty fields do not limit it.
type RunFilter struct {
	Workflow string
	State    []fermata.TaskState
	Trigger  fermata.TriggerType
	Project  string
	Limit    int
	// Cursor continues the list after the run with this id, the last one of the
	// previous page.
	Cursor string
}

// Page sizes.
const (
	defaultPage = 50
	maxPageSize = 500
)

// Runs returns runs, newest first, and the cursor of the next page. The cursor
// is "" on the last page.
func (s *Service) Runs(ctx context.Context, c fermata.Caller, f RunFilter) ([]*fermata.WorkflowRun, string, error) {
	if err := c.CheckPermission(fermata.ToReadWorkflows, fermata.UnloadedResource); err != nil {
		return nil, "", err
	}
	for _, state := range f.State {
		if !slices.Contains(fermata.TaskStates, state) {
			return nil, "", fermata.Invalid(fermata.Problem{Field: "state", Message: "there is no state " + string(state)})
		}
	}
	limit := min(f.Limit, maxPageSize)
	if limit <= 0 {
		limit = defaultPage
	}
	r := s.readerFor(ctx, c).ForLongReads()
	runs, err := r.WorkflowRuns(store.WorkflowRunFilter{
		Workflow: f.Workflow, States: f.State, Trigger: f.Trigger, Project: f.Project, Limit: limit + 1, Before: f.Cursor,
	})
	if err != nil {
		return nil, "", err
	}
	next := ""
	if len(runs) > limit {
		runs, next = runs[:limit], runs[limit-1].ID
	}
	ids := make([]string, 0, len(runs))
	for _, run := range runs {
		ids = append(ids, run.ID)
	}
	currentSteps, err := r.CurrentSteps(ids)
	for _, run := range runs {
		run.Step = currentSteps[run.ID]
		prepareForDisplay(run)
	}
	return runs, next, err
}

func isRetryable(state fermata.TaskState) bool {
	return state == fermata.TaskFailed || state == fermata.TaskCancelled || state == fermata.TaskSkipped
}

// RunDetails returns a run with its steps, its graph and the question that it waits
// for. Text that looks like a secret is removed from the steps' inputs, outputs
// and errors.
func (s *Service) RunDetails(ctx context.Context, c fermata.Caller, givenID string) (*fermata.WorkflowRun, error) {
	if err := c.CheckPermission(fermata.ToReadWorkflows, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	r := s.readerFor(ctx, c)
	id, err := r.FindID("run of a workflow", "tasks", fermata.PrefixTask, givenID)
	if err != nil {
		return nil, err
	}
	run, err := r.WorkflowRun(id)
	if err != nil {
		return nil, err
	}
	if run.Steps, err = r.Steps(id); err != nil {
		return nil, err
	}
	for _, step := range run.Steps {
		step.Input, step.Output = redactJSON(step.Input), redactJSON(step.Output)
		redactError(step.Error)
		if !step.State.IsEnded() && step.Item == nil {
			run.Step = step.Step
		}
	}
	prepareForDisplay(run)
	if d, err := s.loadPinned(r, run.Workflow, run.Hash); err == nil {
		run.Graph = graphOf(d)
	}
	if run.PendingQuestionID == "" {
		return run, nil
	}
	run.PendingQuestion, err = s.e.Question(ctx, c, run.PendingQuestionID)
	return run, err
}

// prepareForDisplay prepares a run for display: it removes text that looks like a secret,
// and sets CanRetry.
func prepareForDisplay(run *fermata.WorkflowRun) {
	run.Inputs, run.Cause, run.CanRetry = redactJSON(run.Inputs), redactJSON(run.Cause), isRetryable(run.State) && run.Reason != fermata.ReasonDefinitionGone
	run.Summary, _ = redact.Text(run.Summary)
}

func redactError(e *fermata.StepError) {
	if e != nil {
		e.Message, _ = redact.Text(e.Message)
	}
}

// redactJSON removes text that looks like a secret from a JSON value.
func redactJSON(doc json.RawMessage) json.RawMessage {
	if len(doc) == 0 {
		return doc
	}
	safe, _ := redact.JSON(doc)
	return safe
}

// Start starts a run by its manual trigger.
func (s *Service) Start(ctx context.Context, c fermata.Caller, name string, inputs map[string]any) (*fermata.WorkflowRun, error) {
	r := s.readerFor(ctx, c)
	w, err := r.Workflow(name)
	if err != nil {
		return nil, err
	}
	if err := c.CheckPermission(fermata.ToStartWorkflow, fermata.InProject(w.Project)); err != nil {
		return nil, err
	}
	d, err := s.loadPinned(r, name, w.Hash)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(w.Triggers, func(t fermata.WorkflowTrigger) bool { return t.Type == fermata.TriggerManual }) {
		return nil, fermata.Errorf(fermata.CodeIllegalTransition, "the workflow %s is not started by hand", name).
			WithHint("add `- manual: true` to its triggers")
	}
	values, err := checkInputs(d, inputs)
	if err != nil {
		return nil, err
	}
	by := c.Actor()
	f := firing{
		def: d, workflow: w, trigger: fermata.TriggerManual, inputs: values, startedBy: &by,
		cause: map[string]any{"type": string(fermata.TriggerManual), "by": c.Name}, mustStart: true,
	}
	id, err := engine.Write(ctx, s.e, c, fermata.ToStartWorkflow, func(tx *store.Tx) (string, error) { return s.fire(tx, f) })
	if err != nil {
		return nil, err
	}
	return s.RunDetails(ctx, c, id)
}

// Retry continues a run that ended without success at the step where it ended.
// If input is not empty, it replaces the input of that step.
func (s *Service) Retry(ctx context.Context, c fermata.Caller, givenID string, input json.RawMessage) (*fermata.WorkflowRun, error) {
	r := s.readerFor(ctx, c)
	id, err := r.FindID("run of a workflow", "tasks", fermata.PrefixTask, givenID)
	if err != nil {
		return nil, err
	}
	run, err := r.WorkflowRun(id)
	if err != nil {
		return nil, err
	}
	d, err := s.pinnedDefinition(r, run)
	if err != nil {
		return nil, err
	}
	if len(input) > 0 {
		if !isObject(input) {
			return nil, fermata.Invalid(fermata.Problem{Field: "input", Message: "must be an object"})
		}
		if err := checkOtherInput(c, run); err != nil {
			return nil, err
		}
	}
	_, err = s.e.ReopenWith(ctx, c, id, func(tx *store.Tx, t *fermata.Task) error {
		if c.Kind == fermata.ActorAgent && t.State == fermata.TaskCancelled {
			return fermata.Errorf(fermata.CodeForbidden, "only a person tries a cancelled run again").WithHint("start a new one: fermata workflow run")
		}
		if !isRetryable(t.State) {
			return errNotRetryable(tx, t)
		}
		st, err := readState(t.Checkpoint)
		if err != nil {
			return err
		}
		if step := d.Step(st.retryPoint()); len(input) > 0 && step != nil {
			if err := s.checkStepInput(tx.Reader, run, d, step, input, "input"); err != nil {
				return err
			}
		}
		st.retryStep(input, c.Name)
		t.Checkpoint = st.bytes()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.RunDetails(ctx, c, id)
}

// errNotRetryable returns the error for a retry of a run that has not failed. Its hint says what the run waits for.
func errNotRetryable(tx *store.Tx, t *fermata.Task) error {
	refusal := fermata.Errorf(fermata.CodeIllegalTransition, "a run that is %s cannot be tried again", t.State)
	if t.State == fermata.TaskDone {
		return refusal.WithHint("send it back to a step: fermata workflow rewind %s STEP; or start a new one: fermata workflow run", t.ID)
	}
	question, err := openQuestionOf(tx, t)
	switch {
	case err != nil:
		return err
	case question != "":
		return refusal.WithHint("it waits for the answer to the question %s: fermata respond %s", question, question)
	}
	return refusal.WithHint("it goes on by itself, and fermata workflow show %s says what it waits for; fermata workflow cancel %s ends it", t.ID, t.ID)
}

// openQuestionOf returns the id of an open question of a run: its own, or else that of one of its branches or items. It
// returns "" if none is open.
func openQuestionOf(tx *store.Tx, t *fermata.Task) (string, error) {
	ids := []string{t.PendingQuestionID}
	steps, err := tx.Steps(t.ID)
	if err != nil {
		return "", err
	}
	for _, step := range steps {
		if !step.State.IsEnded() {
			ids = append(ids, step.QuestionID)
		}
	}
	for _, id := range ids {
		if id == "" {
			continue
		}
		q, err := tx.Question(id)
		if err != nil {
			return "", err
		}
		if q.Status == fermata.Pending {
			return q.ID, nil
		}
	}
	return "", nil
}

func isObject(doc json.RawMessage) bool {
	doc = bytes.TrimSpace(doc)
	return json.Valid(doc) && len(doc) > 0 && doc[0] == '{'
}

// encodeJSON encodes the JSON of an event or a column.
func encodeJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		// This cannot happen: v consists of maps, structs and decoded JSON.
		panic(fmt.Sprintf("workflow: write JSON: %v", err))
	}
	return b
}
