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

// outcome is how a run went so far: done, failed or skipped. The rest says why it is not
// done, and is what expressions call failure.
type outcome struct {
	State  fermata.TaskState `json:"state"`
	Reason string            `json:"reason,omitempty"`
	// Summary is what people read of the run.
	Summary string `json:"summary,omitempty"`
	// Step is the step that failed, and Phase its list.
	Step  string           `json:"step,omitempty"`
	Phase definition.Phase `json:"phase,omitempty"`
	// Next and Silent are where the run goes on when it is tried again, and Others where it goes on beside that.
	Next   string  `json:"next,omitempty"`
	Silent string  `json:"silent,omitempty"`
	Others []place `json:"others,omitempty"`
	// Code and Message are the error of the step.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// isDone reports whether nothing has failed so far.
func (o *outcome) isDone() bool { return o == nil || o.State == fermata.TaskDone }

// failure is what expressions see of why a run failed; nil while it has not.
func (o *outcome) failure() any {
	if o.isDone() {
		return nil
	}
	return map[string]any{"step": o.Step, "code": o.Code, "message": o.Message, "state": string(o.State), "reason": o.Reason}
}

// end ends the present list of steps without success, or the present place of one that forks. The run goes on with the list that
// follows a failure, and ends if there is none.
func (x *execution) end(ctx context.Context, to fermata.TaskState, reason, summary string) error {
	o := x.unsuccessful(to, reason, summary)
	if !x.def.Forks(x.phase()) {
		return x.enter(ctx, o)
	}
	cancelled := x.failBranch(o)
	return x.commit(ctx, func(h *engine.LeasedRun) error { return x.cancelPlaces(h, cancelled, "the step "+o.Step+" failed") })
}

// unsuccessful returns the outcome of the run after a failure. The first failure remains the reason.
func (x *execution) unsuccessful(to fermata.TaskState, reason, summary string) *outcome {
	if o := x.st.Failing; o != nil {
		also := *o
		also.Summary = boundText(o.Summary + "\nBeside it: " + summary)
		also.Others = append(slices.Clip(o.Others), x.st.nextAttempt())
		return &also
	}
	if o := x.st.Outcome; !o.isDone() {
		also := *o
		also.Summary = boundText(o.Summary + "\nThen, in " + string(x.st.Phase) + ": " + summary)
		return &also
	}
	name := cmp.Or(x.st.Silent, x.st.Next)
	o := &outcome{State: to, Reason: reason, Summary: boundText(summary), Step: name, Phase: x.st.Phase, Code: reason, Message: summary, Next: x.st.Next, Silent: x.st.Silent}
	if row := x.current(name); row != nil && row.Error != nil {
		o.Code, o.Message = row.Error.Code, row.Error.Message
	}
	return o
}

// phase is the list of steps in which the run is.
func (x *execution) phase() definition.Phase { return cmp.Or(x.st.Phase, definition.MainPhase) }

// goBack makes the run be in a list of steps once more, as if nothing had failed there.
func (st *state) goBack(phase definition.Phase) {
	st.Phase, st.Outcome = phase, nil
	if phase == definition.MainPhase {
		st.Phase = ""
	}
	if st.Phase != "" {
		st.Outcome = &outcome{State: fermata.TaskDone}
	}
}

// leavePhase goes on behind the last step of a list.
func (x *execution) leavePhase(ctx context.Context) error {
	o := cmp.Or(x.st.Failing, x.st.Outcome, &outcome{State: fermata.TaskDone})
	x.st.Failing = nil
	return x.enter(ctx, o)
}

// enter goes on with the list of steps that follows by how the run went, or ends the run.
func (x *execution) enter(ctx context.Context, o *outcome) error {
	if first := x.following(o); first != nil {
		x.follow(first, o)
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

// following is the first step of the list that follows by how the run went; nil where the
// run ends.
func (x *execution) following(o *outcome) *definition.Step {
	for _, phase := range x.st.Phase.NextPhases(o.isDone()) {
		if first := x.def.First(phase); first != nil && (first != definition.Told || x.tells(o)) {
			return first
		}
	}
	return nil
}

// follow goes on at the first step of a list.
func (x *execution) follow(first *definition.Step, o *outcome) {
	x.st.begin(x.def, first.Phase)
	x.st.Phase, x.st.Outcome = first.Phase, o
}

// tells reports whether a run comments on its issue that it failed. It needs an issue, and a tool to comment with. The channel
// tells by itself that nobody answered in time.
func (x *execution) tells(o *outcome) bool {
	return o.Reason != fermata.ReasonQuestionTimedOut && x.issue() != "" && (x.s.tools["github_comment"] != nil || x.s.Stub != nil)
}

// failureWords tells people on the issue of the run why it failed. What an agent or a
// program may have written stands in a block of code, where it names nobody and links to nothing.
func (x *execution) failureWords() string {
	o := x.st.Outcome
	verb := "failed"
	if o.State == fermata.TaskSkipped {
		verb = "was set aside"
	}
	fence := "```"
	for strings.Contains(o.Message, fence) {
		fence += "`"
	}
	words := fmt.Sprintf("The workflow **%s** %s at the step `%s`.\n\n%s\n%s\n%s\n", x.run.Workflow, verb, o.Step, fence, o.Message, fence)
	if x.s.PublicURL != "" {
		words += fmt.Sprintf("\n[Open the run](%s/workflow-runs/%s)\n", strings.TrimSuffix(x.s.PublicURL, "/"), x.run.ID)
	}
	return words
}
