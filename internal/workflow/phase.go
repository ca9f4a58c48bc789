package workflow

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// outcome is the result of a run so far: done, failed or skipped. The other fields say why the run is not done.
// Expressions read an outcome that is not done as failure.
type outcome struct {
	State  fermata.TaskState `json:"state"`
	Reason string            `json:"reason,omitempty"`
	// Summary is the text that people read about the run.
	Summary string `json:"summary,omitempty"`
	// Step is the step that failed, and Phase is its phase.
	Step  string           `json:"step,omitempty"`
	Phase definition.Phase `json:"phase,omitempty"`
	// Next and TimedOutStep say where the run continues when it is retried. Others are the parallel positions where it
	// continues as well.
	Next         string     `json:"next,omitempty"`
	TimedOutStep string     `json:"silent,omitempty"`
	Others       []position `json:"others,omitempty"`
	// Code and Message are the error of the step.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// IsAborted says that a person ended the run at the failed step, so the steps beside it are cancelled. It is set
	// only while these steps end.
	IsAborted bool `json:"aborted,omitempty"`
}

// isDone reports whether nothing has failed so far.
func (o *outcome) isDone() bool { return o == nil || o.State == fermata.TaskDone }

// failure returns the outcome in the form that expressions read, or nil while nothing has failed.
func (o *outcome) failure() any {
	if o.isDone() {
		return nil
	}
	return map[string]any{"step": o.Step, "code": o.Code, "message": o.Message, "state": string(o.State), "reason": o.Reason}
}

// cancelReason returns the note of the steps that are cancelled beside a failed one.
func (o *outcome) cancelReason() string {
	if o.IsAborted {
		return "a person ended the run"
	}
	return "the step " + o.Step + " failed"
}

// endUnsuccessfully ends the current phase without success, or only the current branch if the phase forks. The run
// continues with the phase that follows a failure. It ends if there is none. In finally, only the current step ends,
// because each of these cleanup steps must be tried.
func (x *execution) endUnsuccessfully(ctx context.Context, state fermata.TaskState, reason, summary string) error {
	return x.endWithFailure(ctx, x.failureOutcome(state, reason, summary))
}

// abort ends the current phase as [execution.endUnsuccessfully] does, with all its branches. In finally, it ends only the
// current step.
func (x *execution) abort(ctx context.Context, summary string) error {
	o := x.failureOutcome(fermata.TaskFailed, fermata.ReasonAborted, summary)
	o.IsAborted = x.phase() != definition.Finally
	return x.endWithFailure(ctx, o)
}

// endWithFailure ends the current phase or branch with an outcome that is not done.
func (x *execution) endWithFailure(ctx context.Context, o *outcome) error {
	forks := x.def.Forks(x.phase())
	step := x.def.Step(cmp.Or(x.st.TimedOutStep, x.st.Next))
	switch {
	case !forks && x.phase() == definition.Finally && step != nil:
		x.st.Outcome = o
		x.passStep(step)
		return x.commit(ctx, nil)
	case !forks:
		return x.enterNextPhase(ctx, o)
	}
	cancelled := x.failBranch(o)
	return x.commit(ctx, func(h *engine.LeasedRun) error { return x.cancelPositions(h, cancelled, o.cancelReason()) })
}

// failureOutcome returns the outcome of the run after a failure. The first failure remains the reason.
func (x *execution) failureOutcome(state fermata.TaskState, reason, summary string) *outcome {
	if o := x.st.Failing; o != nil {
		combinedOutcome := *o
		combinedOutcome.Summary = boundText(endSentence(o.Summary) + "\nBeside it: " + summary)
		combinedOutcome.Others = append(slices.Clip(o.Others), x.st.nextAttempt())
		return &combinedOutcome
	}
	if o := x.st.Outcome; !o.isDone() {
		combinedOutcome := *o
		combinedOutcome.Summary = boundText(o.Summary + "\nThen, in " + string(x.st.Phase) + ": " + summary)
		return &combinedOutcome
	}
	name := cmp.Or(x.st.TimedOutStep, x.st.Next)
	o := &outcome{State: state, Reason: reason, Summary: boundText(summary), Step: name, Phase: x.st.Phase, Code: reason, Message: summary, Next: x.st.Next, TimedOutStep: x.st.TimedOutStep}
	failedRow := name
	if x.st.TimedOutStep != "" {
		failedRow += timeoutSuffix
	}
	if row := x.currentRow(failedRow); row != nil && row.Error != nil {
		o.Code, o.Message = row.Error.Code, row.Error.Message
	}
	return o
}

