package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
)

// handled is a workflow with steps for every way in which it can end.
const handled = `
name: handled
triggers: [{manual: true}]
inputs: {issue: {type: number}}
steps:
  - {id: look, tool: check, output: seen}
  - {id: publish, tool: publish, input: {text: "{{ seen.n }}"}}
on_success:
  - {id: cheer, tool: note, input: {text: "{{ seen.n }} well"}}
on_failure:
  - {id: tell, tool: note, input: {text: "{{ failure.step }} {{ failure.code }} {{ failure.message }} {{ failure.state }} {{ failure.reason }} of {{ inputs.issue }}"}}
finally:
  - {id: tidy, tool: apply, input: {text: "{{ failure?.step ?? 'well' }}"}}
`

// texts records the texts that a tool is given, in order.
func (w *world) texts(name string) *[]string {
	texts := &[]string{}
	w.tools.on(name, func(_ context.Context, c tool.Call) (any, error) {
		text, _ := c.Input["text"].(string)
		*texts = append(*texts, text)
		return nil, nil
	})
	return texts
}

func TestWhatIsDoneAtTheEndOfARun(t *testing.T) {
	onBoth(t, func(w *world) {
		notes, tidied := w.texts("note"), w.texts("apply")
		fails := false
		w.tools.on("check", func(context.Context, tool.Call) (any, error) { return map[string]any{"n": 7}, nil })
		w.tools.on("publish", func(context.Context, tool.Call) (any, error) {
			if fails {
				return nil, errors.New("no such page")
			}
			return nil, nil
		})
		run := w.await(w.run(handled, map[string]any{"issue": 12}).ID, fermata.TaskDone)
		w.wantSteps(run, "look/1:done publish/1:done cheer/1:done tidy/1:done ")
		if run.Summary != "2 of 2 steps done." {
			w.Errorf("the summary is %q", run.Summary)
		}
		fails = true
		id := w.run(handled, map[string]any{"issue": 12}).ID
		run = w.await(id, fermata.TaskFailed)
		w.wantSteps(run, "look/1:done publish/1:failed (tool_failed: no such page) tell/1:done tidy/1:done ")
		if run.Reason != fermata.ReasonStepFailed || !strings.Contains(run.Summary, "no such page") {
			w.Errorf("the run is %s: %s", run.Reason, run.Summary)
		}
		want := []string{"7 well", "publish tool_failed no such page failed step_failed of 12"}
		if strings.Join(*notes, "|") != strings.Join(want, "|") || strings.Join(*tidied, "|") != "well|publish" {
			w.Errorf("told %q, tidied %q", *notes, *tidied)
		}
		// A retry continues at the step that failed, and the run then ends with success.
		fails = false
		_, err := w.s.Retry(w.Context(), admin, id, nil)
		w.OK(err)
		run = w.await(id, fermata.TaskDone)
		w.wantSteps(run, "look/1:done publish/1:done tell/1:done tidy/1:done cheer/1:done tidy/2:done ")
	})
}

// A failing on_failure step does not hide why the run failed, and the finally steps are still done.
func TestHandlersThatFail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t))
	tidied := w.texts("apply")
	w.tools.on("check", func(context.Context, tool.Call) (any, error) { return map[string]any{"n": 7}, nil })
	w.tools.on("note", func(context.Context, tool.Call) (any, error) { return nil, errors.New("nobody hears") })
	run := w.await(w.run(handled, map[string]any{"issue": 12}).ID, fermata.TaskFailed)
	w.wantSteps(run, "look/1:done publish/1:done cheer/1:failed (tool_failed: nobody hears) tell/1:failed (tool_failed: nobody hears) tidy/1:done ")
	if !strings.Contains(run.Summary, "The step cheer failed: nobody hears") || !strings.Contains(run.Summary, "Then, in on_failure: The step tell failed") {
		t.Errorf("the summary is %q", run.Summary)
	}
	if strings.Join(*tidied, "|") != "cheer" {
		t.Errorf("tidied %q", *tidied)
	}
}

// Each step of finally is tried, also after one of them failed. The run fails, and a retry begins at the first that failed.
func TestEachFinallyStepIsTried(t *testing.T) {
	onBoth(t, func(w *world) {
		var failing sync.Map
		for _, name := range []string{"apply", "publish"} {
			failing.Store(name, true)
			w.tools.on(name, func(context.Context, tool.Call) (any, error) {
				if fails, _ := failing.Load(name); fails == true {
					return nil, errors.New("no " + name)
				}
				return nil, nil
			})
		}
		notes := w.texts("note")
		run := w.await(w.run(`
name: tidies
triggers: [{manual: true}]
steps:
  - {id: work, tool: note, input: {text: work}}
finally:
  - {id: one, tool: apply}
  - {id: two, tool: publish}
  - {id: three, tool: note, input: {text: "{{ failure == null ? 'none' : failure.step }}"}}
`, nil).ID, fermata.TaskFailed)
		w.wantSteps(run, "work/1:done one/1:failed (tool_failed: no apply) two/1:failed (tool_failed: no publish) three/1:done ")
		if want := "The step one failed: no apply\nThen, in finally: The step two failed: no publish"; run.Summary != want {
			w.Errorf("the summary is %q", run.Summary)
		}
		failing.Store("apply", false)
		failing.Store("publish", false)
		_, err := w.s.Retry(w.Context(), admin, run.ID, nil)
		w.OK(err)
		w.await(run.ID, fermata.TaskDone)
		if got := strings.Join(*notes, "|"); got != "work|one|none" {
			w.Errorf("the notes are %q", got)
		}
		w.wantAuditIntact()
	})
}

