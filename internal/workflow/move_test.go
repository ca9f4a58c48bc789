package workflow_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
)

const asksWhenBroken = `
name: repairing
triggers: [{manual: true}]
steps:
  - {id: look, tool: note}
  - {id: act, tool: publish, on_error: ask, input: {version: 1}}
  - {id: last, tool: note}
`

// A run whose failed step asks moves to the definition in which the step is repaired. The question stays open, and its
// answer does the repaired step.
func TestARunMovesWhileItsFailedStepAsks(t *testing.T) {
	onBoth(t, func(w *world) {
		w.publishOnly(2)
		run := w.run(asksWhenBroken, nil)
		q := w.awaitRunQuestion(run.ID)
		w.put(strings.Replace(asksWhenBroken, "version: 1", "version: 2", 1))
		_, err := w.s.Move(w.Context(), admin, run.ID)
		w.OK(err)
		if now := w.awaitRunQuestion(run.ID); now.ID != q.ID {
			w.Fatalf("the question %s took the place of %s", now.ID, q.ID)
		}
		w.answer(q, fermata.Answer{Answers: map[string]any{"action": "retry"}})
		w.wantSteps(w.await(run.ID, fermata.TaskDone), "look/1:done act/1:done last/1:done ")
	})
}

// The same holds for a step in a branch.
func TestARunMovesWhileAFailedBranchAsks(t *testing.T) {
	onBoth(t, func(w *world) {
		w.publishOnly(2)
		source := forked(`
steps:
  - {id: other, tool: post_question, suspend: true, needs: [], input: {question: "B?", options: [x], timeout: never}}
  - {id: act, tool: publish, needs: [], on_error: ask, input: {version: 1}}
`)
		run := w.run(source, nil)
		open := w.awaitQuestions(run.ID, "other", "act")
		w.put(strings.Replace(source, "version: 1", "version: 2", 1))
		patience.Await(w, "the run waits", func() bool { return w.read(run.ID).State == fermata.TaskBlocked })
		_, err := w.s.Move(w.Context(), admin, run.ID)
		w.OK(err)
		w.answer(open["act"], fermata.Answer{Answers: map[string]any{"action": "retry"}})
		w.answer(open["other"], fermata.Answer{Answer: "x"})
		w.await(run.ID, fermata.TaskDone)
		if got := w.outcomes(run.ID); got != "act/1:done other/1:done" {
			w.Errorf("got %s", got)
		}
	})
}

