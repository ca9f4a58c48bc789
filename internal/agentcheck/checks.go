package agentcheck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
)

// Check checks a stop, a resume, a deferred call, and a rule that denies everything. After a failed result, the checks
// that depend on it are left out. The error says why the check could not be run.
func (c *Checker) Check(ctx context.Context) ([]Result, error) {
	steps, err := c.checkQuestion(ctx)
	if err != nil || steps[len(steps)-1].Status == Fail {
		return steps, err
	}
	step := Result{Name: "defer", Status: Skip, Detail: c.Program + " cannot put a call off; Fermata stops it instead"}
	if c.Program == "claude" {
		step, err = c.checkDeferral(ctx)
	}
	steps = append(steps, step)
	if err == nil && step.Status != Fail {
		step, err = c.checkDenial(ctx)
		steps = append(steps, step)
	}
	return steps, err
}

// deniedReason is the reason that the agent reads for each denied call.
const deniedReason = "the agent check denies everything"

// checkDenial makes the agent act in every way while a rule denies everything. It comes last, because the rule stays.
func (c *Checker) checkDenial(ctx context.Context) (Result, error) {
	step := Result{Name: "deny"}
	_, err := c.Person.AddGateRule(ctx, fermata.NewGateRule{Tool: "*", Decision: fermata.GateDeny, Reason: deniedReason})
	if err != nil {
		return step, err
	}
	task, err := c.Person.CreateTask(ctx, fermata.NewTask{Title: denyTitle, Runner: c.Program})
	if err == nil {
		task, err = c.waitUntil(ctx, task, func(*fermata.Task) (bool, error) { return false, nil })
	}
	if err == nil {
		err = c.checkDenied(task)
	}
	if err != nil {
		steps, err := c.failResult(ctx, step, err)
		return steps[0], err
	}
	step.Status, step.Detail = OK, "a rule that denies everything kept it from running a command, writing a file and reaching the network"
	return step, nil
}

// checkDenied returns an error unless the rule denied every call of the task.
func (c *Checker) checkDenied(task *fermata.Task) error {
	if _, err := os.Stat(filepath.Join(c.Folder, task.ID, deniedFile)); err == nil {
		return &checkError{"it acted against a rule that denies everything", task}
	}
	conversation := c.conversationOf(ruleGaveUp)
	if task.State != fermata.TaskDone || conversation == nil {
		return &checkError{"it was denied everything, and did not come to an end: " + task.Summary, task}
	}
	for _, item := range conversation.Entries {
		if item.Role == scriptedmodel.ToolResult && !strings.Contains(item.Text, deniedReason) {
			return &checkError{"a call of it was not denied by the rule that denies everything", task}
		}
	}
	return nil
}

// checkQuestion makes the agent ask with Fermata's tool.
func (c *Checker) checkQuestion(ctx context.Context) ([]Result, error) {
	stop, resume := Result{Name: "stop"}, Result{Name: "resume"}
	waiting, run, err := c.runUntilStopped(ctx, askTitle)
	if err != nil {
		return c.failResult(ctx, stop, err)
	}
	stop.Status = OK
	stop.Detail = fmt.Sprintf("it asked, and its process ended %s later", stopTime(waiting, run))
	done, err := c.answerAndAwait(ctx, waiting, ruleAnswered)
	if err != nil {
		steps, err := c.failResult(ctx, resume, err)
		return append([]Result{stop}, steps...), err
	}
	resume.Status, resume.Detail = OK, "the same session went on with the answer"
	if done.Session.ID != waiting.Session.ID {
		resume.Status, resume.Detail = Warn, "it could not go on with its session: a new one began, and was told what was asked and answered"
	} else if conversation := c.conversationOf(ruleAnswered); len(conversation.Calls("ask_user"))+len(conversation.Calls("ask_person")) != 1 {
		resume.Status, resume.Detail = Warn, "the session went on with the answer, but forgot that it had asked"
	}
	return []Result{stop, resume}, nil
}

