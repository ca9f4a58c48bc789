package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Codes of the errors of steps.
const (
	codeCondition       = "condition_error"
	codeInput           = "input_error"
	codeOutput          = "output_mismatch"
	codeTooLarge        = "output_too_large"
	codeTool            = "tool_failed"
	codeTimeout         = "step_timeout"
	codeChild           = "child_failed"
	codeNoTool          = "tool_unknown"
	codeQuestionTimeout = "question_timed_out"
	codeWithdrawn       = "question_cancelled"
	codeRefused         = "question_refused"
	codeRejected        = "approval_rejected"
	codeSetAside        = "set_aside"
)

// stepError is the reason why a step failed.
type stepError struct {
	code       string
	err        error
	permanent  bool
	retryAfter time.Duration
	// output is the output of a failed command; nil for other failures.
	output *commandOutput
}

// commandOutput is the exit code and the output of a command.
type commandOutput struct {
	ExitCode *int   `json:"exit_code"`
	Stdout   string `json:"output"`
	Stderr   string `json:"stderr"`
}

func (f *stepError) Error() string             { return f.err.Error() }
func (f *stepError) Unwrap() error             { return f.err }
func (f *stepError) Permanent() bool           { return f.permanent }
func (f *stepError) RetryAfter() time.Duration { return f.retryAfter }

// isStepError reports whether an error says how a step failed.
func isStepError(err error) bool {
	var f *stepError
	return errors.As(err, &f)
}

// permanentError returns a failure that another attempt cannot fix.
func permanentError(code string, err error) error {
	return &stepError{code: code, err: err, permanent: true}
}

// toStepError converts an error of a step to its wire form.
func toStepError(err error) *fermata.StepError {
	out := &fermata.StepError{Code: codeTool, Message: boundText(describeError(err))}
	var f *stepError
	if errors.As(err, &f) {
		out.Code = f.code
		if f.output != nil {
			out.ExitCode, out.Stdout, out.Stderr = f.output.ExitCode, lastOutput(f.output.Stdout), lastOutput(f.output.Stderr)
		}
	}
	out.SafeToRetry = tool.IsSafeToRetry(err) && !isPermanent(err)
	var e *fermata.Error
	if errors.As(err, &e) {
		if f == nil {
			out.Code = string(e.Code)
		}
		out.Hint = e.Hint
	}
	return out
}

// describeError returns the message of an error. The message of a request with several problems does not name them, so it is
// replaced by all of them.
func describeError(err error) string {
	var e *fermata.Error
	if !errors.As(err, &e) || len(e.Problems) < 2 || e.Message != fermata.Invalid().Message {
		return err.Error()
	}
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Field + ": " + p.Message
	}
	return strings.Replace(err.Error(), e.Message, strings.Join(lines, "; "), 1)
}

// lastOutput returns the last part of a command's output, at most
// fermata.MaxStepErrorOutput bytes.
func lastOutput(text string) string {
	return strings.ToValidUTF8(text[max(0, len(text)-fermata.MaxStepErrorOutput):], "")
}

// handleFailure continues the run after a step failed. It defers another
// attempt, or does what the step's on_error says. While parallel steps must
// stop, there is no other attempt, and nobody is asked.
func (x *execution) handleFailure(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, cause error) error {
	row.Error = x.toSafeStepError(cause)
	mustStop := x.isFailingFast()
	if retry := retryOf(step, row.Error); row.Attempt < retry.Attempts && !isPermanent(cause) && !mustStop {
		return x.deferAttempt(ctx, row, x.retryDelay(retry, row.Attempt, cause))
	}
	if err := x.finish(ctx, row, fermata.StepFailed); err != nil {
		return err
	}
	switch {
	case step.OnError == definition.OnErrorContinue && !step.MayBeApproval():
		x.leaveStep(step)
		return nil
	case step.OnError == definition.OnErrorAsk && !mustStop:
		return x.askRemedy(ctx, step, row, "")
	}
	x.st.WaitsFor = ""
	if row.Error.Code == codeSetAside {
		return x.endUnsuccessfully(ctx, fermata.TaskSkipped, fermata.ReasonLowConfidence, fmt.Sprintf("The step %s: %s", step.ID, row.Error.Message))
	}
	return x.endUnsuccessfully(ctx, fermata.TaskFailed, failureReasonOf(row.Error), fmt.Sprintf("The step %s failed: %s", step.ID, row.Error.Message))
}