// If the failed step is an approval in the newest definition, an answer to the older question neither skips it nor
// gives it another input. The answer was given before the move, and could still be taken back.
func TestAnOldAnswerIsNoApproval(t *testing.T) {
	for name, answers := range map[string]map[string]any{
		"skip":          {"action": "skip"},
		"another input": {"action": "retry_with_input", "input": `{"question":"Lunch?","action":{"command":["lunch"]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				w.publishOnly(2)
				run := w.run(asksWhenBroken, nil)
				first := w.awaitRunQuestion(run.ID)
				w.answerAs(w.operator(), first, fermata.Answer{Answers: answers, Undo: true})
				w.put(strings.Replace(asksWhenBroken, "tool: publish, on_error: ask, input: {version: 1}",
					`tool: request_approval, on_error: ask, input: {question: "Drop it?", action: {command: [drop]}}`, 1))
				_, err := w.s.Move(w.Context(), admin, run.ID)
				w.OK(err)
				w.Clock.Advance(time.Minute)
				var q *fermata.Question
				patience.Await(w, "a person is asked again", func() bool { q = w.awaitRunQuestion(run.ID); return q.ID != first.ID })
				if q.Type != fermata.ErrorRecovery || len(q.Items) != 1 || len(q.Items[0].Options) != 2 || !strings.Contains(q.Body, "asks people") {
					w.Fatalf("it asks %s: %s", q.Type, q.Body)
				}
				w.answer(q, fermata.Answer{Answer: "retry"})
				patience.Await(w, "the approval is asked", func() bool { return w.awaitRunQuestion(run.ID).Type == fermata.Approval })
			})
		})
	}
}

// A refusal to move says which step is gone, calls no step new that is not, and names the step to go back to. The run goes on
// from there.
func TestARefusedMoveNamesTheWayBack(t *testing.T) {
	const three = `
name: three
triggers: [{manual: true}]
steps:
  - {id: a, tool: note}
  - {id: q, tool: post_question, suspend: true, input: {question: "Which?", options: [x], timeout: never}}
  - {id: b, tool: note}
`
	for name, tt := range map[string]struct{ from, to, says, step string }{
		"a step is gone":      {`  - {id: q, tool: post_question, suspend: true, input: {question: "Which?", options: [x], timeout: never}}` + "\n", "", "definition: steps.q is gone there, and the run has begun it", "a"},
		"a step is another":   {"Which?", "Which one?", "definition: steps.q is another one there, and the run has begun it", "q"},
		"nothing is the same": {"id: a", "id: z", "steps.a is gone there, and the run has begun it", ""},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				run := w.run(three, nil)
				w.awaitRunQuestion(run.ID)
				w.put(strings.Replace(three, tt.from, tt.to, 1))
				_, err := w.s.Move(w.Context(), admin, run.ID)
				refusal, ok := errors.AsType[*fermata.Error](err)
				if !ok || !strings.HasSuffix(refusal.Message, tt.says) && tt.step != "" || !strings.Contains(refusal.Message, tt.says) || strings.Contains(refusal.Message, "steps.b") {
					w.Fatalf("it says %v", err)
				}
				want := "fermata workflow rewind " + run.ID + " " + tt.step + " --newest"
				if tt.step == "" {
					want = "start a new run: fermata workflow run three"
				}
				if !strings.Contains(refusal.Hint, want) {
					w.Errorf("the hint is %s", refusal.Hint)
				}
				if tt.step != "" {
					_, err = w.s.Rewind(w.Context(), admin, run.ID, fermata.RunRewind{Step: tt.step, Newest: true})
					w.OK(err)
				}
			})
		})
	}
}

// A run that goes back so far that no step stays done begins the newest definition from its start: also if that has
// another first step, or steps side by side.
func TestNothingStaysDone(t *testing.T) {
	const two = "name: two\ntriggers: [{manual: true}]\nsteps:\n  - {id: a, tool: note}\n  - {id: q, tool: post_question, suspend: true, input: {question: \"Which?\", options: [x], timeout: never}}\n"
	for name, tt := range map[string]struct{ from, to, want string }{
		"a new first step":        {"steps:\n", "steps:\n  - {id: zero, tool: note}\n", "a/2:done q/2:done zero/1:done"},
		"a step beside the first": {"options: [x], timeout: never}}\n", "options: [x], timeout: never}}\n  - {id: beside, tool: note, needs: []}\n", "a/2:done beside/1:done q/2:done"},
		"another first step":      {"id: a, tool: note}", "id: a, tool: note, input: {text: hello}}", "a/2:done q/2:done"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				run := w.run(two, nil)
				first := w.awaitRunQuestion(run.ID)
				w.put(strings.Replace(two, tt.from, tt.to, 1))
				_, err := w.s.Move(w.Context(), admin, run.ID)
				refusal, ok := errors.AsType[*fermata.Error](err)
				if !ok || !strings.Contains(refusal.Hint, "rewind "+run.ID+" a --newest") {
					w.Fatalf("it says %v", err)
				}
				_, err = w.s.Rewind(w.Context(), admin, run.ID, fermata.RunRewind{Step: "a", Newest: true, Feedback: "again"})
				w.OK(err)
				var q *fermata.Question
				patience.Await(w, "it asks again", func() bool {
					q = w.awaitStepQuestion(run.ID, "q")
					return q.ID != first.ID
				})
				w.answer(q, fermata.Answer{Answer: "x"})
				w.await(run.ID, fermata.TaskDone)
				if got := w.outcomes(run.ID); got != tt.want {
					w.Errorf("got %s", got)
				}
			})
		})
	}
}
