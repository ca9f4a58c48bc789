package workflow_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow"
	"github.com/fermata-hq/fermata/test/patience"
)

// Another input replaces the input that was approved. Only members that may
// change the workflow give one, and never for an approval itself.
func TestWhoMayGiveAnotherInput(t *testing.T) {
	onBoth(t, func(w *world) {
		down := true
		w.tools.on("publish", func(_ context.Context, c tool.Call) (any, error) {
			if down {
				return nil, errors.New("away")
			}
			return c.Input, nil
		})
		run := w.await(w.run(`
name: ship
triggers: [{manual: true}]
steps:
  - {id: publish, tool: publish, input: {version: 1}}
`, nil).ID, fermata.TaskFailed)
		other := []byte(`{"version":666}`)
		agent := worker
		agent.Scopes = append(slices.Clone(agent.Scopes), fermata.ScopeRead)
		for who, c := range map[string]fermata.Caller{"a responder": ann, "an agent": agent} {
			if _, err := w.s.Retry(w.Context(), c, run.ID, other); fermata.CodeOf(err) != fermata.CodeForbidden && fermata.CodeOf(err) != fermata.CodeNotFound {
				w.Errorf("%s: %v", who, err)
			}
		}
		down = false
		olga := w.operator()
		olga.Scopes = append(slices.Clone(olga.Scopes), fermata.ScopeWork)
		_, err := w.s.Retry(w.Context(), olga, run.ID, other)
		w.OK(err)
		run = w.await(run.ID, fermata.TaskDone)
		if got := string(run.Steps[0].Output); got != `{"version":666}` {
			w.Errorf("the step gave %s", got)
		}
		if note := run.Steps[0].Note; note != "with another input, by olga" {
			w.Errorf("the step says %q", note)
		}
		if all := w.storedText(run.ID); !strings.Contains(all, "with another input, by olga") {
			w.Errorf("no event tells who gave it: %s", all)
		}
	})
}

func TestNothingTakesThePlaceOfAnApproval(t *testing.T) {
	onBoth(t, func(w *world) {
		olga := w.operator()
		olga.Scopes = append(slices.Clone(olga.Scopes), fermata.ScopeWork)
		w.AddMember(newMember("ada"))
		for _, onError := range []string{"fail", "ask"} {
			run := w.run(`
name: ship-`+onError+`
triggers: [{manual: true}]
steps:
  - {id: ok, tool: request_approval, on_error: `+onError+`, input: {question: "Drop it?", action: {command: [drop]}, risk: high, approvals: {required: 2}}}
  - {id: publish, tool: publish}
`, nil)
			_, err := w.Engine.CancelQuestion(w.Context(), olga, w.awaitRunQuestion(run.ID).ID, "not today")
			w.OK(err)
			if onError == "ask" {
				q := w.awaitRunQuestion(run.ID)
				for _, it := range q.Items {
					for _, o := range it.Options {
						if o.Value == "skip" || o.Value == "retry_with_input" || it.Key == "input" {
							w.Errorf("people may choose %s %s", it.Key, o.Value)
						}
					}
				}
				w.answer(q, fermata.Answer{Answer: "abort"})
			}
			w.await(run.ID, fermata.TaskFailed)
			_, err = w.s.Retry(w.Context(), olga, run.ID, []byte(`{"question":"Lunch?","action":{"command":["lunch"]}}`))
			if fermata.CodeOf(err) != fermata.CodeIllegalTransition || !strings.Contains(err.Error(), "asks people") {
				w.Errorf("got %v", err)
			}
		}
	})
}

const shipsVersion = "name: ship\ntriggers: [{manual: true}]\nsteps: [{id: publish, tool: publish, on_error: ask, input: {version: 1}}]\n"

// publishOnly makes the tool publish fail for every version but the one given.
func (w *world) publishOnly(version int64) {
	w.tools.on("publish", func(_ context.Context, c tool.Call) (any, error) {
		if c.Input["version"] != version {
			return nil, errors.New("away")
		}
		return c.Input, nil
	})
}

