package workflow_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/test/patience"
)

// starter is the agent that starts the runs of these tests.
var starter = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorAgent, TokenID: "tok_starter", Name: "starter", Scopes: []fermata.Scope{fermata.ScopeAsk, fermata.ScopeWork},
}

// startByAgent stores a definition, and lets the agent start it.
func (w *world) startByAgent(source string) *fermata.WorkflowRun {
	w.Helper()
	run, err := w.s.Start(w.Context(), starter, w.put(source).Name, nil)
	w.OK(err)
	return run
}

func (w *world) wantMoveRefused(what string, err error) {
	w.Helper()
	if code := fermata.CodeOf(err); code != fermata.CodeIllegalTransition && code != fermata.CodeForbidden {
		w.Errorf("%s: %v", what, err)
	}
}

// wantFailureWithoutCalls waits until a run has failed, and checks that it called no tool.
func (w *world) wantFailureWithoutCalls(id string) {
	w.Helper()
	run := w.awaitEnd(id)
	if called := w.tools.calledSteps(); run.State != fermata.TaskFailed || len(called) > 0 {
		w.Errorf("the run is %s, and called %v: %s", run.State, called, w.describe(run))
	}
}

// TestNobodyEndsTheQuestionOfARun checks that a run's child task for a question ends only with the answer. Nobody may
// let the run go on in another way. That task belongs to the member that started the run, and responders can reach it.
func TestNobodyEndsTheQuestionOfARun(t *testing.T) {
	for name, steps := range map[string]string{
		"items": `
  - {id: ok, tool: request_approval, foreach: [1, 2], parallel: 2, on_error: continue, input: {title: "Delete?", action: {n: "{{ item }}"}, timeout: never}}
  - {id: delete, tool: publish}
`,
		"branches": `
  - {id: ok, tool: request_approval, on_error: continue, input: {title: "Delete?", action: {n: 1}, timeout: never}}
  - {id: delete, tool: publish}
  - {id: also, tool: request_approval, needs: [], on_error: continue, input: {title: "Delete?", action: {n: 2}, timeout: never}}
  - {id: delete_also, tool: publish}
`,
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				run := w.startByAgent("name: files\ntriggers: [{manual: true}]\nsteps:" + steps)
				var open []*fermata.WorkflowStep
				patience.Await(w, "both are asked", func() bool {
					open = slices.DeleteFunc(w.read(run.ID).Steps, func(s *fermata.WorkflowStep) bool { return s.QuestionID == "" })
					return len(open) == 2
				})
				until := w.Clock.Now().Add(time.Hour)
				for _, s := range open {
					for _, c := range []fermata.Caller{starter, ann, admin} {
						ctx := w.Context()
						_, err := w.Engine.FinishExternal(ctx, c, s.ChildID, fermata.Finish{Result: fermata.ResultCompleted, Details: json.RawMessage(`{"decision":"approve"}`)})
						w.wantMoveRefused(c.Name+" finishes", err)
						_, err = w.Engine.FinishExternal(ctx, c, s.ChildID, fermata.Finish{Result: fermata.ResultFailed})
						w.wantMoveRefused(c.Name+" fails", err)
						_, err = w.Engine.Ask(ctx, c, s.ChildID, fermata.Ask{Question: "x?", Type: fermata.NonBlocking, Default: "a", Options: []fermata.Option{{Value: "a"}, {Value: "b"}}})
						w.wantMoveRefused(c.Name+" asks", err)
						_, err = w.Engine.DeferTask(ctx, c, s.ChildID, &until)
						w.wantMoveRefused(c.Name+" puts off", err)
						_, err = w.Engine.PauseTask(ctx, c, s.ChildID)
						w.wantMoveRefused(c.Name+" pauses", err)
					}
				}
				_, err := w.Engine.CancelTask(w.Context(), starter, open[0].ChildID, "")
				w.OK(err)
				for _, c := range []fermata.Caller{starter, admin} {
					_, err = w.Engine.ReopenTask(w.Context(), c, open[0].ChildID)
					w.wantMoveRefused(c.Name+" reopens", err)
				}
				q, err := w.Engine.Question(w.Context(), ann, open[1].QuestionID)
				w.OK(err)
				w.answer(q, fermata.Answer{Answer: fermata.Reject})
				w.wantFailureWithoutCalls(run.ID)
			})
		})
	}
}