// checkDeferral makes the agent ask with its own tool.
func (c *Checker) checkDeferral(ctx context.Context) (Result, error) {
	step := Result{Name: "defer"}
	waiting, _, err := c.runUntilStopped(ctx, deferTitle)
	if err == nil {
		_, err = c.answerAndAwait(ctx, waiting, ruleReturned)
	}
	if err != nil {
		steps, err := c.failResult(ctx, step, err)
		return steps[0], err
	}
	conversation := c.conversationOf(ruleReturned)
	for _, call := range conversation.Calls(ownQuestion) {
		if r, ok := conversation.Result(call.ID); ok && !r.Failed && strings.Contains(r.Text, colour) {
			step.Status, step.Detail = OK, "its own question was put off, and that very call returned the answer"
			return step, nil
		}
	}
	step.Status, step.Detail = Warn, "its own question was put off, but the answer came as a message, not as what that call returned"
	return step, nil
}

// checkError describes a failed check: what happened, and in which task.
type checkError struct {
	detail string
	task   *fermata.Task
}

func (e *checkError) Error() string { return e.detail }

// failResult turns a checkError into a failed result. It returns any other error, which is not the agent's fault.
func (c *Checker) failResult(ctx context.Context, step Result, err error) ([]Result, error) {
	t, ok := errors.AsType[*checkError](err)
	if !ok {
		return []Result{step}, err
	}
	step.Status, step.Detail = Fail, t.detail
	step.Log, err = c.log(ctx, t.task)
	return []Result{step}, err
}

// runUntilStopped gives the agent a task and waits until the agent has asked and its process has ended.
func (c *Checker) runUntilStopped(ctx context.Context, title string) (*fermata.Task, *fermata.Run, error) {
	task, err := c.Person.CreateTask(ctx, fermata.NewTask{Title: title, Runner: c.Program})
	if err != nil {
		return nil, nil, err
	}
	var run *fermata.Run
	task, err = c.waitUntil(ctx, task, func(t *fermata.Task) (bool, error) {
		runs, err := c.Person.Runs(ctx, t.ID)
		if err != nil || len(runs) == 0 {
			return false, err
		}
		run = runs[len(runs)-1]
		return t.State.IsSuspended() && run.EndedAt != nil, nil
	})
	switch {
	case err != nil:
		return nil, nil, err
	case task.State.IsEnded():
		return nil, nil, &checkError{"it ended without asking: " + task.Summary, task}
	case !task.State.IsSuspended() || run.EndedAt == nil:
		return nil, nil, &checkError{c.describeTimeout(task), task}
	case task.Session == nil || task.Session.ID == "" || task.PendingQuestion == nil:
		return nil, nil, &checkError{"it stopped, but told no session to go on with", task}
	}
	return task, run, nil
}

// describeTimeout describes the progress of an agent that did not stop in time.
func (c *Checker) describeTimeout(task *fermata.Task) string {
	switch {
	case task.PendingQuestionID != "" || c.conversationOf(ruleWentOn) != nil:
		return fmt.Sprintf("it asked, but was not stopped within %s", c.Limit)
	case len(c.Model.Requests()) == 0:
		return fmt.Sprintf("it did not reach its model within %s", c.Limit)
	default:
		return fmt.Sprintf("it did not ask within %s", c.Limit)
	}
}

// answerAndAwait answers the question and waits until the agent, which is told the answer, is done.
func (c *Checker) answerAndAwait(ctx context.Context, waiting *fermata.Task, rule string) (*fermata.Task, error) {
	if _, err := c.Person.Answer(ctx, waiting.PendingQuestion.ID, fermata.Answer{Answer: colour}); err != nil {
		return nil, err
	}
	task, err := c.waitUntil(ctx, waiting, func(*fermata.Task) (bool, error) { return false, nil })
	switch {
	case err != nil:
		return nil, err
	case !task.State.IsEnded():
		return nil, &checkError{fmt.Sprintf("it was resumed with the answer, but was not done within %s", c.Limit), task}
	case task.State != fermata.TaskDone || c.conversationOf(rule) == nil:
		return nil, &checkError{"it was resumed, but did not go on with the answer: " + task.Summary, task}
	}
	return task, nil
}
