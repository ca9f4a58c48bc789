package workflow

import (
	"context"
	"fmt"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// wait makes the step wait for a time or until an instant, as its input says.
func (x *execution) wait(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, input map[string]any) error {
	now, err := x.s.db.Now(ctx)
	if err != nil {
		return err
	}
	until, err := parseUntil(input, now)
	if err != nil { // checkWait has read the same input
		return x.handleFailure(ctx, step, row, permanentError(codeInput, err))
	}
	until = fermata.TruncateTime(until)
	if !until.After(now) {
		if err := x.finish(ctx, row, fermata.StepDone); err != nil {
			return err
		}
		x.leaveStep(step)
		return nil
	}
	x.st.WaitsFor = waitForTime
	row.State, row.Until = fermata.StepWaiting, &until
	x.touch(row)
	return x.parkOn(ctx, &until)
}

// checkWait returns an error for an input that says no time.
func checkWait(input map[string]any) error {
	_, err := parseUntil(input, time.Time{})
	return err
}

// parseUntil returns the time until which an input says to wait.
func parseUntil(input map[string]any, now time.Time) (time.Time, error) {
	if length, ok := input["for"].(string); ok {
		d, err := fermata.Timeout(length).DurationOfField("for")
		return now.Add(d), err
	}
	at, _ := input["until"].(string)
	until, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return until, fermata.Invalid(fermata.Problem{Field: "until", Message: fmt.Sprintf("%q is no instant", at)}).WithHint("write it as 2026-07-01T12:00:00Z")
	}
	return until, fermata.CheckInstant("until", until)
}

// endWait ends a wait if its time has come, or if a person resumed the run
// earlier.
func (x *execution) endWait(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep) error {
	switch {
	case row.Until == nil:
		row.Note = "cut short by a person"
	case x.now.Before(*row.Until):
		return x.parkOn(ctx, row.Until)
	}
	if err := x.finish(ctx, row, fermata.StepDone); err != nil {
		return err
	}
	x.leaveStep(step)
	return nil
}
