package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/test/patience"
)

// repairing is a workflow that tests, fixes the failures, and tests again.
const repairing = `
name: repairing
triggers: [{manual: true}]
max_iterations: 2
steps:
  - {id: mend, tool: apply, condition: steps.test.status == 'failed', input: {text: "{{ steps.test.error.message }}"}}
  - {id: test, tool: check, on_error: continue, repeat: {from: mend, until: steps.test.status == 'done', max: 4}}
  - {id: ship, tool: publish}
`

func TestRounds(t *testing.T) {
	onBoth(t, func(w *world) {
		repaired := w.texts("apply")
		broken := 3
		w.tools.on("check", func(context.Context, tool.Call) (any, error) {
			if broken == 0 {
				return nil, nil
			}
			broken--
			return nil, errors.New("a test fails")
		})
		run := w.await(w.run(repairing, nil).ID, fermata.TaskDone)
		w.wantSteps(run, "mend/1:skipped test/1:failed (tool_failed: a test fails) mend/2:done test/2:failed (tool_failed: a test fails) "+
			"mend/3:done test/3:failed (tool_failed: a test fails) mend/4:done test/4:done ship/1:done ")
		if len(*repaired) != 3 || (*repaired)[2] != "a test fails" || run.Summary != "3 of 3 steps done." {
			w.Errorf("it repaired %q: %s", *repaired, run.Summary)
		}

		broken = 100
		id := w.run(repairing, nil).ID
		run = w.await(id, fermata.TaskFailed)
		if !strings.HasSuffix(w.describe(run), "mend/4:done test/4:failed (repeated_in_vain: it was done 4 times, and repeat.until is still false; the last time it failed: a test fails) ") {
			w.Fatalf("steps: %s", w.describe(run))
		}
		// A retry gives the step the same number of rounds again.
		broken = 0
		_, err := w.s.Retry(w.Context(), admin, id, nil)
		w.OK(err)
		w.await(id, fermata.TaskDone)
	})
}

// TestRoundsWithinRounds checks that inner rounds are counted again in each outer round.
func TestRoundsWithinRounds(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.await(w.run(`
name: nested
triggers: [{manual: true}]
steps:
  - {id: outer, tool: note, input: {n: "{{ run.occurrence }}"}, output: o}
  - {id: inner, tool: note, input: {n: "{{ run.occurrence }}"}, output: i, repeat: {until: i.n % 3 == 0, max: 3}}
  - {id: last, tool: note, repeat: {from: outer, until: o.n == 3, max: 3}}
`, nil).ID, fermata.TaskDone)
		w.wantSteps(run, "outer/1:done inner/1:done inner/2:done inner/3:done last/1:done "+
			"outer/2:done inner/4:done inner/5:done inner/6:done last/2:done outer/3:done inner/7:done inner/8:done inner/9:done last/3:done ")
	})
}

// TestRoundsAreCountedAgain checks that run.round counts as max does: from 1 within each repetition, and again after a
// rewind and after a goto back.
func TestRoundsAreCountedAgain(t *testing.T) {
	onBoth(t, func(w *world) {
		id := w.run(`
name: counted
triggers: [{manual: true}]
steps:
  - {id: first, tool: note, input: {n: "{{ run.round }}"}}
  - {id: look, tool: note, input: {n: "{{ run.round }}"}, repeat: {until: run.round >= 3, max: 5}}
  - {id: body, tool: note, input: {n: "{{ run.round }}"}}
  - {id: last, tool: note, input: {n: "{{ run.round * 10 }}"}, repeat: {from: body, until: run.round == 2}}
  - {id: ask, tool: post_question, suspend: true, input: {question: Again?, options: [again, go], timeout: never}, on_resume: {goto: {again: look}}}
`, nil).ID
		const rounds = "look 1 look 2 look 3 body 1 last 10 body 2 last 20 "
		want := "first 1 " + rounds
		wantRounds := func() {
			w.Helper()
			var got strings.Builder
			for _, step := range w.read(id).Steps {
				var input struct{ N *int }
				if w.OK(json.Unmarshal(step.Input, &input)); input.N != nil {
					fmt.Fprintf(&got, "%s %d ", step.Step, *input.N)
				}
			}
			if got.String() != want {
				w.Fatalf("the rounds are %swant %s", got.String(), want)
			}
		}
		q := w.awaitRunQuestion(id)
		wantRounds()
		for _, again := range []func(){
			func() { w.answer(q, fermata.Answer{Answer: "again"}) },
			func() { w.rewind(id, "look", "Once more.") },
		} {
			again()
			before := q.ID
			patience.Await(w, "the run asks again", func() bool {
				q = w.read(id).PendingQuestion
				return q != nil && q.ID != before
			})
			want += rounds
			wantRounds()
		}
		w.answer(q, fermata.Answer{Answer: "go"})
		w.await(id, fermata.TaskDone)
	})
}

