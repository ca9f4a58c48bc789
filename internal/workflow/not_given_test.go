package workflow_test

import (
	"fmt"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
)

// TestAnApprovalThatNobodyGave checks that steps after an approval do not run without it: not after a timeout, not
// after a withdrawal, and not if it could not be requested. The step's on_error does not change that.
func TestAnApprovalThatNobodyGave(t *testing.T) {
	for name, tt := range map[string]struct {
		step string
		end  func(w *world, q *fermata.Question)
		want fermata.TaskState
	}{
		"silence that skips":             {`tool: request_approval, input: {question: "Deploy?", action: {command: deploy}, timeout: 10m, timeoutAction: skip}`, (*world).letPass, fermata.TaskSkipped},
		"silence that skips a question":  {`tool: post_question, suspend: true, input: {question: "Deploy?", type: approval, timeout: 10m, timeoutAction: skip}`, (*world).letPass, fermata.TaskSkipped},
		"silence, and errors go on":      {`tool: request_approval, on_error: continue, input: {question: "Deploy?", action: {command: deploy}, timeout: 10m}`, (*world).letPass, fermata.TaskFailed},
		"withdrawn, and errors go on":    {`tool: request_approval, on_error: continue, input: {question: "Deploy?", action: {command: deploy}, timeout: never}`, (*world).withdraw, fermata.TaskFailed},
		"resumed, and errors go on":      {`tool: request_approval, on_error: continue, input: {question: "Deploy?", action: {command: deploy}, timeout: never}`, (*world).resume, fermata.TaskFailed},
		"not askable, and errors go on":  {`tool: request_approval, on_error: continue, input: {question: "Deploy?", action: {command: deploy}, risk: "{{ 'huge' }}"}`, nil, fermata.TaskFailed},
		"hidden in items, not askable":   {`tool: post_question, suspend: true, on_error: continue, input: {title: "Deploy?", items: "{{ [{key: 'answer', prompt: 'ok?', response_type: 'approval'}] }}", timeout: 1h}`, nil, fermata.TaskFailed},
		"in items, not askable":          {`tool: post_question, suspend: true, on_error: continue, input: {title: "Deploy?", items: [{key: answer, prompt: "ok?", response_type: "{{ 'approval' }}"}], timeout: 1h}`, nil, fermata.TaskFailed},
		"by template, not waited for":    {`tool: post_question, on_error: continue, input: {question: "Deploy?", responseType: "{{ 'approval' }}", default: approve}`, nil, fermata.TaskFailed},
		"one of several, rejected":       {`tool: request_approval, foreach: "{{ [1] }}", input: {question: "Deploy?", action: {command: deploy}, timeout: never}`, (*world).reject, fermata.TaskFailed},
		"one of several, in silence":     {`tool: request_approval, foreach: "{{ [1] }}", on_error: continue, input: {question: "Deploy?", action: {command: deploy}, timeout: 10m, timeoutAction: skip}`, (*world).letPass, fermata.TaskSkipped},
		"one of several, by one's wish":  {`tool: request_approval, foreach: "{{ [1] }}", on_reject: skip, input: {question: "Deploy?", action: {command: deploy}, timeout: never}`, (*world).reject, fermata.TaskDone},
		"a question, and errors go on":   {`tool: post_question, suspend: true, on_error: continue, input: {question: "Deploy?", options: [a, b], timeout: never}`, (*world).withdraw, fermata.TaskDone},
		"silence that goes on elsewhere": {`tool: request_approval, input: {question: "Deploy?", action: {command: deploy}, timeout: 10m, timeoutAction: skip}, on_timeout: {goto: deploy}`, (*world).letPass, fermata.TaskDone},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				run := w.run(fmt.Sprintf("name: guarded\ntriggers: [{manual: true}]\nsteps:\n  - {id: ask, %s}\n  - {id: deploy, tool: publish}\n", tt.step), nil)
				if tt.end != nil {
					tt.end(w, w.awaitQuestion(run.ID))
				}
				run = w.awaitEnd(run.ID)
				deployed := len(w.tools.calledSteps()) > 0
				if run.State != tt.want || deployed != (tt.want == fermata.TaskDone) {
					w.Errorf("the run is %s, and deployed: %v; steps: %s", run.State, deployed, w.describe(run))
				}
			})
		})
	}
}

// awaitQuestion waits for the question of a run, or the question of its only item.
func (w *world) awaitQuestion(id string) *fermata.Question {
	w.Helper()
	var found *fermata.Question
	patience.Await(w, "the run asks", func() bool {
		run := w.read(id)
		found = run.PendingQuestion
		for _, s := range run.Steps {
			if s.QuestionID != "" && found == nil {
				q, err := w.Engine.Question(w.Context(), admin, s.QuestionID)
				w.OK(err)
				found = q
			}
		}
		return found != nil
	})
	return found
}

func (w *world) letPass(q *fermata.Question) { w.Clock.Advance(q.Deadline.Sub(w.Clock.Now()) + 1) }

func (w *world) withdraw(q *fermata.Question) {
	_, err := w.Engine.CancelQuestion(w.Context(), ann, q.ID, "")
	w.OK(err)
}

func (w *world) resume(q *fermata.Question) {
	_, err := w.Engine.ResumeTask(w.Context(), ann, q.TaskID, "")
	w.OK(err)
}

func (w *world) reject(q *fermata.Question) { w.answer(q, fermata.Answer{Answer: fermata.Reject}) }

// TestWhoMayNotAnswerTakesNoDefault checks that only people that may answer a question can let its run continue without
// an answer. With a dangerous default, nobody can.
func TestWhoMayNotAnswerTakesNoDefault(t *testing.T) {
	onBoth(t, func(w *world) {
		ask := func(more string) *fermata.Question {
			return w.awaitRunQuestion(w.run(`
name: dangerous
triggers: [{manual: true}]
steps:
  - {id: sure, tool: post_question, suspend: true, input: {question: "Which?", options: [{value: keep}, {value: wipe, danger: true}], timeoutAction: fail, timeout: never, `+more+`}}
  - {id: go, tool: publish}
`, nil).ID)
		}
		forAdmins := ask(`assignees: ["role:admin"], default: keep`)
		asker := ann
		asker.Scopes = []fermata.Scope{fermata.ScopeAsk}
		_, err := w.Engine.ResumeTask(w.Context(), ann, forAdmins.TaskID, "")
		w.wantCode(err, fermata.CodeNotEligible)
		anybody := ask(`default: keep`)
		_, err = w.Engine.ResumeTask(w.Context(), asker, anybody.TaskID, "")
		w.wantCode(err, fermata.CodeForbidden)
		critical := ask(`default: keep, risk: critical`)
		_, err = w.Engine.ResumeTask(w.Context(), ann, critical.TaskID, "")
		w.wantCode(err, fermata.CodeNotEligible)
		dangerous := ask(`default: wipe`)
		_, err = w.Engine.ResumeTask(w.Context(), ann, dangerous.TaskID, "")
		w.wantCode(err, fermata.CodePolicyViolation)
		w.resume(anybody)
		w.await(anybody.TaskID, fermata.TaskDone)
		if n := len(w.tools.calledSteps()); n != 1 {
			w.Errorf("%d runs went on", n)
		}
	})
}

func (w *world) wantCode(err error, code fermata.Code) {
	w.Helper()
	if fermata.CodeOf(err) != code {
		w.Errorf("error is %v, want %s", err, code)
	}
}
