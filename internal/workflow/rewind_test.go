package workflow_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/test/patience"
)

// drafting is a workflow that asks whether a draft is good, and publishes it.
const drafting = `
name: drafting
triggers: [{manual: true}]
inputs: {topic: {type: string, default: tea}}
steps:
  - {id: look, tool: note, output: seen, input: {topic: "{{ inputs.topic }}"}}
  - {id: draft, tool: note, output: drafted, input: {topic: "{{ seen.topic }}", why: "{{ run.feedback }}"}}
  - {id: good, tool: request_approval, input: {title: "Is it good?", action: {summary: "publish it"}, risk: low, timeout: never}}
  - {id: publish, tool: publish, input: {text: "{{ drafted.topic }}"}}
finally:
  - {id: tidy, tool: label, input: {}}
`

func (w *world) rewind(id, step, feedback string) *fermata.WorkflowRun {
	w.Helper()
	run, err := w.s.Rewind(w.Context(), admin, id, fermata.RunRewind{Step: step, Feedback: feedback})
	w.OK(err)
	return run
}

// wantRefusal checks that err is a refusal that contains the words.
func (w *world) wantRefusal(err error, words ...string) {
	w.Helper()
	var e *fermata.Error
	if !errors.As(err, &e) {
		w.Fatalf("it was not refused: %v", err)
	}
	for _, want := range words {
		if said := e.Message + "\n" + e.Hint; !strings.Contains(said, want) {
			w.Errorf("the refusal does not say %q: %s", want, said)
		}
	}
}

// A run that waits for a person goes back to a step. Its question is withdrawn, and the steps after that step are done
// again.
func TestARunGoesBackToAStep(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(drafting, nil)
		first := w.awaitRunQuestion(run.ID)
		back := w.rewind(run.ID, "draft", "Shorter, please.")
		if back.State.IsEnded() {
			w.Fatalf("the run is %s", back.State)
		}
		withdrawn, err := w.Engine.Question(w.Context(), admin, first.ID)
		w.OK(err)
		if withdrawn.Status != fermata.Cancelled || !strings.Contains(withdrawn.Resolution.Comment, "root sent the run back to the step draft") {
			w.Errorf("the question is %s: %+v", withdrawn.Status, withdrawn.Resolution)
		}
		if events := w.events(run.ID, fermata.EventQuestionCancelled); len(events) != 1 {
			w.Errorf("the question was withdrawn %d times", len(events))
		}
		var second *fermata.Question
		patience.Await(w, "the run asks again", func() bool {
			second = w.read(run.ID).PendingQuestion
			return second != nil && second.ID != first.ID
		})
		w.answer(second, fermata.Answer{Answer: fermata.Approve})
		ended := w.await(run.ID, fermata.TaskDone)
		w.wantSteps(ended, "look/1:done draft/1:done good/1:cancelled draft/2:done good/2:done publish/1:done tidy/1:done ")
		if got := inputsOf(ended, "draft"); got != `{"topic":"tea","why":null} {"topic":"tea","why":"Shorter, please."}` {
			w.Errorf("the step was given %s", got)
		}
		if at := slices.IndexFunc(ended.Steps, func(s *fermata.WorkflowStep) bool { return s.Step == "draft" && s.Occurrence == 2 }); ended.Steps[at].Note != "sent back: Shorter, please." {
			w.Errorf("the step that is done once more says %q", ended.Steps[at].Note)
		}
		if keys := w.tools.keys("draft"); len(keys) != 2 || keys[0] == keys[1] {
			w.Errorf("the occurrences of the step have the keys %v", keys)
		}
		events := w.events(run.ID, fermata.EventRunRewound)
		if len(events) != 1 || !strings.Contains(string(events[0].Data), `"step":"draft"`) || !strings.Contains(string(events[0].Data), "Shorter, please.") {
			w.Errorf("the events are %v", events)
		}
		w.wantAuditIntact()
	})
}

