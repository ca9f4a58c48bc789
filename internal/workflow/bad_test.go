package workflow_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow"
	"github.com/fermata-hq/fermata/test/patience"
)

// unreachableServers is an MCP server that is down.
type unreachableServers struct{}

func (unreachableServers) Tools(context.Context, string, fermata.ToolServer) ([]tool.Info, error) {
	return nil, errors.New("connection refused")
}

func (unreachableServers) Call(context.Context, string, fermata.ToolServer, string, tool.Call) (tool.Result, error) {
	return tool.Result{}, errors.New("tracker cannot be reached: connection refused")
}

// TestWhatGoesWrongInAStep makes a step fail in each way that only a run can
// show. The run ends with the reason, or asks if the step has on_error: ask.
func TestWhatGoesWrongInAStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t))
	w.stop()
	w.Engine, w.s = w.process(func(o *workflow.Options) { o.Servers = unreachableServers{} })
	w.start()
	_, err := w.s.PutNamedTool(t.Context(), admin, &fermata.NamedTool{Name: "tracker", Server: &fermata.ToolServer{URL: "https://tracker.example"}})
	w.OK(err)
	w.tools.on("analyze", func(_ context.Context, c tool.Call) (any, error) {
		switch c.Input["give"] {
		case "much":
			return strings.Repeat("x", 10<<20), nil
		case "wrong":
			return map[string]any{"confidence": "high"}, nil
		}
		return map[string]any{"text": nil}, nil
	})
	for name, tt := range map[string]struct{ step, code, says string }{
		"null in text": {`{id: bad, tool: note, input: {text: "It is {{ first.text }}."}ON}`, "input_error", "null"},
		"a mismatch":   {`{id: bad, tool: analyze, input: {give: wrong}, schema: {type: object, properties: {confidence: {type: number}}}ON}`, "output_mismatch", "confidence"},
		"a bad time":   {`{id: bad, tool: wait, input: {for: "{{ first.text ?? 'soon' }}"}ON}`, "input_error", "the input does not fit its schema: for"},
		"10 MB":        {`{id: bad, tool: analyze, input: {give: much}ON}`, "output_too_large", "1048576"},
		"a server that is down": {
			`{id: bad, tool: tracker.find, input: {q: x}ON}`, "tool_failed", "tracker cannot be reached",
		},
		"no boolean":    {`{id: bad, tool: note, condition: first.text ?? 1ON}`, "condition_error", "true or false"},
		"a bad quorum":  {`{id: bad, tool: request_approval, input: {title: Go, approvals: {required: 9}}ON}`, "question_refused", "9 required"},
		"a tool's time": {`{id: bad, tool: apply, timeout: 20msON}`, "step_timeout", "20ms"},
	} {
		w.tools.on("apply", func(ctx context.Context, _ tool.Call) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		for _, onError := range []string{"", ", on_error: ask"} {
			source := "name: " + strings.ReplaceAll(strings.ToLower(name), " ", "-") + strings.ReplaceAll(onError, ", on_error: ", "-") + `
triggers: [{manual: true}]
steps:
  - {id: first, tool: analyze, output: first}
  - ` + strings.ReplaceAll(tt.step, "ON}", onError+"}") + "\n"
			source = strings.ReplaceAll(strings.ReplaceAll(source, "name: 10-mb", "name: ten-mb"), "a-tool's", "a-tools")
			run := w.run(source, nil)
			if onError != "" {
				q := w.awaitRunQuestion(run.ID)
				if q.Type != fermata.ErrorRecovery || !strings.Contains(q.Context.Error, tt.says) {
					t.Errorf("%s: asked %s", name, asJSON(q.Context))
				}
				action, end := "skip", fermata.TaskDone
				if strings.Contains(tt.step, "request_approval") {
					action, end = "abort", fermata.TaskFailed
				}
				w.answer(q, fermata.Answer{Answers: map[string]any{"action": action}})
				w.await(run.ID, end)
				continue
			}
			run = w.awaitEnd(run.ID)
			last := run.Steps[len(run.Steps)-1]
			if run.State != fermata.TaskFailed || last.Error == nil || last.Error.Code != tt.code || !strings.Contains(last.Error.Message, tt.says) {
				t.Errorf("%s: the run is %s, the step %s", name, run.State, asJSON(last.Error))
			}
		}
	}
}