// TestRoundsThatCannotBeJudged checks that an until that cannot be evaluated fails the run, also if the step may fail,
// or asks people about errors.
func TestRoundsThatCannotBeJudged(t *testing.T) {
	onBoth(t, func(w *world) {
		const source = `
name: unjudged
triggers: [{manual: true}]
steps:
  - {id: look, tool: note, input: {n: x}, output: seen, on_error: %, repeat: {until: seen.n < 3}}
  - {id: after, tool: note}
`
		run := w.await(w.run(strings.Replace(source, "%", "continue", 1), nil).ID, fermata.TaskFailed)
		if run.Steps[0].State != fermata.StepFailed || run.Steps[0].Error.Code != "condition_error" {
			w.Errorf("steps: %s", w.describe(run))
		}
		q := w.awaitRunQuestion(w.run(strings.Replace(source, "%", "ask", 1), nil).ID)
		w.answerAs(w.operator(), q, fermata.Answer{Answers: map[string]any{"action": "retry_with_input", "input": `{"n": 1}`}})
		run = w.await(q.TaskID, fermata.TaskDone)
		w.wantSteps(run, "look/1:done after/1:done ")
	})
}

// TestRoundsThatAPersonEnds checks that a person that skips a step after its last round is not asked again.
func TestRoundsThatAPersonEnds(t *testing.T) {
	onBoth(t, func(w *world) {
		q := w.awaitRunQuestion(w.run(`
name: vain
triggers: [{manual: true}]
steps:
  - {id: look, tool: note, input: {n: 1}, output: seen, on_error: ask, repeat: {until: seen.n > 3, max: 2}}
  - {id: after, tool: note}
`, nil).ID)
		w.answer(q, fermata.Answer{Answers: map[string]any{"action": "skip"}})
		run := w.await(q.TaskID, fermata.TaskDone)
		w.wantSteps(run, "look/1:done look/2:skipped (repeated_in_vain: it was done 2 times, and repeat.until is still false) after/1:done ")
	})
}

// TestWhatAFailedCommandLeaves checks that later steps see the exit code and the output of a command, without secrets,
// and with a limited length.
func TestWhatAFailedCommandLeaves(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: leaves
triggers: [{manual: true}]
steps:
  - {id: auth, tool: check, input: {key: "{{ secrets.KEY }}"}}
  - {id: test, tool: shell, on_error: continue, input: {run: make test}}
  - {id: say, tool: note, input: {code: "{{ steps.test.error.exit_code }}", out: "{{ steps.test.error.stdout }}", err: "{{ steps.test.error.stderr }}"}}
  - {id: bad, tool: apply, on_error: continue}
  - {id: none, tool: note, input: {code: "{{ steps.bad.error.exit_code }}", out: "{{ steps.bad.error.stdout }}"}}
`, nil)
		w.tools.on("apply", func(context.Context, tool.Call) (any, error) { return nil, errors.New("no") })
		w.work(fermata.Finish{Result: fermata.ResultFailed, Summary: "exit status 2", Details: []byte(`{"exit_code":2,"output":"` + strings.Repeat("x", fermata.MaxStepErrorOutput) + `1 test failed\n","stderr":"key s3cret-KEY\n"}`)})
		run = w.await(run.ID, fermata.TaskDone)
		seen := string(run.Steps[2].Input)
		if !strings.Contains(seen, `"code":2`) || !strings.Contains(seen, `x1 test failed\n"`) || !strings.Contains(seen, `"err":"key [secret KEY]\n"`) {
			w.Errorf("the next step got %.200s … %s", seen, seen[max(0, len(seen)-200):])
		}
		if e := run.Steps[1].Error; *e.ExitCode != 2 || len(e.Stdout) != fermata.MaxStepErrorOutput {
			w.Errorf("the step keeps %d bytes, exit code %v", len(e.Stdout), e.ExitCode)
		}
		if got := string(run.Steps[4].Input); got != `{"code":null,"out":""}` {
			w.Errorf("of a step without a command: %s", got)
		}
	})
}