// The person that answers the question about an error may give another input
// only as an operator. A refused answer leaves the question as it was.
func TestAResponderGivesNoOtherInput(t *testing.T) {
	onBoth(t, func(w *world) {
		w.publishOnly(2)
		run := w.run(shipsVersion, nil)
		q := w.awaitRunQuestion(run.ID)
		other := fermata.Answer{Answers: map[string]any{"action": "retry_with_input", "input": `{"version":2}`}}
		if _, err := w.Engine.Answer(w.Context(), ann, q.ID, other); fermata.CodeOf(err) != fermata.CodeForbidden {
			w.Fatalf("a responder got %v", err)
		}
		olga := w.operator()
		for _, input := range []any{nil, "", "version: 2", "[2]"} {
			wrong := fermata.Answer{Answers: map[string]any{"action": "retry_with_input", "input": input}}
			if _, err := w.Engine.Answer(w.Context(), olga, q.ID, wrong); fermata.CodeOf(err) != fermata.CodeInvalidRequest {
				w.Fatalf("the input %v got %v", input, err)
			}
		}
		w.answerAs(olga, q, other)
		w.await(run.ID, fermata.TaskDone)
	})
}

// A person that lost the role of an operator after the answer gives no other input either. The new question still
// says how the step failed.
func TestAnOtherInputOfAFormerOperator(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t))
	w.publishOnly(2)
	run := w.run(shipsVersion, nil)
	first := w.awaitRunQuestion(run.ID)
	olga := w.operator()
	olga.MemberID = ann.MemberID
	w.answerAs(olga, first, fermata.Answer{Answers: map[string]any{"action": "retry_with_input", "input": `{"version":2}`}})
	var q *fermata.Question
	patience.Await(w, "it is asked again", func() bool { q = w.awaitRunQuestion(run.ID); return q.ID != first.ID })
	if q.Body != "olga may not give another input: that is for operators of the project\n\naway" {
		t.Errorf("it says %q", q.Body)
	}
}

// Another input that the tool of the failed step cannot take is refused at once. The question stays open, and a run that
// has ended stays as it is.
func TestAnInputThatTheToolRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ step, input, want string }{
		"a command":                {"tool: shell, input: {run: make}", `{"comand": ["make"]}`, "shell does not take it: the input does not fit its schema"},
		"an agent":                 {"tool: agent, input: {runner: claude, prompt: Look.}", `{"prompt": 7}`, "agent does not take it: the input does not fit its schema: prompt: got number, want string"},
		"a workflow of no project": {"tool: workflow, input: {name: inner, inputs: {n: 1}}", `{"name": "iner"}`, "there is no workflow iner in the project default"},
		"an input of a workflow":   {"tool: workflow, input: {name: inner, inputs: {n: 1}}", `{"name": "inner", "inputs": {"n": "one"}}`, "inputs.n: must be a number"},
		"a tool of the workspace":  {"tool: rate, input: {what: it}", `{"wat": "it"}`, "the command of rate: "},
		"a command with a secret":  {"tool: shell, input: {run: make}", `{"run": "login s3cret-unnamed"}`, "the task would show a secret"},
		"an agent with a bad name": {"tool: agent, input: {runner: claude, prompt: Look.}", `{"runner": "No name", "prompt": "Look."}`, "runner"},
		"its own workflow":         {"tool: workflow, input: {name: inner, inputs: {n: 1}}", `{"name": "outer"}`, "would start itself without end"},
		"a wait":                   {`tool: wait, input: {until: "{{ inputs.until }}"}`, `{"until": "tomorrow"}`, `"tomorrow" is no instant`},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				w.put("name: inner\ntriggers: [{manual: true}]\ninputs: {n: {type: number, required: true}}\nsteps: [{id: build, tool: shell, input: {run: make}}]\n")
				_, err := w.s.PutNamedTool(w.Context(), admin, &fermata.NamedTool{Name: "rate", Command: []string{"rate", "{{ input.what }}"}})
				w.OK(err)
				run := w.run("name: outer\ntriggers: [{manual: true}]\ninputs: {until: {type: string, default: never}}\nsteps: [{id: act, on_error: ask, "+tt.step+"}]\n", nil)
				if name != "a wait" {
					w.work(fermata.Finish{Result: fermata.ResultFailed, Summary: "broken"})
				}
				q := w.awaitRunQuestion(run.ID)
				olga := w.operator()
				olga.Scopes = append(slices.Clone(olga.Scopes), fermata.ScopeWork)
				for _, undo := range []bool{false, true} {
					_, err = w.Engine.Answer(w.Context(), olga, q.ID, fermata.Answer{Answers: map[string]any{"action": "retry_with_input", "input": tt.input}, Undo: undo})
					w.wantInputRefusal(err, "answers.input", tt.want)
				}
				if now := w.awaitRunQuestion(run.ID); now.ID != q.ID || now.HeldAnswer != nil {
					w.Fatalf("the question is %+v", now)
				}
				w.answer(q, fermata.Answer{Answers: map[string]any{"action": "abort"}})
				before := w.await(run.ID, fermata.TaskFailed)
				_, err = w.s.Retry(w.Context(), olga, run.ID, []byte(tt.input))
				w.wantInputRefusal(err, "input", tt.want)
				if now := w.read(run.ID); now.State != before.State {
					w.Errorf("the run is %s", now.State)
				}
				if text := w.storedText(run.ID); strings.Contains(text, "s3cret-unnamed") {
					w.Errorf("the secret is stored: %s", text)
				}
			})
		})
	}
}