// TestBadDefinitionsAreRefused checks that the error says what is wrong with
// each definition, and where.
func TestBadDefinitionsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t))
	head := "name: bad\ntriggers: [{manual: true}]\nsteps:\n"
	for name, tt := range map[string]struct{ source, says string }{
		"a dropped !":         {head + "  - id: a\n    tool: note\n    condition: !done\n", "not done"},
		"a missing quote":     {head + "  - id: a\n    tool: note\n    input: {x: \"y}\n", "source:"},
		"an unknown step":     {head + "  - {id: a, tool: post_question, suspend: true, input: {question: Q, responseType: text}, on_resume: {goto: b}}\n", "no step b"},
		"a name twice":        {head + "  - {id: a, tool: note, output: x}\n  - {id: b, tool: note, output: x}\n", "x"},
		"a secret in a text":  {head + "  - {id: a, tool: post_question, suspend: true, input: {question: \"{{ secrets.X }}\"}}\n", "secret"},
		"an unknown tool":     {head + "  - {id: a, tool: nonesuch}\n", "nonesuch"},
		"a bad cron":          {"name: bad\ntriggers: [{schedule: \"61 * * * *\"}]\nsteps: [{id: a, tool: note}]\n", "2:"},
		"asking at a timeout": {head + "  - {id: a, tool: post_question, suspend: true, input: {question: Q, timeoutHours: 1, timeoutAction: skip}, on_timeout: {tool: post_question, input: {question: R}}}\n", "on_timeout"},
	} {
		_, err := w.s.Put(t.Context(), admin, "", workflow.Definition{Source: tt.source})
		var e *fermata.Error
		if !errors.As(err, &e) || e.Code != fermata.CodeInvalidRequest || !strings.Contains(asJSON(e.Problems), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAnswerAgainstTheClock lets an answer, the deadline and a cancellation
// happen at the same time. One of them decides, and the run continues
// accordingly.
func TestAnswerAgainstTheClock(t *testing.T) {
	onBoth(t, func(w *world) {
		w.put(`
name: race
triggers: [{manual: true}]
steps:
  - {id: ask, tool: post_question, suspend: true, input: {question: "Go?", responseType: boolean, timeoutHours: 1, timeoutAction: skip}, output: said}
  - {id: after, tool: note, input: {go: "{{ said.answer ?? 'nobody' }}"}}
`)
		for i := range 12 {
			run, err := w.s.Start(w.Context(), admin, "race", nil)
			w.OK(err)
			q := w.awaitRunQuestion(run.ID)
			var all sync.WaitGroup
			all.Go(func() { _, _ = w.Engine.Answer(w.Context(), ann, q.ID, fermata.Answer{Answer: true}) })
			all.Go(func() { w.Clock.Advance(time.Hour + time.Second) })
			if i%3 == 0 {
				all.Go(func() { _, _ = w.Engine.CancelTask(w.Context(), admin, run.ID, "") })
			}
			all.Wait()
			run = w.awaitEnd(run.ID)
			closed, err := w.Engine.Question(w.Context(), ann, q.ID)
			w.OK(err)
			want := map[fermata.QuestionStatus]string{fermata.Answered: `{"go":true}`, fermata.TimedOut: `{"go":"nobody"}`}[closed.Status]
			last := run.Steps[len(run.Steps)-1]
			switch {
			case run.State == fermata.TaskCancelled:
			case run.State != fermata.TaskDone || string(last.Input) != want:
				w.Fatalf("the question is %s, the run %s, the step after got %s", closed.Status, run.State, last.Input)
			}
		}
	})
}

// TestTwoOpenQuestionsDoNotMix answers the first question again while the
// second is open. The answer still belongs to the first question.
func TestTwoOpenQuestionsDoNotMix(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: two
triggers: [{manual: true}]
steps:
  - {id: one, tool: post_question, suspend: true, input: {question: "One?", responseType: boolean, timeout: never}}
  - {id: two, tool: post_question, suspend: true, input: {question: "Two?", responseType: boolean, timeout: never}, output: said}
  - {id: after, tool: note, input: {one: "{{ steps.one.answer }}", two: "{{ said.answer }}"}}
`, nil)
		first := w.awaitRunQuestion(run.ID)
		w.answer(first, fermata.Answer{Answer: true})
		patience.Await(w, "the second question is asked", func() bool {
			r := w.read(run.ID)
			return r.PendingQuestion != nil && r.PendingQuestion.ID != first.ID && r.State == fermata.TaskAwaitingInput
		})
		w.answer(first, fermata.Answer{Answer: true})
		if _, err := w.Engine.Answer(w.Context(), ann, first.ID, fermata.Answer{Answer: false}); fermata.CodeOf(err) != fermata.CodeQuestionClosed {
			w.Fatalf("another answer to the first question: %v", err)
		}
		second := w.awaitRunQuestion(run.ID)
		w.answer(second, fermata.Answer{Answer: false})
		run = w.await(run.ID, fermata.TaskDone)
		if got := string(run.Steps[2].Input); got != `{"one":true,"two":false}` {
			w.Fatalf("after got %s", got)
		}
	})
}

// TestALateAnswerIsNotTheNextOne checks that a late answer to one question does
// not answer another one.
func TestALateAnswerIsNotTheNextOne(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: next
triggers: [{manual: true}]
steps:
  - {id: one, tool: post_question, suspend: true, input: {question: "One?", responseType: boolean, timeout: 1h, timeoutAction: default, default: false}}
  - {id: two, tool: post_question, suspend: true, input: {question: "Two?", responseType: boolean, timeout: never}}
  - {id: after, tool: note, input: {one: "{{ steps.one.answer }}", two: "{{ steps.two.answer }}"}}
`, nil)
		first := w.awaitRunQuestion(run.ID)
		w.Clock.Advance(2 * time.Hour)
		patience.Await(w, "the second question is asked", func() bool {
			r := w.read(run.ID)
			return r.PendingQuestion != nil && r.PendingQuestion.ID != first.ID && r.State == fermata.TaskAwaitingInput
		})
		_, err := w.Engine.Answer(w.Context(), ann, first.ID, fermata.Answer{Answer: true})
		w.OK(err)
		second := w.awaitRunQuestion(run.ID)
		if second.ID == first.ID || second.Status != fermata.Pending {
			w.Fatalf("the second question is %s", second.Status)
		}
		w.answer(second, fermata.Answer{Answer: true})
		run = w.await(run.ID, fermata.TaskDone)
		if got := string(run.Steps[2].Input); got != `{"one":false,"two":true}` {
			w.Fatalf("after got %s", got)
		}
	})
}