// TestAnEndedItemIsNoApproval ends the task of an item whose question was withdrawn. An older version of Fermata could
// do that, and a person that writes to the database can.
func TestAnEndedItemIsNoApproval(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.startByAgent(`
name: files
triggers: [{manual: true}]
steps:
  - {id: ok, tool: request_approval, foreach: [1], on_error: continue, input: {title: "Delete?", action: {n: 1}, timeout: never}}
  - {id: delete, tool: publish}
`)
		q := w.awaitQuestion(run.ID)
		w.OK(w.DB.Write(w.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
			task, err := tx.Task(q.TaskID)
			if err != nil {
				return err
			}
			asked, err := tx.Question(q.ID)
			if err != nil {
				return err
			}
			if _, err := asked.Cancel(fermata.SystemActor, "gone", tx.Now()); err != nil {
				return err
			}
			tx.UpdatePending(asked)
			tx.Append(&fermata.Event{Type: fermata.EventQuestionCancelled, TaskID: task.ID, QuestionID: q.ID, Actor: fermata.SystemActor, Data: json.RawMessage(`{"type":"approval","decided_by":"system"}`)})
			task.State, task.PendingQuestionID = fermata.TaskDone, ""
			tx.SaveTask(task)
			return nil
		}))
		_, err := w.Engine.ResumeTask(w.Context(), admin, run.ID, "")
		w.OK(err)
		w.wantFailureWithoutCalls(run.ID)
	})
}

// TestNobodyAsksOnARun checks that nobody may ask on the task of a run. Such a question could replace the one of its
// next step, or end a wait.
func TestNobodyAsksOnARun(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.startByAgent(`
name: resting
triggers: [{manual: true}]
steps:
  - {id: objection, tool: wait, input: {for: 24h}}
  - {id: delete, tool: publish}
`)
		w.await(run.ID, fermata.TaskDeferred)
		soon := w.Clock.Now().Add(time.Second)
		for _, c := range []fermata.Caller{starter, ann, admin} {
			for _, a := range []fermata.Ask{
				{Question: "x?"}, {Question: "ok?", Type: fermata.Approval, Action: json.RawMessage(`{"command":["ship"]}`)},
				{Question: "x?", Type: fermata.NonBlocking, Default: "a", Options: []fermata.Option{{Value: "a"}, {Value: "b"}}},
			} {
				_, err := w.Engine.Ask(w.Context(), c, run.ID, a)
				w.wantMoveRefused(c.Name+" asks", err)
			}
		}
		_, err := w.Engine.DeferTask(w.Context(), starter, run.ID, &soon)
		w.wantMoveRefused("the agent puts off", err)
		_, err = w.Engine.DeferTask(w.Context(), ann, run.ID, &soon)
		w.OK(err)
		w.Clock.Advance(time.Hour)
		patience.Await(w, "the run waits for its own instant again", func() bool {
			task, err := w.Engine.Task(w.Context(), admin, run.ID)
			w.OK(err)
			return task.State == fermata.TaskDeferred && task.DeferUntil.After(w.Clock.Now())
		})
		if called := w.tools.calledSteps(); len(called) > 0 {
			w.Fatalf("called %v", called)
		}
		_, err = w.Engine.ResumeTask(w.Context(), ann, run.ID, "")
		w.OK(err)
		run = w.await(run.ID, fermata.TaskDone)
		if run.Steps[0].Note != "cut short by a person" {
			w.Fatalf("the note is %q", run.Steps[0].Note)
		}
	})
}

// TestAQueuedRunWaits checks that nobody can start a queued run while another run has its key.
func TestAQueuedRunWaits(t *testing.T) {
	onBoth(t, func(w *world) {
		const source = `
name: queued
triggers: [{manual: true}]
concurrency: {key: k, policy: queue}
steps:
  - {id: ask, tool: post_question, suspend: true, input: {question: "Which?", options: [a, b], timeout: never}}
  - {id: ship, tool: publish}
`
		first := w.startByAgent(source)
		q := w.awaitRunQuestion(first.ID)
		second, err := w.s.Start(w.Context(), starter, "queued", nil)
		w.OK(err)
		w.await(second.ID, fermata.TaskBlocked)
		none := []string{}
		for _, c := range []fermata.Caller{starter, ann, admin} {
			_, err := w.Engine.UpdateTask(w.Context(), c, second.ID, fermata.TaskPatch{BlockedBy: &none})
			w.wantMoveRefused(c.Name+" takes the dependency away", err)
		}
		_, err = w.Engine.ResumeTask(w.Context(), ann, second.ID, "")
		w.wantMoveRefused("a person resumes", err)
		w.answer(q, fermata.Answer{Answer: "a"})
		w.await(first.ID, fermata.TaskDone)
		w.answer(w.awaitRunQuestion(second.ID), fermata.Answer{Answer: "a"})
		w.await(second.ID, fermata.TaskDone)
	})
}