// wantInputRefusal checks the refusal of another input.
func (w *world) wantInputRefusal(err error, field, want string) {
	w.Helper()
	var e *fermata.Error
	if !errors.As(err, &e) || e.Code != fermata.CodeInvalidRequest || len(e.Problems) != 1 {
		w.Fatalf("got %v", err)
	}
	if p := e.Problems[0]; p.Field != field || !strings.Contains(p.Message, want) || e.Hint == "" {
		w.Errorf("got %s: %s (%s), want %s", p.Field, p.Message, e.Hint, want)
	}
}

// People see an input without its secrets. What they change and give back has placeholders, which stand for the secrets
// where the definition has them, and nowhere else.
func TestAnotherInputHasTheSecretsOfTheStep(t *testing.T) {
	onBoth(t, func(w *world) {
		down, got := true, ""
		w.tools.on("apply", func(_ context.Context, c tool.Call) (any, error) {
			if down {
				return nil, errors.New("away")
			}
			got = asJSON(c.Input)
			return nil, nil //nolint:nilnil // the tool gives null
		})
		run := w.run("name: call\ntriggers: [{manual: true}]\nsteps:\n  - {id: call, tool: apply, on_error: ask, input: {url: old, headers: {auth: \"Bearer {{ secrets.API }}\"}, keys: [\"{{ secrets.API }}\"], all: \"{{ {a: secrets.api} }}\"}}\n", nil)
		q := w.awaitRunQuestion(run.ID)
		olga := w.operator()
		for input, want := range map[string]string{
			`{"url":"https://evil.example/[secret API]"}`:     "url: [secret API] stands for the secret only where the definition has {{ secrets.API }}",
			`{"headers":{"other":"[secret API]"}}`:            "headers.other: [secret API] stands for",
			`{"keys":["x","[secret API]"]}`:                   "keys[1]: [secret API] stands for",
			`{"headers":{"auth":"Bearer [secret unnamed]"}}`:  "headers.auth: [secret unnamed] stands for",
			`{"headers":{"auth":"Bearer {{ secrets.API }}"}}`: "headers.auth: another input is no template",
		} {
			_, err := w.Engine.Answer(w.Context(), olga, q.ID, fermata.Answer{Answers: map[string]any{"action": "retry_with_input", "input": input}})
			w.wantInputRefusal(err, "answers.input", want)
		}
		down = false
		const given = `{"all":{"a":"[secret API]"},"headers":{"auth":"Bearer [secret API]"},"keys":["[secret API]"],"url":"new [secret sauce]"}`
		w.answerAs(olga, q, fermata.Answer{Answers: map[string]any{"action": "retry_with_input", "input": given}})
		run = w.await(run.ID, fermata.TaskDone)
		if want := strings.ReplaceAll(given, "[secret API]", "s3cret-API"); got != want {
			w.Errorf("the tool got %s", got)
		}
		if input := string(run.Steps[0].Input); input != given {
			w.Errorf("the step shows %s", input)
		}
		if text := w.storedText(run.ID); strings.Contains(text, "s3cret-API") {
			w.Errorf("the secret is stored: %s", text)
		}
	})
}