// TestWordsToARunAnswerNothing checks that a message to a workflow run neither
// answers its question nor moves the run forward, because workflows read no
// messages.
func TestWordsToARunAnswerNothing(t *testing.T) {
	onBoth(t, func(w *world) {
		setConfidence(w, 40)
		run := w.run(autofix, map[string]any{"issue": 7})
		q := w.awaitRunQuestion(run.ID)
		m, err := w.Engine.PostMessage(w.Context(), admin, run.ID, "hurry")
		w.OK(err)
		if task, err := w.Engine.Task(w.Context(), admin, run.ID); err != nil || task.State != fermata.TaskAwaitingInput || task.Unread != 0 {
			w.Fatalf("the run is %+v, %v", task, err)
		}
		if m.Handoff != fermata.HandoffUnread {
			w.Errorf("the receipt is %q", m.Handoff)
		}
		w.answer(q, fermata.Answer{Answer: "patch"})
		w.await(run.ID, fermata.TaskDone)
	})
}

// TestResumedWithoutAnAnswer checks that a run that a person resumes continues
// with the default of its question, or without an answer. The resume never
// counts as an approval.
func TestResumedWithoutAnAnswer(t *testing.T) {
	onBoth(t, func(w *world) {
		setConfidence(w, 40)
		run := w.run(autofix, map[string]any{"issue": 7})
		q := w.awaitRunQuestion(run.ID)
		_, err := w.Engine.ResumeTask(w.Context(), admin, run.ID, "you choose")
		w.OK(err)
		run = w.await(run.ID, fermata.TaskDone)
		if got := string(run.Steps[2].Input); got != `{"approach":"patch"}` {
			w.Errorf("the step was given %s", got)
		}
		if q, err := w.Engine.Question(w.Context(), admin, q.ID); err != nil || q.Status != fermata.Cancelled || q.Resolution.Comment != "you choose" {
			w.Errorf("the question is %+v, %v", q, err)
		}
		approval := w.run(approving, nil)
		w.awaitRunQuestion(approval.ID)
		_, err = w.Engine.ResumeTask(w.Context(), admin, approval.ID, "")
		w.OK(err)
		w.await(approval.ID, fermata.TaskFailed)
	})
}

const approving = `
name: approving
triggers:
  - manual: true
steps:
  - id: may
    tool: request_approval
    input: { question: "Deploy?", timeoutHours: 1 }
    suspend: true
`