// A run that is done, failed or cancelled can also go back.
func TestAnEndedRunGoesBackToAStep(t *testing.T) {
	for name, end := range map[string]func(w *world, id string, q *fermata.Question){
		"done":      func(w *world, _ string, q *fermata.Question) { w.answer(q, fermata.Answer{Answer: fermata.Approve}) },
		"failed":    func(w *world, _ string, q *fermata.Question) { w.answer(q, fermata.Answer{Answer: fermata.Reject}) },
		"cancelled": func(w *world, id string, _ *fermata.Question) { w.cancel(id) },
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				run := w.run(drafting, nil)
				first := w.awaitRunQuestion(run.ID)
				end(w, run.ID, first)
				if was := w.awaitEnd(run.ID); string(was.State) != name {
					w.Fatalf("the run is %s", was.State)
				}
				w.rewind(run.ID, "look", "")
				again := w.awaitRunQuestion(run.ID)
				if again.ID == first.ID {
					w.Fatal("the run asks what was decided")
				}
				w.answer(again, fermata.Answer{Answer: fermata.Approve})
				w.await(run.ID, fermata.TaskDone)
				w.wantAuditIntact()
			})
		})
	}
}

// The agent that does a step again is told the person's comment and its own previous output.
func TestAnAgentIsToldWhyAPersonSentTheRunBack(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: writing
triggers: [{manual: true}]
steps:
  - {id: write, tool: agent, input: {runner: claude, prompt: "Write it."}, output: text}
  - {id: good, tool: post_question, suspend: true, input: {question: "Is it good?", response_type: boolean, timeout: never}}
`, nil)
		if body := w.work(fermata.Finish{Result: fermata.ResultCompleted, Summary: "A very long text."}).Body; strings.Contains(body, "sent it back") {
			w.Errorf("the first agent is told %q", body)
		}
		w.awaitRunQuestion(run.ID)
		w.rewind(run.ID, "write", "Too long.\nOne sentence is enough.")
		told := w.work(fermata.Finish{Result: fermata.ResultCompleted, Summary: "A text."}).Body
		for _, want := range []string{"Write it.", "a person sent it back", "> Too long.\n> One sentence is enough.", "> {\"summary\":\"A very long text.\"}"} {
			if !strings.Contains(told, want) {
				w.Errorf("the agent is not told %q:\n%s", want, told)
			}
		}
		patience.Await(w, "the run asks again", func() bool { return w.read(run.ID).PendingQuestion != nil })
	})
}

// An agent that works on a step is stopped if the run goes back to an earlier step.
func TestWhatIsUnderWayEndsWhenARunGoesBack(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: building
triggers: [{manual: true}]
steps:
  - {id: look, tool: note}
  - {id: build, tool: shell, input: {run: "make"}}
`, nil)
		patience.Await(w, "the step has a task", func() bool { return w.stepOf(run.ID, "build").ChildID != "" })
		child := w.stepOf(run.ID, "build").ChildID
		claim, err := w.Engine.Claim(w.Context(), worker, fermata.ClaimRequest{Worker: "w", Runners: []string{fermata.RunnerShell}, LeaseSeconds: 60})
		w.OK(err)
		if claim.Task.ID != child {
			w.Fatalf("the worker got %s", claim.Task.ID)
		}
		w.rewind(run.ID, "look", "")
		_, err = w.Engine.Finish(w.Context(), worker, claim.Run.ID, fermata.Finish{Result: fermata.ResultCompleted, Token: claim.Run.Token})
		if err == nil {
			w.Error("the command that was left behind reported its end")
		}
		patience.Await(w, "the step has another task", func() bool {
			now := w.stepOf(run.ID, "build")
			return now.Occurrence == 2 && now.ChildID != ""
		})
		w.work(fermata.Finish{Result: fermata.ResultCompleted, Details: []byte(`{"exit_code": 0, "output": ""}`)})
		w.wantSteps(w.await(run.ID, fermata.TaskDone), "look/1:done build/1:cancelled look/2:done build/2:done ")
	})
}

