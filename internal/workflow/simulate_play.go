package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
)

// play starts the run and brings it to its end.
func (r *simulation) play(ctx context.Context) (*fermata.TestReport, error) {
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	for {
		run, err := r.s.RunDetails(ctx, tester, r.runID)
		if err != nil {
			return nil, err
		}
		if run.State.IsEnded() || len(r.report.Failures) > 0 {
			return r.checkExpectations(ctx, run)
		}
		if err := r.advance(ctx, run); err != nil {
			return nil, err
		}
		engine.Sleep(ctx, time.Millisecond)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

func (r *simulation) start(ctx context.Context) error {
	inputs, err := checkInputs(r.def, r.script.Inputs)
	if err != nil {
		return err
	}
	cause := map[string]any{"type": string(fermata.TriggerManual), "by": tester.Name}
	for name, v := range r.script.Trigger {
		cause[name] = v
	}
	// A simulation may start the workflow even if it has no manual trigger.
	r.runID, err = engine.Write(ctx, r.e, tester, fermata.ToStartWorkflow, func(tx *store.Tx) (string, error) {
		w, err := r.s.saveDefinition(tx, tester, r.def, Definition{Source: string(r.source)})
		if err != nil {
			return "", err
		}
		tx.SetSchedules(w.Name, nil)
		return r.s.fire(tx, firing{def: r.def, workflow: w, trigger: fermata.TriggerManual, inputs: inputs, cause: cause, mustStart: true})
	})
	return err
}

// advance does the next thing that the run waits for.
func (r *simulation) advance(ctx context.Context, run *fermata.WorkflowRun) error {
	switch run.State {
	case fermata.TaskAwaitingInput, fermata.TaskAwaitingApproval:
		if run.PendingQuestion != nil && run.PendingQuestion.Status == fermata.Pending {
			return r.reply(ctx, run.Step, run.PendingQuestion)
		}
	case fermata.TaskBlocked, fermata.TaskDeferred:
		return r.advanceBlocked(ctx, run)
	default:
		// The run moves forward by itself.
	}
	return nil
}

// advanceBlocked answers a question that the run asked in a child task. If no question is open, it advances the clock until
// the run continues by itself.
func (r *simulation) advanceBlocked(ctx context.Context, run *fermata.WorkflowRun) error {
	for _, s := range run.Steps {
		if s.QuestionID == "" || s.State != fermata.StepWaiting {
			continue
		}
		q, err := r.e.Question(ctx, tester, s.QuestionID)
		if err != nil {
			return err
		}
		if q.Status == fermata.Pending {
			return r.reply(ctx, s.Step, q)
		}
	}
	t, err := r.e.Task(ctx, tester, run.ID)
	if err != nil || t.DeferUntil == nil {
		return err
	}
	return r.advanceClock(ctx, *t.DeferUntil)
}

// advanceClock advances the fake clock to an instant.
func (r *simulation) advanceClock(ctx context.Context, at time.Time) error {
	now, err := r.db.Now(ctx)
	if err == nil && at.After(now) {
		r.clockAhead.Add(int64(at.Sub(now) + time.Millisecond))
	}
	return err
}

// reply answers a question as the script says.
func (r *simulation) reply(ctx context.Context, step string, q *fermata.Question) error {
	replies := r.script.Answers[step]
	prompt := q.Title
	if len(q.Items) > 0 && q.Type != fermata.Approval {
		prompt = q.Items[0].Prompt
	}
	r.prompts[step] = prompt
	if r.script.isGuessed {
		replies = Replies{r.guessReply(ctx, step, q)}
	}
	if len(replies) == 0 {
		r.addFailure("the step %s asks %q, and the script has no answer for it", step, prompt)
		return nil
	}
	n := r.askCounts[q.ID+step]
	if n == 0 {
		r.askCounts[step]++
		r.askCounts[q.ID+step] = r.askCounts[step]
		n = r.askCounts[step]
	}
	reply := replies[min(n, len(replies))-1]
	if reply.Timeout {
		if q.Deadline == nil {
			r.addFailure("the step %s waits for ever: there is no deadline to pass", step)
			return nil
		}
		return r.advanceClock(ctx, *q.Deadline)
	}
	if n > maxRemedies && q.Type == fermata.ErrorRecovery {
		r.addFailure("the step %s failed and asked %d times, and the answers try it again", step, maxRemedies)
		return nil
	}
	answer, err := reply.answerTo(q)
	if err == nil {
		_, err = r.e.Answer(ctx, r.voters[len(q.Votes)%len(r.voters)], q.ID, answer)
	}
	if err != nil && fermata.CodeOf(err) != fermata.CodeQuestionClosed {
		r.addFailure("the answer to the step %s is refused: %s", step, err)
	}
	return nil
}

// maxRemedies is how often a step may fail and ask in a test. Nothing else limits it, so a test whose last answer is retry
// would never end.
const maxRemedies = 50

// answerTo returns the reply as the answer to a question. If the question has several items, a single answer belongs to
// the only required one. A text may be what a person types, such as the label of an option.
func (reply *Reply) answerTo(q *fermata.Question) (fermata.Answer, error) {
	answer := fermata.Answer{Comment: reply.Comment, ActionHash: q.ActionHash}
	// Answers are JSON values, and JSON has one type of number.
	err := errors.Join(json.Unmarshal(encodeJSON(reply.Answer), &answer.Answer), json.Unmarshal(encodeJSON(reply.Answers), &answer.Answers))
	if err != nil {
		return answer, err
	}
	item := onlyRequiredItem(q)
	if answer.Answer != nil && item != nil {
		value := typedValue(item, answer.Answer)
		if answer.Answer = value; len(q.Items) > 1 {
			answer.Answer, answer.Answers = nil, map[string]any{item.Key: value}
		}
	}
	if q.Type != fermata.ErrorRecovery {
		return answer, nil
	}
	if input, ok := answer.Answers[fermata.RemedyInputKey].(map[string]any); ok {
		answer.Answers[fermata.RemedyInputKey] = string(encodeJSON(input))
	}
	if answer.Answers[fermata.RemedyKey] == fermata.RemedyRetryWithInput && answer.Answers[fermata.RemedyInputKey] == nil {
		return answer, fermata.Errorf(fermata.CodeInvalidRequest, "%s has no input: write {answers: {action: %s, input: {…}}}", fermata.RemedyRetryWithInput, fermata.RemedyRetryWithInput)
	}
	return answer, nil
}

// onlyRequiredItem returns the only item, or the only one that is required. It returns nil if none or several are
// required.
func onlyRequiredItem(q *fermata.Question) *fermata.Item {
	var found *fermata.Item
	for i := range q.Items {
		item := &q.Items[i]
		switch {
		case len(q.Items) > 1 && !item.IsRequired():
		case found != nil:
			return nil
		default:
			found = item
		}
	}
	return found
}

// typedValue converts a text that a person may type to a value of the item. It returns a valid value, and a text that
// it cannot convert, unchanged.
func typedValue(item *fermata.Item, given any) any {
	text, isText := given.(string)
	if _, err := item.Normalize(given); err == nil || !isText {
		return given
	}
	if value, err := notice.ParseValue(item, text); err == nil {
		return value
	}
	return given
}

func (r *simulation) addFailure(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if message := fmt.Sprintf(format, args...); !slices.Contains(r.report.Failures, message) {
		r.report.Failures = append(r.report.Failures, message)
	}
}