// endSentence returns a text with a full stop, unless it ends a sentence already.
func endSentence(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// failureReasonOf returns the reason with which a run ends after a failed step.
func failureReasonOf(e *fermata.StepError) string {
	switch e.Code {
	case codeQuestionTimeout:
		return fermata.ReasonQuestionTimedOut
	case codeRejected:
		return fermata.ReasonRejected
	}
	return fermata.ReasonStepFailed
}

// defaultRetry applies to steps without a retry setting, after an error that is
// safe to retry.
var defaultRetry = definition.Retry{Attempts: 3, Backoff: 10 * time.Second, MaxBackoff: 10 * time.Minute, Factor: 2}

// retryOf returns the retry settings of a step after an error.
func retryOf(step *definition.Step, stepErr *fermata.StepError) definition.Retry {
	switch {
	case step.Retry != nil:
		return *step.Retry
	case stepErr.SafeToRetry:
		return defaultRetry
	}
	return definition.Retry{}
}

func isPermanent(err error) bool {
	var f tool.Failure
	return errors.As(err, &f) && f.Permanent()
}

// jitter is the largest share by which a retry delay is lengthened. Without it,
// runs that failed together would all retry together.
const jitter = 0.2

// retryDelay returns the time until the next attempt: the longer one of the step's backoff and the time that the failed tool
// asks for, plus jitter.
func (x *execution) retryDelay(retry definition.Retry, failures int, cause error) time.Duration {
	delay := retry.Delay(failures)
	var f tool.Failure
	if errors.As(cause, &f) {
		delay = max(delay, f.RetryAfter())
	}
	if x.s.Stub != nil {
		return delay
	}
	return delay + time.Duration(rand.Float64()*jitter*float64(delay)) //nolint:gosec // no secret depends on it
}

// deferAttempt defers the run until its next attempt.
func (x *execution) deferAttempt(ctx context.Context, row *fermata.WorkflowStep, delay time.Duration) error {
	now, err := x.s.db.Now(ctx)
	if err != nil {
		return err
	}
	until := fermata.TruncateTime(now.Add(max(delay, time.Millisecond)))
	row.Attempt++
	row.State, row.Until, row.Note = fermata.StepWaiting, &until, fmt.Sprintf("attempt %d failed: %s", row.Attempt-1, row.Error.Message)
	x.st.WaitsFor = waitForRetry
	x.touch(row)
	return x.parkOn(ctx, &until)
}

// askRemedy asks a person what to do about a failed step. notice is what the person reads before the error; it may be "".
func (x *execution) askRemedy(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, notice string) error {
	x.st.WaitsFor = waitForRemedy
	if len(x.st.Input) > 0 && row.Error.Code == codeInput {
		// The step did not run with this input, so the next attempt must not use it.
		x.st.Input, x.st.InputBy = nil, ""
		notice = "The other input was not used. Trying again takes the step's own input."
	}
	row.State, row.EndedAt = fermata.StepWaiting, nil
	ask := fermata.Ask{
		Type: fermata.ErrorRecovery, Title: truncate(fmt.Sprintf("The step %s of %s failed", step.ID, x.run.Workflow), fermata.MaxTitle),
		Body:    strings.TrimPrefix(notice+"\n\n"+row.Error.Message, "\n\n"),
		Context: &fermata.QuestionContext{Step: step.ID, Error: row.Error.Message, Preview: &fermata.Preview{Kind: "json", Text: indentJSON(row.Input)}},
		Items:   remediesOf(step, !x.isAlone()),
		Timeout: fermata.Never, State: x.questionState(row),
	}
	x.nameIssue(&ask)
	return x.suspend(ctx, step, row, ask)
}

// remediesOf returns the items of the question about a failed step. hasBranches says that the run has other branches.
func remediesOf(step *definition.Step, hasBranches bool) []fermata.Item {
	abort := fermata.Option{Value: fermata.RemedyAbort, Label: "End the run as failed", Danger: true}
	if hasBranches {
		abort.Description = "also cancels its other branches and their questions"
	}
	action := fermata.Item{Key: fermata.RemedyKey, Prompt: "What is to be done?", ResponseType: fermata.ResponseChoice, Options: []fermata.Option{
		{Value: fermata.RemedyRetry, Label: "Try again"},
		{Value: fermata.RemedyRetryWithInput, Label: "Try again with another input", Description: "for operators"},
		{Value: fermata.RemedySkip, Label: "Skip the step and go on"},
		abort,
	}}
	if takesOwnInputOnly(step) {
		action.Options = slices.DeleteFunc(action.Options, func(o fermata.Option) bool {
			// A run must not continue without an approval that was not given.
			return o.Value == fermata.RemedyRetryWithInput || o.Value == fermata.RemedySkip && step.MayBeApproval()
		})
		return []fermata.Item{action}
	}
	no := false
	return []fermata.Item{
		action,
		{Key: fermata.RemedyInputKey, Prompt: "The other input, as a JSON object (for trying again with it)", ResponseType: fermata.ResponseText, Required: &no},
	}
}

// maxPreview limits the preview of a failed step's input, in bytes.
const maxPreview = 100_000

func truncate(text string, limit int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), limit)])
}