// In a phase that forks, the other branches continue.
func TestOneBranchGoesBack(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(forked(`steps:
  - {id: left, tool: note, needs: []}
  - {id: ask_left, tool: post_question, suspend: true, needs: [left], input: {question: "Left?", response_type: boolean, timeout: never}}
  - {id: ask_right, tool: post_question, suspend: true, needs: [], input: {question: "Right?", response_type: boolean, timeout: never}}
  - {id: both, tool: note, needs: [ask_left, ask_right]}
`), nil)
		open := w.awaitQuestions(run.ID, "ask_left", "ask_right")
		w.rewind(run.ID, "left", "")
		patience.Await(w, "the left branch asks again", func() bool {
			q := w.stepOf(run.ID, "ask_left").QuestionID
			return q != "" && q != open["ask_left"].ID
		})
		now := w.awaitQuestions(run.ID, "ask_left", "ask_right")
		if now["ask_right"].ID != open["ask_right"].ID {
			w.Error("the right branch asks again")
		}
		for _, q := range now {
			w.answer(q, fermata.Answer{Answer: true})
		}
		w.await(run.ID, fermata.TaskDone)
		if got, want := w.outcomes(run.ID), "ask_left/2:done ask_right/1:done both/1:done left/2:done"; strings.TrimSpace(got) != want {
			w.Errorf("the steps are %s", got)
		}
		w.wantAuditIntact()
	})
}

// Other branches go on waiting for their time, and keep their attempts.
func TestOtherBranchesWaitOnWhenOneGoesBack(t *testing.T) {
	onBoth(t, func(w *world) {
		mend := w.breakTool("apply")
		run := w.run(forked(`steps:
  - {id: left, tool: note, needs: []}
  - {id: rest, tool: wait, needs: [], input: {for: 1h}}
  - {id: rested, tool: publish, needs: [rest]}
  - {id: try, tool: apply, needs: [], retry: {attempts: 2, backoff: 1h, max_backoff: 2h}}
`), nil)
		waiting := func() {
			w.Helper()
			patience.Await(w, "the run waits", func() bool { return w.read(run.ID).State == fermata.TaskDeferred })
			for _, step := range []string{"rest", "try"} {
				if s := w.stepOf(run.ID, step); s.State != fermata.StepWaiting || s.Until == nil {
					w.Fatalf("the step %s is %s until %v", step, s.State, s.Until)
				}
			}
		}
		waiting()
		w.rewind(run.ID, "left", "")
		patience.Await(w, "the left branch was done again", func() bool {
			now := w.stepOf(run.ID, "left")
			return now.Occurrence == 2 && now.State == fermata.StepDone
		})
		waiting()
		mend()
		w.Clock.Advance(3 * time.Hour)
		run = w.await(run.ID, fermata.TaskDone)
		if try, rest := stepOf(run, "try"), stepOf(run, "rest"); try.Attempt != 2 || rest.Note != "" {
			w.Errorf("attempt %d, note %q", try.Attempt, rest.Note)
		}
	})
}

// A branch that waited alone for its question asks again when another branch goes back.
func TestABranchThatAskedAloneAsksAgain(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(forked(`steps:
  - {id: left, tool: note, needs: []}
  - {id: ask_right, tool: post_question, suspend: true, needs: [], input: {question: "Right?", response_type: boolean, timeout: never}}
`), nil)
		w.awaitStepState(run.ID, "left", fermata.StepDone)
		first := w.awaitQuestions(run.ID, "ask_right")["ask_right"]
		w.rewind(run.ID, "left", "")
		patience.Await(w, "the left branch was done again", func() bool {
			now := w.stepOf(run.ID, "left")
			return now.Occurrence == 2 && now.State == fermata.StepDone
		})
		patience.Await(w, "the right branch has an open question", func() bool {
			q := w.stepOf(run.ID, "ask_right").QuestionID
			return q != "" && (q == first.ID || w.status(q) == fermata.Pending)
		})
		w.answer(w.awaitQuestions(run.ID, "ask_right")["ask_right"], fermata.Answer{Answer: true})
		w.await(run.ID, fermata.TaskDone)
	})
}

