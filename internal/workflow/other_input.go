package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Another input for a step replaces the input of the definition, and the input
// that people approved. So only a member that may change the definition may
// give one. A question or an approval never takes another input: the definition
// says whom it asks, and for what. A step with foreach takes none, because each
// of its items has an input of its own.

// checkOtherInput returns an error if the caller may not change the workflow of
// the run.
func checkOtherInput(c fermata.Caller, run *fermata.WorkflowRun) error {
	return c.CheckPermission(fermata.ToDefineWorkflow, fermata.InProject(projectOrDefault(run.Project)))
}

// asksPeople reports whether the step is a question or an approval.
func asksPeople(step *definition.Step) bool {
	return step.Tool == toolQuestion || step.Tool == toolApproval
}

// errAsksPeople returns the refusal of another input for a question.
func errAsksPeople(step *definition.Step) error {
	return fermata.Errorf(fermata.CodeIllegalTransition, "the step %s asks people, so its input cannot be replaced", step.ID).
		WithHint("try it again as it is; or change the workflow, and start a new run")
}

// takesOwnInputOnly reports whether no other input can replace the input of the step.
func takesOwnInputOnly(step *definition.Step) bool { return asksPeople(step) || step.Foreach != nil }

// errTakesNoInput returns the refusal of another input for a step that takes none.
func errTakesNoInput(step *definition.Step, runID string) error {
	if asksPeople(step) {
		return errAsksPeople(step)
	}
	return fermata.Errorf(fermata.CodeIllegalTransition, "the step %s has foreach: each item has its own input, so one input cannot replace them", step.ID).
		WithHint("try it again as it is; or change the workflow, and move the run to it: fermata workflow move %s", runID)
}

// mayGiveInput reports whether the person that answered the question about an
// error may give another input.
func (x *execution) mayGiveInput(ctx context.Context, q *fermata.Question) (bool, error) {
	by := q.Resolution.AnsweredBy
	if by == nil || by.Kind != fermata.ActorHuman {
		return false, nil
	}
	m, err := x.s.db.Reader(ctx, x.claim.Task.WorkspaceID).Member(by.ID)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return false, nil
	}
	return err == nil && checkOtherInput(m.Caller(), x.run) == nil, err
}

// otherInputOf returns the input that the answer to the question about a failed step gives.
func otherInputOf(q *fermata.Question) json.RawMessage {
	text, _ := q.Resolution.Answers[fermata.RemedyInputKey].(string)
	return json.RawMessage(text)
}

// checkAnsweredInput returns an error if the step about whose failure a question asks cannot take an input.
func (s *Service) checkAnsweredInput(r store.Reader, q *fermata.Question, input json.RawMessage) error {
	state := decodeObject(q.State)
	runID, _ := state["run"].(string)
	stepID, _ := state["step"].(string)
	run, err := r.WorkflowRun(runID)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return nil // no run of a workflow asks
	}
	if err != nil {
		return err
	}
	d, err := s.pinnedDefinition(r, run)
	if err != nil {
		return err
	}
	if step := d.Step(stepID); step != nil {
		return s.checkStepInput(r, run, d, step, input, "answers."+fermata.RemedyInputKey)
	}
	return nil
}

// checkStepInput returns an error if a step of a run cannot take another input. field is the name of the input in the
// request of the caller.
func (s *Service) checkStepInput(r store.Reader, run *fermata.WorkflowRun, d *definition.Workflow, step *definition.Step, doc json.RawMessage, field string) error {
	if takesOwnInputOnly(step) {
		return errTakesNoInput(step, run.ID)
	}
	x := &execution{s: s, run: run, def: d, secrets: s.secretsOf(d), cause: decodeObject(run.Cause), inputs: decodeObject(run.Inputs)}
	err := x.checkOtherInput(r, step, doc)
	var f *stepError
	if !errors.As(err, &f) {
		return err
	}
	problem := fermata.Problem{Field: field, Message: fmt.Sprintf("%s does not take it: %s", step.Tool, f.Error())}
	return fermata.Invalid(problem).WithHint("fermata workflow tools show %s says what it takes", step.Tool)
}

// checkOtherInput checks another input as the step itself does when it begins. It returns a [stepError] if the step would
// fail. What a server of tools takes is known only when it is called.
func (x *execution) checkOtherInput(r store.Reader, step *definition.Step, doc json.RawMessage) error {
	if err := checkInputSize(doc); err != nil {
		return permanentError(codeInput, err)
	}
	if lost := fermata.FindLostNumber(doc); lost != "" {
		return permanentError(codeInput, fermata.LostNumberError("the input", lost))
	}
	input, err := x.restoreSecrets(step, decodeObject(doc))
	if err != nil {
		return err
	}
	u := unit{row: &fermata.WorkflowStep{TaskID: x.run.ID, Step: step.ID}, input: input}
	if err := x.checkInput(step, u.row, u.input); err != nil || x.s.Stub != nil {
		return err // a simulation has no other workflows and no tools of the workspace
	}
	c, isDelegated := x.s.builtInDelegation(step.Tool)
	if !isDelegated {
		named, err := r.NamedTool(step.Tool)
		if fermata.CodeOf(err) == fermata.CodeNotFound || err == nil && named.Server != nil {
			return nil
		}
		if err != nil {
			return err
		}
		c = namedToolDelegation(named)
	}
	return c.check(x, r, step, u)
}