// indentJSON returns JSON for people to read. It leaves characters such as < and & as they are.
func indentJSON(doc json.RawMessage) string {
	if len(doc) == 0 {
		return "{}"
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(decodeJSON(doc)); err != nil || out.Len() > maxPreview {
		return truncate(string(doc), maxPreview)
	}
	return strings.TrimSpace(out.String())
}

// applyRemedy continues the run with a person's decision about a failed step. If no person decided, the run ends as
// failed after its other branches.
func (x *execution) applyRemedy(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, q *fermata.Question) error {
	x.st.WaitsFor = ""
	if row.ChildID == q.TaskID {
		row.ChildID = ""
	}
	action, _ := q.Resolution.Answers[fermata.RemedyKey].(string)
	if q.Status != fermata.Answered {
		action = ""
	}
	switch notice, err := x.remedyRefusal(ctx, step, q, action); {
	case err != nil:
		return err
	case notice != "":
		return x.askRemedy(ctx, step, row, notice)
	}
	switch action {
	case fermata.RemedySkip:
		row.Note = "failed, and was skipped by " + decidedBy(q)
		if err := x.finish(ctx, row, fermata.StepSkipped); err != nil {
			return err
		}
		x.passStep(step) // the step is not repeated either: a person said to go on
		return nil
	case fermata.RemedyRetryWithInput:
		x.st.Input, x.st.InputBy = otherInputOf(q), decidedBy(q)
	case fermata.RemedyRetry:
	default:
		if err := x.finish(ctx, row, fermata.StepFailed); err != nil {
			return err
		}
		summary := fmt.Sprintf("The step %s failed: %s", step.ID, row.Error.Message)
		if action == fermata.RemedyAbort {
			return x.abort(ctx, summary)
		}
		return x.endUnsuccessfully(ctx, fermata.TaskFailed, fermata.ReasonAborted, summary)
	}
	x.st.Redo = true
	row.Note = ""
	return x.finish(ctx, row, fermata.StepFailed)
}

// remedyRefusal returns why the run cannot do what a person decided about a failed step, or "". The answer was checked
// when it was given. Since then the person may have lost the role, and the step may be another one: a run can move to
// the newest definition while the question is open.
func (x *execution) remedyRefusal(ctx context.Context, step *definition.Step, q *fermata.Question, action string) (string, error) {
	switch {
	case action == fermata.RemedySkip && step.MayBeApproval():
		return errAsksPeople(step).Error(), nil
	case action != fermata.RemedyRetryWithInput:
		return "", nil
	case takesOwnInputOnly(step):
		return errTakesNoInput(step, x.run.ID).Error(), nil
	case !isObject(otherInputOf(q)):
		return "the other input is no JSON object", nil
	}
	isAllowed, err := x.mayGiveInput(ctx, q)
	if err == nil && !isAllowed {
		return decidedBy(q) + " may not give another input: that is for operators of the project", nil
	}
	return "", err
}

// decidedBy returns the name of the person or the kind of actor that decided a
// question.
func decidedBy(q *fermata.Question) string {
	if by := q.Resolution.AnsweredBy; by != nil && by.Name != "" {
		return by.Name
	}
	return string(q.Resolution.DecidedBy)
}
