package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// storedText returns everything that the database holds about a run.
func (w *world) storedText(id string) string {
	w.Helper()
	r := w.DB.Reader(w.Context(), store.DefaultWorkspace)
	run, err := r.WorkflowRun(id)
	w.OK(err)
	steps, err := r.Steps(id)
	w.OK(err)
	t, err := r.Task(id)
	w.OK(err)
	events, err := r.Events(store.EventFilter{Limit: 500})
	w.OK(err)
	return asJSON([]any{run, steps, t, events})
}

// TestSecretsStayHiddenAfterAnAnswer returns a secret from a step in another process than the one that read the secret.
func TestSecretsStayHiddenAfterAnAnswer(t *testing.T) {
	onBoth(t, func(w *world) {
		w.tools.on("check", func(context.Context, tool.Call) (any, error) {
			return map[string]any{"log": "signed in with s3cret-API"}, nil
		})
		w.tools.on("publish", func(context.Context, tool.Call) (any, error) {
			return nil, errors.New("401 for s3cret-API")
		})
		run := w.run(`
name: secretive
triggers: [{manual: true}]
steps:
  - {id: call, tool: apply, input: {token: "{{ secrets.API }}"}}
  - {id: ask, tool: post_question, suspend: true, input: {question: "Go on?", responseType: boolean, timeout: never}}
  - {id: look, tool: check, output: seen}
  - {id: fail, tool: publish, input: {text: "{{ seen.log }}"}}
`, nil)
		w.answer(w.awaitRunQuestion(run.ID), fermata.Answer{Answer: true})
		run = w.await(run.ID, fermata.TaskFailed)
		if all := w.storedText(run.ID); strings.Contains(all, "s3cret") {
			w.Fatalf("the secret is in %s", all)
		}
		if got := run.Steps[3].Error.Message; got != "401 for [secret API]" {
			w.Fatalf("the error is %q", got)
		}
	})
}

// A tool may return a secret of the server that the definition does not name. People must not read it in a question.
func TestSecretsThatNobodyNamedStayHidden(t *testing.T) {
	onBoth(t, func(w *world) {
		w.tools.on("check", func(context.Context, tool.Call) (any, error) {
			return map[string]any{"log": "signed in with s3cret-unnamed"}, nil
		})
		run := w.run(`
name: careless
triggers: [{manual: true}]
steps:
  - {id: look, tool: check, output: seen}
  - {id: ask, tool: post_question, suspend: true, input: {question: "It says: {{ seen.log }}. Go on?", responseType: boolean, timeout: never}}
`, nil)
		q := w.awaitRunQuestion(run.ID)
		if text := asJSON(q); strings.Contains(text, "s3cret-unnamed") || !strings.Contains(text, "[secret UNNAMED]") {
			w.Fatalf("the question is %s", text)
		}
		if all := w.storedText(run.ID); strings.Contains(all, "s3cret-unnamed") {
			w.Fatalf("the secret is in %s", all)
		}
	})
}

// TestSecretsThatLookLikeJSON checks that hiding such a secret leaves the JSON around it valid.
func TestSecretsThatLookLikeJSON(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{`pass"word`, `ends with "`, "true", "1234", `"},{"`, "two\nlines", `\\`, "<&>ö"} {
		t.Run(secret, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, sqlite(t))
			w.stop()
			w.Engine, w.s = w.process(func(o *workflow.Options) { o.Secret = func(string) (string, error) { return secret, nil } })
			w.start()
			w.tools.on("apply", func(_ context.Context, c tool.Call) (any, error) {
				return map[string]any{"echo": c.Input["token"], "ok": true, "n": 1234, "within": asJSON(c.Input)}, nil
			})
			run := w.run(`
name: secretive
triggers: [{manual: true}]
steps:
  - {id: call, tool: apply, input: {token: "{{ secrets.API }}"}, output: out}
  - {id: then, tool: note, condition: out.ok && out.n == 1234}
`, nil)
			run = w.await(run.ID, fermata.TaskDone)
			w.wantSteps(run, "call/1:done then/1:done ")
			var out map[string]any
			w.OK(json.Unmarshal(run.Steps[0].Output, &out))
			// A secret as short as a word is not hidden.
			if len(secret) >= 4 && (out["echo"] != "[secret API]" || out["within"] != `{"token":"[secret API]"}`) {
				t.Fatalf("the output is %s", run.Steps[0].Output)
			}
		})
	}
}