// awaitStepQuestion waits for the question of a step while other steps are under way.
func (w *world) awaitStepQuestion(run, step string) *fermata.Question {
	w.Helper()
	var found *fermata.Question
	patience.Await(w, "the step "+step+" asks", func() bool {
		for _, s := range w.read(run).Steps {
			if s.Step == step && s.QuestionID != "" {
				q, err := w.Engine.Question(w.Context(), admin, s.QuestionID)
				w.OK(err)
				found = q
			}
			if s.State == fermata.StepFailed {
				w.Fatalf("the step %s failed: %+v", s.Step, s.Error)
			}
		}
		return found != nil
	})
	return found
}

// TestNobodyTakesADefaultThatIsNotTheirs checks that the question of a branch is protected in the same way as the
// question of a run.
func TestNobodyTakesADefaultThatIsNotTheirs(t *testing.T) {
	onBoth(t, func(w *world) {
		w.voter("bob")
		asked := func(more string) *fermata.Question {
			return w.awaitStepQuestion(w.startByAgent(`
name: sides
triggers: [{manual: true}]
steps:
  - {id: side, tool: wait, input: {for: 24h}}
  - {id: sure, tool: post_question, needs: [], suspend: true, input: {question: "Which?", options: [{value: keep}, {value: wipe, danger: true}], timeoutAction: fail, timeout: never, `+more+`}}
  - {id: go, tool: publish}
`).ID, "sure")
		}
		_, err := w.Engine.ResumeTask(w.Context(), ann, asked(`assignees: [bob], default: keep`).TaskID, "")
		w.wantCode(err, fermata.CodeNotEligible)
		dangerous := asked(`default: wipe, allow_danger_default: true`)
		for _, c := range []fermata.Caller{ann, admin} {
			_, err = w.Engine.ResumeTask(w.Context(), c, dangerous.TaskID, "")
			w.wantCode(err, fermata.CodePolicyViolation)
		}
		if called := w.tools.calledSteps(); len(called) > 0 {
			w.Fatalf("called %v", called)
		}
		w.resume(asked(`default: keep`))
		patience.Await(w, "the branch goes on", func() bool { return len(w.tools.calledSteps()) == 1 })
	})
}

// TestARunHandsOutNoGrants checks that nobody gets a grant for an approved step, because the run itself does the step.
// With a grant, the member that started the run could do it a second time, also after another branch was rejected or
// after the run ended.
func TestARunHandsOutNoGrants(t *testing.T) {
	onBoth(t, func(w *world) {
		bob := w.voter("bob")
		run := w.startByAgent(`
name: two
triggers: [{manual: true}]
steps:
  - {id: legal, tool: request_approval, input: {title: "May we?", action: {tool: deploy}, timeout: never}}
  - {id: safe, tool: request_approval, needs: [], input: {title: "Is it safe?", action: {tool: look}, timeout: never}}
  - {id: deploy, tool: publish, needs: [legal, safe]}
`)
		grant := ""
		for _, step := range []string{"legal", "safe"} {
			q := w.awaitStepQuestion(run.ID, step)
			answer := fermata.Answer{Answer: fermata.Reject}
			if step == "legal" {
				answer = fermata.Answer{Answer: fermata.Approve, ActionHash: q.ActionHash}
			}
			_, err := w.Engine.Answer(w.Context(), bob, q.ID, answer)
			w.OK(err)
			for _, c := range []fermata.Caller{starter, admin} {
				context, err := w.Engine.ResumeContext(w.Context(), c, q.TaskID)
				w.OK(err)
				if len(context.Questions) != 1 || context.Questions[0].Grant != "" {
					w.Errorf("%s is handed %+v", c.Name, context.Questions)
				}
			}
			closed, err := w.Engine.Question(w.Context(), admin, q.ID)
			w.OK(err)
			if g, ok := closed.Grant(); ok {
				w.OK(w.DB.Write(w.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
					key, err := tx.GrantKey()
					grant = g.Sign(key)
					return err
				}))
			}
		}
		w.wantFailureWithoutCalls(run.ID)
		_, err := w.Engine.VerifyGrant(w.Context(), starter, fermata.GrantCheck{Grant: grant, Action: json.RawMessage(`{"tool":"deploy"}`)})
		if fermata.CodeOf(err) != fermata.CodeForbidden || !strings.Contains(err.Error(), "executes the approved action itself") {
			w.Errorf("the grant is refused with %v", err)
		}
	})
}

