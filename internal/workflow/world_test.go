package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow"
	"github.com/fermata-hq/fermata/test/patience"
)

var admin, worker = testkit.Admin, testkit.Agent

var ann = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorHuman, MemberID: "mem_ann", Name: "ann", Role: fermata.RoleResponder,
	Scopes: []fermata.Scope{fermata.ScopeAnswer, fermata.ScopeAsk, fermata.ScopeRead}, Assurance: fermata.AssuranceSession,
}

// world is a server with workflows, but without the HTTP API and channels.
type world struct {
	testkit.World
	s     *workflow.Service
	tools *bench
	// stop stops the engine and the service.
	stop func()
}

// bench holds the tools of a test. It records every call, and does what the
// test says.
type bench struct {
	mu       sync.Mutex
	calls    []tool.Call
	handlers map[string]func(ctx context.Context, c tool.Call) (any, error)
}

type benchTool struct {
	name string
	b    *bench
}

func (t benchTool) Info() tool.Info {
	return tool.Info{Name: t.name, Description: "a tool of the tests"}
}

func (t benchTool) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	t.b.mu.Lock()
	t.b.calls = append(t.b.calls, c)
	does := t.b.handlers[t.name]
	t.b.mu.Unlock()
	if does == nil {
		return tool.Result{Output: c.Input}, nil
	}
	v, err := does(ctx, c)
	return tool.Result{Output: v}, err
}

// calledSteps returns the steps that called tools, in order.
func (b *bench) calledSteps() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, c := range b.calls {
		all = append(all, c.Step)
	}
	return all
}

// keys returns the keys with which a step called its tool.
func (b *bench) keys(step string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, c := range b.calls {
		if c.Step == step {
			all = append(all, c.Key)
		}
	}
	return all
}

func (b *bench) on(name string, does func(ctx context.Context, c tool.Call) (any, error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.handlers[name] = does
}

// toolNames are the names of the tools of the tests.
var toolNames = []string{"note", "analyze", "apply", "check", "publish", "label", "github_comment"}

// onBoth runs a test on both databases.
func onBoth(t *testing.T, fn func(w *world)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) { fn(newWorld(t, opts)) })
}

func newWorld(t *testing.T, opts store.Options) *world {
	t.Helper()
	w := &world{World: testkit.New(t, opts), tools: &bench{handlers: map[string]func(context.Context, tool.Call) (any, error){}}}
	w.Engine, w.s = w.process(nil)
	w.start()
	return w
}

// process returns the engine and the service of another process on the same
// database, or of the first one.
func (w *world) process(change func(o *workflow.Options)) (*engine.Engine, *workflow.Service) {
	w.Helper()
	e := engine.New(w.DB, engine.Options{})
	o := workflow.Options{
		DB: w.DB, Engine: e, Secret: func(name string) (string, error) { return "s3cret-" + name, nil },
		SecretNames: func() []string { return []string{"unnamed"} },
	}
	for _, name := range toolNames {
		o.Tools = append(o.Tools, benchTool{name, w.tools})
	}
	if change != nil {
		change(&o)
	}
	return e, workflow.New(o)
}

// start runs the service until the test ends or calls stop.
func (w *world) start() {
	w.Helper()
	w.OK(w.Engine.Start(w.Context()))
	w.stop = testkit.Run(w, w.Engine.RunTail, w.Engine.RunSweeps, w.s.Run)
}

// put stores a definition.
func (w *world) put(source string) *fermata.Workflow {
	w.Helper()
	d, err := w.s.Put(w.Context(), admin, "", workflow.Definition{Source: source})
	w.OK(err)
	return d
}

// run stores a definition and starts it by hand.
func (w *world) run(source string, inputs map[string]any) *fermata.WorkflowRun {
	w.Helper()
	d := w.put(source)
	run, err := w.s.Start(w.Context(), admin, d.Name, inputs)
	w.OK(err)
	return run
}

func (w *world) read(id string) *fermata.WorkflowRun {
	w.Helper()
	run, err := w.s.RunDetails(w.Context(), admin, id)
	w.OK(err)
	return run
}

// await waits until the run is in one of the states.
func (w *world) await(id string, states ...fermata.TaskState) *fermata.WorkflowRun {
	w.Helper()
	deadline := time.Now().Add(patience.Limit())
	for {
		run := w.read(id)
		for _, s := range states {
			if run.State == s {
				return run
			}
		}
		if time.Now().After(deadline) || run.State.IsEnded() {
			w.Fatalf("the run is %s (%s, %s), want %v; steps: %s", run.State, run.Reason, run.Summary, states, w.describe(run))
		}
		w.yield()
	}
}

// yield lets other goroutines work.
func (w *world) yield() {
	select {
	case <-time.After(25 * time.Millisecond):
	case <-w.Context().Done():
		w.Fatal("the test is over")
	}
}

// awaitRunQuestion waits until the run stops on a question, and returns the question.
func (w *world) awaitRunQuestion(id string) *fermata.Question {
	w.Helper()
	run := w.await(id, fermata.TaskAwaitingInput, fermata.TaskAwaitingApproval)
	return run.PendingQuestion
}

func (w *world) answer(q *fermata.Question, a fermata.Answer) {
	w.Helper()
	w.answerAs(ann, q, a)
}

func (w *world) answerAs(c fermata.Caller, q *fermata.Question, a fermata.Answer) {
	w.Helper()
	a.ActionHash = q.ActionHash
	_, err := w.Engine.Answer(w.Context(), c, q.ID, a)
	w.OK(err)
}

// operator adds a member that may change workflows.
func (w *world) operator() fermata.Caller {
	w.Helper()
	c := w.Person("olga")
	c.Scopes, c.Assurance = ann.Scopes, ann.Assurance
	return c
}

// describe returns the states of the steps, one word for each.
func (w *world) describe(run *fermata.WorkflowRun) string {
	text := ""
	for _, s := range run.Steps {
		if s.Item != nil {
			continue
		}
		text += fmt.Sprintf("%s/%d:%s ", s.Step, s.Occurrence, s.State)
		if s.Error != nil {
			text += "(" + s.Error.Code + ": " + s.Error.Message + ") "
		}
	}
	return text
}

func (w *world) wantSteps(run *fermata.WorkflowRun, want string) {
	w.Helper()
	if got := w.describe(run); got != want {
		w.Fatalf("steps:\n got %s\nwant %s", got, want)
	}
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestMain(m *testing.M) {
	if point := os.Getenv("FERMATA_TEST_CRASH"); point != "" {
		runCrashProcess(point)
		return
	}
	storetest.Main(m)
}

func (w *world) awaitEnd(id string) *fermata.WorkflowRun {
	w.Helper()
	deadline := time.Now().Add(patience.Limit())
	for {
		run := w.read(id)
		if run.State.IsEnded() {
			return run
		}
		if time.Now().After(deadline) {
			w.Fatalf("the run is %s; steps: %s", run.State, w.describe(run))
		}
		w.yield()
	}
}

func sqlite(t *testing.T) store.Options { return storetest.SQLite(t) }

func newMember(handle string) engine.NewMember {
	return engine.NewMember{Handle: handle, Role: fermata.RoleResponder}
}
