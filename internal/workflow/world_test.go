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
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow"
	"github.com/fermata-hq/fermata/test/patience"
)

var admin = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorHuman, MemberID: "mem_admin", Name: "root", Role: fermata.RoleAdmin,
	Scopes: []fermata.Scope{fermata.ScopeAdmin}, Assurance: fermata.AssuranceSession,
}

var ann = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorHuman, MemberID: "mem_ann", Name: "ann", Role: fermata.RoleResponder,
	Scopes: []fermata.Scope{fermata.ScopeAnswer, fermata.ScopeAsk, fermata.ScopeRead}, Assurance: fermata.AssuranceSession,
}

var worker = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorAgent, TokenID: "tok_1", Name: "worker", Scopes: []fermata.Scope{fermata.ScopeAsk, fermata.ScopeWork},
}

// world is a server with workflows, but without the HTTP API and channels.
type world struct {
	*testing.T
	opts  store.Options
	db    *store.DB
	e     *engine.Engine
	s     *workflow.Service
	clock *storetest.Clock
	tools *bench
	stop  func()
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
	w := &world{T: t, opts: opts, clock: storetest.StandingClock(), tools: &bench{handlers: map[string]func(context.Context, tool.Call) (any, error){}}}
	w.opts.Clock = w.clock.Now
	w.db = storetest.Open(t, w.opts)
	w.e, w.s = w.process(nil)
	w.start()
	return w
}

// process returns the engine and the service of another process on the same
// database, or of the first one.
func (w *world) process(change func(o *workflow.Options)) (*engine.Engine, *workflow.Service) {
	w.Helper()
	e := engine.New(w.db, engine.Options{})
	o := workflow.Options{
		DB: w.db, Engine: e, Secret: func(name string) (string, error) { return "s3cret-" + name, nil },
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

// start runs the service until the test ends, or stop is called.
func (w *world) start() {
	w.Helper()
	w.ok(w.e.Start(w.Context()))
	ctx, cancel := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	parts.Go(func() { w.e.RunTail(ctx) })
	parts.Go(func() { w.e.RunSweeps(ctx) })
	parts.Go(func() { w.s.Run(ctx) })
	w.stop = sync.OnceFunc(func() { cancel(); parts.Wait() })
	w.Cleanup(w.stop)
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("unexpected error: %v", err)
	}
}

// put stores a definition.
func (w *world) put(source string) *fermata.Workflow {
	w.Helper()
	d, err := w.s.Put(w.Context(), admin, "", workflow.Definition{Source: source})
	w.ok(err)
	return d
}

// run stores a definition and starts it by hand.
func (w *world) run(source string, inputs map[string]any) *fermata.WorkflowRun {
	w.Helper()
	d := w.put(source)
	run, err := w.s.Start(w.Context(), admin, d.Name, inputs)
	w.ok(err)
	return run
}

func (w *world) read(id string) *fermata.WorkflowRun {
	w.Helper()
	run, err := w.s.RunDetails(w.Context(), admin, id)
	w.ok(err)
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
	_, err := w.e.Answer(w.Context(), c, q.ID, a)
	w.ok(err)
}

// operator adds a member that may change workflows.
func (w *world) operator() fermata.Caller {
	w.Helper()
	m, err := w.e.AddMember(w.Context(), admin, engine.NewMember{Handle: "olga", Role: fermata.RoleOperator})
	w.ok(err)
	c := ann
	c.MemberID, c.Name, c.Role = m.ID, m.Handle, m.Role
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

// until waits until holds returns true.
func (w *world) until(what string, holds func() bool) {
	w.Helper()
	for deadline := time.Now().Add(patience.Limit()); !holds(); w.yield() {
		if time.Now().After(deadline) {
			w.Fatalf("not within %s: %s", patience.Limit(), what)
		}
	}
}

func newMember(handle string) engine.NewMember {
	return engine.NewMember{Handle: handle, Role: fermata.RoleResponder}
}