// A run goes back only to steps that it has begun. Only people that may change the workflow may send it back.
func TestWhereRunsDoNotGoBack(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(drafting, nil)
		w.awaitRunQuestion(run.ID)
		rewind := func(c fermata.Caller, step string) error {
			_, err := w.s.Rewind(w.Context(), c, run.ID, fermata.RunRewind{Step: step})
			return err
		}
		w.wantRefusal(rewind(admin, ""), "step")
		w.wantRefusal(rewind(admin, "nowhere"), "no step nowhere", "look, draft, good")
		w.wantRefusal(rewind(admin, "publish"), "has not come to the step publish", "look, draft, good")
		w.wantRefusal(rewind(admin, "tidy"), "after the main steps have ended")
		for name, c := range map[string]fermata.Caller{"a responder": ann, "an agent": worker} {
			if err := rewind(c, "look"); fermata.CodeOf(err) != fermata.CodeForbidden {
				w.Errorf("%s may send the run back: %v", name, err)
			}
		}
		olga := w.operator()
		olga.Scopes = []fermata.Scope{fermata.ScopeWork}
		if err := rewind(olga, "look"); err != nil {
			w.Errorf("an operator may not send the run back: %v", err)
		}
	})
}

// A waiting run continues with the newest definition if the steps that it has begun are the same in that definition.
func TestARunMovesToTheNewestDefinition(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(drafting, nil)
		q := w.awaitRunQuestion(run.ID)
		w.put(strings.Replace(drafting, "{text: \"{{ drafted.topic }}\"}", "{text: \"about {{ drafted.topic }}\"}", 1) +
			"# the places of steps in the file do not count\n")
		moved, err := w.s.Move(w.Context(), admin, run.ID)
		w.OK(err)
		if moved.Hash == run.Hash || moved.PendingQuestionID != q.ID {
			w.Fatalf("the run has the definition %s and the question %s", moved.Hash, moved.PendingQuestionID)
		}
		w.answer(q, fermata.Answer{Answer: fermata.Approve})
		ended := w.await(run.ID, fermata.TaskDone)
		if got := inputsOf(ended, "publish"); got != `{"text":"about tea"}` {
			w.Errorf("it published %s", got)
		}
		w.wantAuditIntact()
	})
}

// A definition is refused if it changes a step that the run has done, and the error names the step. A definition with a
// new step at a place that the run has already passed is refused, too.
func TestWhatARunDoesNotMoveTo(t *testing.T) {
	for name, tt := range map[string]struct{ from, to, says string }{
		"another input":    {`{topic: "{{ inputs.topic }}"}`, `{topic: "coffee"}`, "steps.look is another one there"},
		"no such step":     {"id: look, tool: note, output: seen", "id: see, tool: note, output: seen", "steps.look is gone there"},
		"a new step above": {"  - {id: draft,", "  - {id: more, tool: note}\n  - {id: draft,", "steps.draft is another one there"},
		"another question": {"Is it good?", "Is it really good?", "steps.good is another one there"},
		"another input of the workflow": {
			"inputs: {topic: {type: string, default: tea}}", "inputs: {topic: {type: string, default: tea}, count: {type: number, required: true}}", "count",
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				run := w.run(drafting, nil)
				w.awaitRunQuestion(run.ID)
				w.put(strings.Replace(drafting, tt.from, tt.to, 1))
				_, err := w.s.Move(w.Context(), admin, run.ID)
				if err == nil || !strings.Contains(asJSON(err)+err.Error(), tt.says) {
					w.Errorf("the run moved, or the refusal does not say %q: %v", tt.says, err)
				}
				if now := w.read(run.ID); now.Hash != run.Hash {
					w.Error("the run has another definition")
				}
			})
		})
	}
}

// A failed run moves to the definition in which its step is fixed, and is retried.
func TestAFailedRunIsRetriedWithTheMendedStep(t *testing.T) {
	onBoth(t, func(w *world) {
		const broken = `
name: repairing
triggers: [{manual: true}]
steps:
  - {id: look, tool: note}
  - {id: act, tool: apply, input: {works: false}}
on_failure:
  - {id: tell, tool: label, input: {}}
`
		w.tools.on("apply", func(_ context.Context, c tool.Call) (any, error) {
			if c.Input["works"] != true {
				return nil, errors.New("no luck")
			}
			return nil, nil
		})
		run := w.run(broken, nil)
		w.await(run.ID, fermata.TaskFailed)
		w.put(strings.NewReplacer("works: false", "works: true", "tool: label", "tool: note").Replace(broken))
		_, err := w.s.Move(w.Context(), admin, run.ID)
		w.OK(err)
		if now := w.read(run.ID); now.State != fermata.TaskFailed {
			w.Errorf("the run is %s", now.State)
		}
		_, err = w.s.Retry(w.Context(), admin, run.ID, nil)
		w.OK(err)
		w.wantSteps(w.await(run.ID, fermata.TaskDone), "look/1:done act/1:done tell/1:done ")
	})
}