// phase returns the phase in which the run is.
func (x *execution) phase() definition.Phase { return cmp.Or(x.st.Phase, definition.MainPhase) }

// goBack puts the run back into a phase, as if nothing had failed there.
func (st *state) goBack(phase definition.Phase) {
	st.Phase, st.Outcome = phase, nil
	if phase == definition.MainPhase {
		st.Phase = ""
	}
	if st.Phase != "" {
		st.Outcome = &outcome{State: fermata.TaskDone}
	}
}

// leavePhase continues the run after the last step of a phase.
func (x *execution) leavePhase(ctx context.Context) error {
	o := cmp.Or(x.st.Failing, x.st.Outcome, &outcome{State: fermata.TaskDone})
	x.st.Failing, o.IsAborted = nil, false
	return x.enterNextPhase(ctx, o)
}

// enterNextPhase starts the phase that follows the outcome, or ends the run.
func (x *execution) enterNextPhase(ctx context.Context, o *outcome) error {
	if first := x.firstStepAfter(o); first != nil {
		x.startPhase(first, o)
		return x.commit(ctx, nil)
	}
	x.st.Outcome = o
	if o.isDone() {
		return x.complete(ctx)
	}
	return x.stop(ctx, func(h *engine.LeasedRun) error {
		return h.Fail(o.State, o.Reason, fermata.Finish{Summary: o.Summary})
	})
}

// firstStepAfter returns the first step of the phase that follows the outcome, or nil if the run ends.
func (x *execution) firstStepAfter(o *outcome) *definition.Step {
	for _, phase := range x.st.Phase.NextPhases(o.isDone()) {
		if first := x.def.First(phase); first != nil && (first != definition.FailureComment || x.postsFailureComment(o)) {
			return first
		}
	}
	return nil
}

// startPhase moves the run to the first step of a phase.
func (x *execution) startPhase(first *definition.Step, o *outcome) {
	x.st.enterPhase(x.def, first.Phase)
	x.st.Phase, x.st.Outcome = first.Phase, o
}

// postsFailureComment reports whether a run posts a comment about its failure on its issue. It needs an issue and a tool to comment.
// If nobody answered in time, the channel itself says so on the issue.
func (x *execution) postsFailureComment(o *outcome) bool {
	return o.Reason != fermata.ReasonQuestionTimedOut && x.issue() != "" && (x.s.tools["github_comment"] != nil || x.s.Stub != nil)
}

// failureComment returns the comment that tells people on the issue why the run failed. Text that an agent or a program
// may have written is put into a code block. There it can neither mention people nor contain links.
func (x *execution) failureComment() string {
	o := x.st.Outcome
	verb := "failed"
	if o.State == fermata.TaskSkipped {
		verb = "was set aside"
	}
	fence := "```"
	for strings.Contains(o.Message, fence) {
		fence += "`"
	}
	comment := fmt.Sprintf("The workflow **%s** %s at the step `%s`.\n\n%s\n%s\n%s\n", x.run.Workflow, verb, o.Step, fence, o.Message, fence)
	if x.s.PublicURL != "" {
		comment += fmt.Sprintf("\n[Open the run](%s/workflow-runs/%s)\n", strings.TrimSuffix(x.s.PublicURL, "/"), x.run.ID)
	}
	return comment
}