// TestRequesterDoesNotApprove checks that the person that started a run by hand
// cannot approve its requests.
func TestRequesterDoesNotApprove(t *testing.T) {
	onBoth(t, func(w *world) {
		for _, handle := range []string{"one", "two"} {
			w.AddMember(newMember(handle))
		}
		run := w.run(`
name: four-eyes
triggers: [{manual: true}]
steps:
  - {id: ask, tool: request_approval, input: {title: "Go?", approvals: {required: 1}, timeout: never}}
`, nil)
		q := w.awaitRunQuestion(run.ID)
		if _, err := w.Engine.Answer(w.Context(), admin, q.ID, fermata.Answer{Answer: "approve", ActionHash: q.ActionHash}); fermata.CodeOf(err) != fermata.CodeNotEligible {
			w.Fatalf("the requester approves: %v", err)
		}
		w.answer(q, fermata.Answer{Answer: "approve"})
		w.await(run.ID, fermata.TaskDone)
	})
}

// TestEventsTellTheSteps checks that the event log says when each step began
// and how it ended.
func TestEventsTellTheSteps(t *testing.T) {
	onBoth(t, func(w *world) {
		setConfidence(w, 95)
		run := w.run(autofix, map[string]any{"issue": 7})
		w.await(run.ID, fermata.TaskDone)
		events, err := w.DB.Reader(w.Context(), store.DefaultWorkspace).Events(store.EventFilter{TaskID: run.ID, Limit: 100})
		w.OK(err)
		var told []string
		for _, e := range events {
			if e.Type == fermata.EventStepFinished {
				told = append(told, string(e.Data))
			}
		}
		if len(told) != 5 || !strings.Contains(told[1], `"state":"skipped"`) {
			w.Fatalf("the steps are reported as: %v", told)
		}
	})
}

// TestWhatIsNotShownIsKept stores a tool as it was read, and checks that the
// hidden value of its header stays.
func TestWhatIsNotShownIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t))
	_, err := w.s.PutNamedTool(t.Context(), admin, &fermata.NamedTool{
		Name: "tracker", Server: &fermata.ToolServer{URL: "https://tracker.example", Headers: map[string]string{"X-Key": "hidden", "Authorization": "env:TRACKER"}},
	})
	w.OK(err)
	read, err := w.s.NamedTool(t.Context(), admin, "tracker")
	w.OK(err)
	if read.Server.Headers["X-Key"] == "hidden" || read.Server.Headers["Authorization"] != "env:TRACKER" {
		t.Fatalf("shown: %v", read.Server.Headers)
	}
	_, err = w.s.PutNamedTool(t.Context(), admin, read)
	w.OK(err)
	kept, err := w.DB.Reader(t.Context(), store.DefaultWorkspace).NamedTool("tracker")
	w.OK(err)
	if kept.Server.Headers["X-Key"] != "hidden" {
		t.Fatalf("kept: %v", kept.Server.Headers)
	}
	if _, err := w.s.PutNamedTool(t.Context(), ann, read); fermata.CodeOf(err) != fermata.CodeForbidden {
		t.Fatalf("a responder configures a server: %v", err)
	}
}

// TestItemsTogetherAreBounded checks that the items of a foreach together have
// the output limit of one step.
func TestItemsTogetherAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t))
	w.tools.on("apply", func(context.Context, tool.Call) (any, error) { return strings.Repeat("x", 300<<10), nil })
	run := w.run(`
name: much
triggers: [{manual: true}]
steps: [{id: each, foreach: "{{ [1, 2, 3, 4, 5, 6, 7, 8] }}", tool: apply}]
`, nil)
	run = w.await(run.ID, fermata.TaskFailed)
	total := 0
	for _, s := range run.Steps {
		if s.Item != nil {
			total += len(s.Output)
		}
	}
	if total > fermata.MaxStepOutput || run.Steps[0].Error.Code != "output_too_large" {
		t.Fatalf("%d bytes are kept, %s", total, w.describe(run))
	}
}

func TestInputIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t))
	w.tools.on("apply", func(context.Context, tool.Call) (any, error) { return strings.Repeat("x", 1<<19), nil })
	run := w.run(`
name: wide
triggers: [{manual: true}]
steps:
  - {id: make, tool: apply, output: o}
  - {id: use, tool: note, input: {all: ["{{ o }}", "{{ o }}", "{{ o }}", "{{ o }}", "{{ o }}", "{{ o }}", "{{ o }}", "{{ o }}", "{{ o }}"]}}
`, nil)
	run = w.await(run.ID, fermata.TaskFailed)
	if e := run.Steps[1].Error; e.Code != "input_error" || len(run.Steps[1].Input) > fermata.MaxStepInput {
		t.Fatalf("the error is %s", asJSON(e))
	}
}