// A run goes back with the newest definition, in which the steps that it does again have changed.
func TestARunGoesBackWithTheNewestDefinition(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(drafting, nil)
		w.awaitRunQuestion(run.ID)
		w.put(strings.Replace(drafting, "Is it good?", "Is it better?", 1))
		_, err := w.s.Rewind(w.Context(), admin, run.ID, fermata.RunRewind{Step: "draft", Newest: true})
		w.OK(err)
		patience.Await(w, "the run asks what the newest definition says", func() bool {
			q := w.read(run.ID).PendingQuestion
			return q != nil && q.Title == "Is it better?"
		})
		w.put(strings.Replace(drafting, "id: look, tool: note", "id: look, tool: analyze", 1))
		_, err = w.s.Rewind(w.Context(), admin, run.ID, fermata.RunRewind{Step: "draft", Newest: true})
		w.wantRefusal(err, "steps.look is another one there")
		if q := w.read(run.ID).PendingQuestion; q == nil || q.Status != fermata.Pending {
			w.Error("a rewind that was refused withdrew the question")
		}
		w.wantAuditIntact()
	})
}

// A run that was moved in the database does not continue. The audit finds a move to a definition that was never stored.
func TestNoRunIsMovedPastTheServer(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(drafting, nil)
		q := w.awaitRunQuestion(run.ID)
		first := run.Hash
		w.put(drafting + "# another\n")
		_, err := w.s.Move(w.Context(), admin, run.ID)
		w.OK(err)
		storetest.Exec(w, w.Options, "UPDATE workflow_runs SET hash = '"+first+"'")
		w.answer(q, fermata.Answer{Answer: fermata.Approve})
		if ended := w.awaitEnd(run.ID); !strings.Contains(ended.Summary, "it was changed in the database") {
			w.Errorf("the run is %s: %s", ended.State, ended.Summary)
		}
	})
}

// inputsOf returns the inputs of a step's occurrences.
func inputsOf(run *fermata.WorkflowRun, step string) string {
	var all []string
	for _, s := range run.Steps {
		if s.Step == step && s.Item == nil {
			all = append(all, string(s.Input))
		}
	}
	return strings.Join(all, " ")
}

// stepOf returns the last occurrence of a step, or an empty one if there is none.
func (w *world) stepOf(id, step string) *fermata.WorkflowStep {
	w.Helper()
	last := &fermata.WorkflowStep{}
	for _, s := range w.read(id).Steps {
		if s.Step == step && s.Item == nil {
			last = s
		}
	}
	return last
}

func (w *world) status(id string) fermata.QuestionStatus {
	w.Helper()
	q, err := w.Engine.Question(w.Context(), admin, id)
	w.OK(err)
	return q.Status
}

func (w *world) cancel(id string) {
	w.Helper()
	_, err := w.Engine.CancelTask(w.Context(), admin, id, "")
	w.OK(err)
}

// events returns the events of one type of a run.
func (w *world) events(id string, typ fermata.EventType) []*fermata.Event {
	w.Helper()
	all, err := w.DB.Reader(w.Context(), store.DefaultWorkspace).Events(store.EventFilter{TaskID: id, Types: []string{string(typ)}, Limit: 10})
	w.OK(err)
	return all
}

// wantAuditIntact checks that the audit finds nothing.
func (w *world) wantAuditIntact() {
	w.Helper()
	report, err := w.Engine.VerifyAudit(w.Context(), admin)
	w.OK(err)
	if !report.OK {
		w.Errorf("the audit finds %+v", report)
	}
}