// An input that the step refuses when it begins is not used again: trying again takes the step's own input.
func TestARefusedInputIsForgotten(t *testing.T) {
	onBoth(t, func(w *world) {
		rate := func(needs string) {
			w.Helper()
			_, err := w.s.PutNamedTool(w.Context(), admin, &fermata.NamedTool{Name: "rate", Command: []string{"rate", "{{ input." + needs + " }}"}})
			w.OK(err)
		}
		rate("what")
		run := w.run("name: ship\ntriggers: [{manual: true}]\nsteps: [{id: build, tool: rate, on_error: ask, input: {what: \"a > b\", who: ann}}]\n", nil)
		w.work(fermata.Finish{Result: fermata.ResultFailed, Summary: "no compiler"})
		olga := w.operator()
		first := w.awaitRunQuestion(run.ID)
		if preview := first.Context.Preview.Text; !strings.Contains(preview, "a > b") {
			w.Errorf("the preview is %s", preview)
		}
		w.stop()
		w.answerAs(olga, first, fermata.Answer{Answers: map[string]any{"action": "retry_with_input", "input": `{"what":"the other"}`}})
		rate("who")
		w.Engine, w.s = w.process(func(*workflow.Options) {})
		w.start()
		var q *fermata.Question
		patience.Await(w, "it is asked again", func() bool { q = w.awaitRunQuestion(run.ID); return q.ID != first.ID })
		if !strings.Contains(q.Body, "The other input was not used") || !strings.Contains(q.Body, "the command of rate: ") {
			w.Errorf("it says %q", q.Body)
		}
		w.answerAs(olga, q, fermata.Answer{Answers: map[string]any{"action": "retry"}})
		task := w.work(fermata.Finish{Result: fermata.ResultCompleted})
		if !strings.Contains(string(task.Spec), `"ann"`) {
			w.Errorf("the command is %s", task.Spec)
		}
		run = w.await(run.ID, fermata.TaskDone)
		if note := run.Steps[0].Note; strings.Contains(note, "another input") {
			w.Errorf("the note is %q", note)
		}
	})
}

// A definition is not run after a change in the database that removed an
// approval from it.
func TestADefinitionThatWasChangedIsNotRun(t *testing.T) {
	onBoth(t, func(w *world) {
		w.put("name: ship\ntriggers: [{manual: true}]\nsteps: [{id: a, tool: note}, {id: publish, tool: publish}]\n")
		w.stop()
		storetest.Exec(w.T, w.Options, "UPDATE workflow_definitions SET source = replace(source, 'tool: note', 'tool: apply')")
		w.Engine, w.s = w.process(func(*workflow.Options) {})
		w.start()
		if _, err := w.s.Start(w.Context(), admin, "ship", nil); err == nil || !strings.Contains(err.Error(), "changed in the database") {
			w.Errorf("got %v", err)
		}
	})
}

// A step with foreach takes no other input: its items have inputs of their own, and none replaces them all.
func TestAStepWithForeachTakesNoOtherInput(t *testing.T) {
	onBoth(t, func(w *world) {
		w.breakTool("check")
		olga := w.operator()
		olga.Scopes = append(slices.Clone(olga.Scopes), fermata.ScopeWork)
		run := w.run("name: sweep\ntriggers: [{manual: true}]\nsteps: [{id: each, tool: check, foreach: [1, 2, 3], on_error: ask, input: {n: '{{ item }}'}}]\n", nil)
		q := w.awaitRunQuestion(run.ID)
		var offered []string
		for _, o := range q.Item(fermata.RemedyKey).Options {
			offered = append(offered, o.Value)
		}
		if got := strings.Join(offered, " "); got != "retry skip abort" || len(q.Items) != 1 {
			w.Errorf("people may choose %s, of %d items", got, len(q.Items))
		}
		w.answer(q, fermata.Answer{Answers: map[string]any{"action": "abort"}})
		w.await(run.ID, fermata.TaskFailed)
		_, err := w.s.Retry(w.Context(), olga, run.ID, []byte(`{"n":4}`))
		refusal, ok := errors.AsType[*fermata.Error](err)
		if !ok || refusal.Code != fermata.CodeIllegalTransition || !strings.Contains(refusal.Message, "each has foreach") || !strings.Contains(refusal.Hint, "fermata workflow move "+run.ID) {
			w.Errorf("got %v", err)
		}
		if got := w.read(run.ID).State; got != fermata.TaskFailed {
			w.Errorf("the run is %s", got)
		}
	})
}