// TestSecretsAreNotHandedToThoseWhoShowThem uses a secret in a definition that was correct when it was stored, and that
// would show the secret today.
func TestSecretsAreNotHandedToThoseWhoShowThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t))
	_, err := w.s.PutNamedTool(t.Context(), admin, &fermata.NamedTool{Name: "tell", Command: []string{"echo", "{{ input.x }}"}})
	w.OK(err)
	for tool, input := range map[string]string{
		"shell": `{command: [deploy, "{{ secrets.API }}"]}`, "tell": `{x: "{{ secrets.API }}"}`, "agent": `{prompt: "{{ secrets.API }}"}`,
	} {
		source := fmt.Sprintf("name: shows\ntriggers: [{manual: true}]\nsteps:\n  - {id: a, tool: %s, input: %s}\n", tool, input)
		if _, err := w.s.Put(t.Context(), admin, "", workflow.Definition{Source: source}); fermata.CodeOf(err) != fermata.CodeInvalidRequest || !strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", tool, err)
		}
	}
	// The tool of this process is replaced by a tool that a worker runs.
	w.put("name: shows\ntriggers: [{manual: true}]\nsteps:\n  - {id: a, tool: note, input: {x: \"{{ secrets.API }}\"}}\n")
	w.stop()
	w.Engine, w.s = w.process(func(o *workflow.Options) { o.Tools = nil })
	_, err = w.s.PutNamedTool(t.Context(), admin, &fermata.NamedTool{Name: "note", Command: []string{"echo", "{{ input.x }}"}})
	w.OK(err)
	w.start()
	run, err := w.s.Start(t.Context(), admin, "shows", nil)
	w.OK(err)
	run = w.await(run.ID, fermata.TaskFailed)
	if got := run.Steps[0].Error; got.Code != "input_error" || !strings.Contains(got.Message, "would show a secret") {
		t.Fatalf("the error is %s", asJSON(got))
	}
	if all := w.storedText(run.ID); strings.Contains(all, "s3cret") {
		t.Fatalf("the secret is in %s", all)
	}
}

// A secret for other projects is refused in a definition. It is also refused to a run whose definition was stored
// before.
func TestASecretIsForItsProjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t))
	source := func(project string) string {
		return fmt.Sprintf("name: of-%[1]s\nproject: %[1]s\ntriggers: [{manual: true}]\nsteps:\n  - {id: a, tool: apply, input: {token: \"{{ secrets.DEPLOY }}\"}}\n", project)
	}
	for _, project := range []string{"web", "shop"} {
		w.put(source(project))
	}
	w.stop()
	var given []any
	w.tools.on("apply", func(_ context.Context, c tool.Call) (any, error) {
		given = append(given, c.Input["token"])
		return nil, nil
	})
	w.Engine, w.s = w.process(func(o *workflow.Options) {
		o.CheckSecretUse = func(project, name string) *fermata.Error {
			if project == "web" || name != "DEPLOY" {
				return nil
			}
			return fermata.Errorf(fermata.CodeForbidden, "the secret %s is not for %s", name, project).WithHint("use another one")
		}
	})
	w.start()
	for project, end := range map[string]fermata.TaskState{"web": fermata.TaskDone, "shop": fermata.TaskFailed} {
		run, err := w.s.Start(t.Context(), admin, "of-"+project, nil)
		w.OK(err)
		run = w.await(run.ID, end)
		if got := run.Steps[0].Error; end == fermata.TaskFailed && !strings.Contains(got.Message, "not for shop") {
			t.Errorf("the error is %s", asJSON(got))
		}
	}
	if len(given) != 1 || given[0] != "s3cret-DEPLOY" {
		t.Errorf("the tool was given %v", given)
	}
	if _, err := w.s.Put(t.Context(), admin, "", workflow.Definition{Source: source("shop")}); fermata.CodeOf(err) != fermata.CodeInvalidRequest || !strings.Contains(err.Error(), ":5:") || !strings.Contains(err.Error(), "not for shop") {
		t.Errorf("got %v", err)
	}
	if _, err := w.s.Put(t.Context(), admin, "", workflow.Definition{Source: source("web")}); err != nil {
		t.Errorf("got %v", err)
	}
}

// TestListsShowNoSecrets lists runs that were started with a text that looks like a secret.
func TestListsShowNoSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t))
	token := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	w.tools.on("apply", func(context.Context, tool.Call) (any, error) { return nil, errors.New("refused " + token) })
	run := w.run(`
name: given
triggers: [{manual: true}]
inputs: {token: {type: string}}
steps: [{id: use, tool: apply}]
`, map[string]any{"token": token})
	w.awaitEnd(run.ID)
	runs, _, err := w.s.Runs(t.Context(), admin, workflow.RunFilter{})
	w.OK(err)
	all, err := w.s.Workflows(t.Context(), admin)
	w.OK(err)
	for what, shown := range map[string]any{"the runs": runs, "the workflows": all, "the run": w.read(run.ID)} {
		if strings.Contains(asJSON(shown), token) {
			t.Errorf("%s show it: %s", what, asJSON(shown))
		}
	}
	if events, err := w.DB.Reader(t.Context(), store.DefaultWorkspace).Events(store.EventFilter{Limit: 100}); err != nil || strings.Contains(asJSON(events), token) {
		t.Errorf("the events show it: %v %s", err, asJSON(events))
	}
}