// However a command fails, its error says what it printed. A person or an agent that repairs it needs that.
func TestEveryFailureOfACommandSaysWhatItPrinted(t *testing.T) {
	const printed = `"output":"out\n","stderr":"err\n"`
	for name, tt := range map[string]struct {
		end      fermata.Finish
		code     string
		exitCode *int
	}{
		"its exit code":          {fermata.Finish{Result: fermata.ResultFailed, Details: []byte(`{"exit_code":3,` + printed + `}`)}, "child_failed", new(3)},
		"its time limit":         {fermata.Finish{Result: fermata.ResultFailed, Summary: "too long", Details: []byte(`{"exit_code":-1,` + printed + `}`)}, "child_failed", nil},
		"its schema":             {fermata.Finish{Result: fermata.ResultCompleted, Details: []byte(`{"exit_code":0,` + printed + `}`)}, "output_mismatch", new(0)},
		"its own word":           {fermata.Finish{Result: fermata.ResultFailed, Summary: "no", Details: []byte(`{"exit_code":3,` + printed + `,"details":null}`)}, "child_failed", new(3)},
		"the schema of its file": {fermata.Finish{Result: fermata.ResultCompleted, Details: []byte(`{"exit_code":0,` + printed + `,"details":{"count":"many"}}`)}, "output_mismatch", new(0)},
		"the length of its file": {fermata.Finish{Result: fermata.ResultCompleted, Details: []byte(`{"exit_code":0,` + printed + `,"details":{"count":1,"x":"` + strings.Repeat("x", fermata.MaxStepOutput) + `"}}`)}, "output_too_large", new(0)},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				run := w.run("name: says\ntriggers: [{manual: true}]\nsteps:\n"+
					"  - {id: test, tool: shell, input: {run: make test}, schema: {type: object, required: [count], properties: {count: {type: number}}}}\n", nil)
				w.work(tt.end)
				run = w.await(run.ID, fermata.TaskFailed)
				e := run.Steps[0].Error
				if diff := cmp.Diff(tt.exitCode, e.ExitCode); diff != "" || e.Code != tt.code || e.Stdout != "out\n" || e.Stderr != "err\n" {
					w.Errorf("got %+v: %s", e, diff)
				}
			})
		})
	}
}

// The output of a command is what it printed on its standard output, or the details of its file. Long JSON that it
// printed counts as well.
func TestTheOutputOfACommand(t *testing.T) {
	const schema = ", schema: {type: object, required: [n]}"
	for name, tt := range map[string]struct{ schema, details, want string }{
		"printed":           {"", `{"exit_code":0,"output":"out\n","stderr":"err\n"}`, `{"exit_code":0,"output":"out\n"}`},
		"cut":               {"", `{"exit_code":0,"output":"out\n","left_out":7,"stderr":""}`, `{"exit_code":0,"left_out":7,"output":"out\n"}`},
		"a file":            {"", `{"exit_code":0,"output":"out\n","stderr":"","details":[1]}`, `[1]`},
		"a file of a text":  {"", `{"exit_code":0,"output":"out\n","stderr":"","details":null}`, `{"summary":"said"}`},
		"printed JSON":      {schema, `{"exit_code":0,"output":"{\"n\":1}","stderr":""}`, `{"n":1}`},
		"long printed JSON": {schema, `{"exit_code":0,"output":"1}","left_out":70000,"stderr":"","json":{"n":1}}`, `{"n":1}`},
		"an older worker":   {schema, `{"n":1}`, `{"n":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				run := w.run("name: prints\ntriggers: [{manual: true}]\nsteps:\n  - {id: test, tool: shell, input: {run: make test}"+tt.schema+"}\n", nil)
				w.work(fermata.Finish{Result: fermata.ResultCompleted, Summary: "said", Details: []byte(tt.details)})
				run = w.await(run.ID, fermata.TaskDone)
				if got := string(run.Steps[0].Output); got != tt.want {
					w.Errorf("got %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// An agent without a schema has a summary, whatever its runner reports.
func TestEveryAgentHasASummary(t *testing.T) {
	for name, tt := range map[string]struct{ details, want string }{
		"only words":           {``, `{"summary":"said"}`},
		"long words":           {`{"text":"all"}`, `{"summary":"all"}`},
		"details":              {`{"count":3}`, `{"count":3,"summary":"said"}`},
		"a summary in details": {`{"summary":"mine"}`, `{"summary":"mine"}`},
		"a list":               {`[3]`, `{"details":[3],"summary":"said"}`},
		"a program":            {`{"exit_code":0,"output":"x"}`, `{"exit_code":0,"output":"x","summary":"said"}`},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				run := w.run("name: sums\ntriggers: [{manual: true}]\nsteps:\n  - {id: ask, tool: agent, input: {prompt: x}}\n", nil)
				w.work(fermata.Finish{Result: fermata.ResultCompleted, Summary: "said", Details: []byte(tt.details)})
				run = w.await(run.ID, fermata.TaskDone)
				if got := string(run.Steps[0].Output); got != tt.want {
					w.Errorf("got %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// A command that used up its rounds keeps the exit code and the output of its last round, also for the person that is
// asked what to do.
func TestTheLastRoundIsTold(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run("name: mend\ntriggers: [{manual: true}]\nsteps:\n"+
			"  - {id: test, tool: shell, input: {run: make test}, on_error: continue, repeat: {until: steps.test.status == 'done', max: 1}}\n", nil)
		w.work(fermata.Finish{
			Result: fermata.ResultFailed, Summary: "The program ended with exit status 2.\nno compiler", Details: []byte(`{"exit_code":2,"output":"building","stderr":"no compiler"}`),
		})
		run = w.await(run.ID, fermata.TaskFailed)
		e := run.Steps[0].Error
		if e.Code != "repeated_in_vain" || !strings.HasSuffix(e.Message, "no compiler") || e.ExitCode == nil || *e.ExitCode != 2 || e.Stdout != "building" || e.Stderr != "no compiler" {
			w.Errorf("got %+v", e)
		}
	})
}