// TestAnAgentDoesNotUndoACancellation checks that an approved step does not run after a person has cancelled the run.
func TestAnAgentDoesNotUndoACancellation(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.startByAgent(`
name: stopped
triggers: [{manual: true}]
steps:
  - {id: rest, tool: wait, input: {for: 24h}}
  - {id: deploy, tool: publish}
`)
		w.await(run.ID, fermata.TaskDeferred)
		_, err := w.Engine.CancelTask(w.Context(), ann, run.ID, "the wrong version")
		w.OK(err)
		_, err = w.s.Retry(w.Context(), starter, run.ID, nil)
		w.wantCode(err, fermata.CodeForbidden)
		_, err = w.s.Retry(w.Context(), ann, run.ID, nil)
		w.OK(err)
	})
}

// TestAStepStaysAsItWasApproved checks that nobody can change the task that a step gives to a worker, or start it again
// without its run.
func TestAStepStaysAsItWasApproved(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.startByAgent(`
name: told
triggers: [{manual: true}]
steps:
  - {id: clean, tool: agent, input: {prompt: "Delete table 1."}}
`)
		var step *fermata.WorkflowStep
		patience.Await(w, "the agent's task is there", func() bool {
			steps := w.read(run.ID).Steps
			if len(steps) == 0 {
				return false
			}
			step = steps[0]
			return step.ChildID != ""
		})
		text, priority := "Delete all tables.", 1
		for _, c := range []fermata.Caller{starter, ann, admin} {
			for _, p := range []fermata.TaskPatch{{Title: &text}, {Body: &text}} {
				_, err := w.Engine.UpdateTask(w.Context(), c, step.ChildID, p)
				w.wantCode(err, fermata.CodeIllegalTransition)
			}
		}
		_, err := w.Engine.UpdateTask(w.Context(), ann, step.ChildID, fermata.TaskPatch{Priority: &priority})
		w.OK(err)
		_, err = w.Engine.CancelTask(w.Context(), ann, run.ID, "")
		w.OK(err)
		for _, c := range []fermata.Caller{ann, admin} {
			_, err := w.Engine.ReopenTask(w.Context(), c, step.ChildID)
			w.wantCode(err, fermata.CodeIllegalTransition)
		}
	})
}

// TestRunsOfOneKeyNeverRunSideBySide checks that two runs of one key are never open together, neither by deferring a
// queued run nor by retrying an ended one.
func TestRunsOfOneKeyNeverRunSideBySide(t *testing.T) {
	onBoth(t, func(w *world) {
		w.put(`
name: queued
triggers: [{manual: true}]
concurrency: {key: k, policy: queue}
steps:
  - {id: ask, tool: post_question, suspend: true, input: {question: "Which?", options: [a, b], timeout: never}}
  - {id: ship, tool: publish}
`)
		start := func() *fermata.WorkflowRun {
			run, err := w.s.Start(w.Context(), starter, "queued", nil)
			w.OK(err)
			return run
		}
		first := start()
		w.awaitRunQuestion(first.ID)
		second := start()
		w.await(second.ID, fermata.TaskBlocked)
		soon := w.Clock.Now().Add(time.Minute)
		_, err := w.Engine.DeferTask(w.Context(), ann, second.ID, &soon)
		w.OK(err)
		_, err = w.Engine.ResumeTask(w.Context(), ann, second.ID, "")
		w.wantCode(err, fermata.CodeIllegalTransition)
		w.Clock.Advance(time.Minute)
		w.await(second.ID, fermata.TaskBlocked)
		_, err = w.Engine.CancelTask(w.Context(), ann, first.ID, "")
		w.OK(err)
		w.awaitRunQuestion(second.ID)
		for _, again := range []func() error{
			func() error { _, err := w.s.Retry(w.Context(), ann, first.ID, nil); return err },
			func() error { _, err := w.Engine.ReopenTask(w.Context(), ann, first.ID); return err },
		} {
			w.wantCode(again(), fermata.CodeIllegalTransition)
		}
		w.answer(w.awaitRunQuestion(second.ID), fermata.Answer{Answer: "a"})
		w.await(second.ID, fermata.TaskDone)
		_, err = w.s.Retry(w.Context(), ann, first.ID, nil)
		w.OK(err)
	})
}