// A run that is set aside because the confidence is too low ends without success.
func TestWhatIsDoneAboutARunThatIsSetAside(t *testing.T) {
	onBoth(t, func(w *world) {
		notes := w.texts("note")
		run := w.await(w.run(`
name: unsure
triggers: [{manual: true}]
confidence: {auto: 80, ask: 50}
steps:
  - {id: ask, tool: post_question, suspend: true, input: {question: "Which?", options: [a, b], default: a, confidence: 20, timeout: never}}
  - {id: apply, tool: apply}
on_failure:
  - {id: tell, tool: note, input: {text: "{{ failure.step }} {{ failure.state }} {{ failure.reason }}"}}
finally:
  - {id: tidy, tool: note, input: {text: "tidied"}}
`, nil).ID, fermata.TaskSkipped)
		w.wantSteps(run, "ask/1:skipped tell/1:done tidy/1:done ")
		if run.Reason != fermata.ReasonLowConfidence || strings.Join(*notes, "|") != "ask skipped confidence_below_policy|tidied" {
			w.Errorf("the run is %s, told %q", run.Reason, *notes)
		}
		q, err := w.Engine.Question(w.Context(), admin, run.Steps[0].QuestionID)
		w.OK(err)
		if q.Status != fermata.Cancelled || q.Resolution.DecidedBy != fermata.ActorPolicy {
			w.Errorf("the question is %s", asJSON(q))
		}
	})
}

// A failed run with an issue comments on it, unless its definition has on_failure steps.
func TestAFailedRunTellsItsIssue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t))
	var told []map[string]any
	w.tools.on("github_comment", func(_ context.Context, c tool.Call) (any, error) {
		told = append(told, map[string]any{"issue": c.Inputs["issue"], "body": c.Input["body"]})
		return nil, nil
	})
	w.tools.on("publish", func(context.Context, tool.Call) (any, error) { return nil, errors.New("no such page\n```\n@everyone") })
	const failed = "publish/1:failed (tool_failed: no such page\n```\n@everyone) "
	const source = "name: tells\ntriggers: [{manual: true}]\ninputs: {issue: {type: number}}\nsteps:\n  - {id: publish, tool: publish}\n"
	for _, c := range []struct {
		source string
		inputs map[string]any
		steps  string
		told   int
	}{
		{source, map[string]any{"issue": 12}, failed + "on_failure.comment/1:done ", 1},
		{source, nil, failed, 0},
		{source + "on_failure: none\n", map[string]any{"issue": 12}, failed, 0},
	} {
		told = nil
		run := w.await(w.run(c.source, c.inputs).ID, fermata.TaskFailed)
		w.wantSteps(run, c.steps)
		if len(told) != c.told {
			t.Fatalf("told %v", told)
		}
		if len(told) == 0 {
			continue
		}
		body, _ := told[0]["body"].(string)
		for _, want := range []string{"The workflow **tells** failed at the step `publish`.", "\n````\nno such page\n```\n@everyone\n````\n"} {
			if !strings.Contains(body, want) {
				t.Errorf("the comment lacks %q:\n%s", want, body)
			}
		}
	}
}

// A version of Fermata that knows only the main steps cannot read the checkpoint of a run after them. So it does not
// take that run for done.
func TestTheCheckpointSaysThatARunIsBehindItsSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t))
	w.tools.on("check", func(context.Context, tool.Call) (any, error) { return nil, errors.New("no such page") })
	const ask = `{id: %s, tool: post_question, suspend: true, input: {question: "Go on?", responseType: boolean, timeout: never}}`
	run := w.run("name: waits\ntriggers: [{manual: true}]\nsteps:\n  - "+fmt.Sprintf(ask, "first")+"\n  - {id: look, tool: check}\non_failure:\n  - "+fmt.Sprintf(ask, "second")+"\n", nil)
	for _, want := range []string{`"format":1`, `"format":2`} {
		q := w.awaitRunQuestion(run.ID)
		task, err := w.DB.Reader(t.Context(), store.DefaultWorkspace).Task(run.ID)
		w.OK(err)
		if !strings.Contains(string(task.Checkpoint), want) {
			t.Errorf("the checkpoint is %s, want %s", task.Checkpoint, want)
		}
		w.answer(q, fermata.Answer{Answer: true})
	}
	w.await(run.ID, fermata.TaskFailed)
}
