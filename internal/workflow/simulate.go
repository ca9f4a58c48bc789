package workflow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/keys"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Simulate runs a definition with a script: on its own database, with a clock that skips waiting times, and without any
// effect outside. Without a script it makes up the outputs of tools and the answers of people. tools are the tools of a
// server, beside the built-in ones.
func Simulate(ctx context.Context, source, script []byte, tools []tool.Info) (*fermata.TestReport, error) {
	known := offlineCatalog(tools)
	d, problems := definition.Load(source, known)
	if d == nil {
		return reportProblems(problems), nil
	}
	return runSimulation(ctx, d, known, source, script)
}

func reportProblems(problems []definition.Problem) *fermata.TestReport {
	return &fermata.TestReport{Problems: toWireProblems(problems), Failures: []string{"the definition is wrong"}}
}

// runSimulation runs a loaded definition as [Simulate] does.
func runSimulation(ctx context.Context, d *definition.Workflow, known definition.Catalog, source, script []byte) (*fermata.TestReport, error) {
	// With the idempotency key of the request, all writes of the run would count as one repeated write.
	ctx = engine.WithIdempotency(ctx, "", "")
	sc, err := readScript(script)
	if err != nil {
		return nil, err
	}
	if err := sc.check(d, known); err != nil {
		return nil, err
	}
	if sc.isGuessed {
		sc.Inputs = guessInputs(d)
	}
	r, err := newSimulation(ctx, d, known, source, sc)
	if err != nil {
		return nil, err
	}
	defer r.close()
	return r.play(ctx)
}

// simulation is a simulation under way.
type simulation struct {
	def    *definition.Workflow
	known  definition.Catalog
	script Script
	dir    string
	db     *store.DB
	e      *engine.Engine
	s      *Service
	stop   func()
	// clockAhead is how far the fake clock is ahead of the real one, in nanoseconds.
	clockAhead atomic.Int64

	mu         sync.Mutex
	callCounts map[string]int
	// askCounts counts the questions of each step, and replies holds the reply to each of them, by its id.
	askCounts map[string]int
	replies   map[string]*chosenReply
	// usedReplies counts the entries of the script that were used for each step.
	usedReplies map[string]int
	report      *fermata.TestReport
	// prompts are the texts of the questions asked, by step.
	prompts map[string]string
	guesses guesses
	runID   string
	source  []byte
	// voters are the people that answer. There are several, for questions that need more than one vote.
	voters []fermata.Caller
}

func newSimulation(ctx context.Context, d *definition.Workflow, known definition.Catalog, source []byte, sc Script) (_ *simulation, err error) {
	r := &simulation{
		def: d, known: known, script: sc, callCounts: map[string]int{}, askCounts: map[string]int{}, replies: map[string]*chosenReply{}, usedReplies: map[string]int{}, source: source,
		report: &fermata.TestReport{Workflow: d.Name}, prompts: map[string]string{}, guesses: newGuesses(known.Tools),
	}
	if sc.Now != "" {
		at, err := time.Parse(time.RFC3339, sc.Now)
		if err != nil {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "now: %q is no instant", sc.Now).WithHint("write it as 2026-07-01T12:00:00Z")
		}
		r.clockAhead.Store(int64(time.Until(at)))
	}
	if r.dir, err = os.MkdirTemp("", "fermata-test-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	r.db, err = store.Open(ctx, store.Options{
		URL: filepath.Join(r.dir, "test.db"), Keys: keys.New(), ClockOffset: func() time.Duration { return time.Duration(r.clockAhead.Load()) },
	})
	if err != nil {
		return nil, err
	}
	if err = r.db.Migrate(ctx); err != nil {
		return nil, err
	}
	r.e = engine.New(r.db, engine.Options{})
	r.s = New(Options{DB: r.db, Engine: r.e, Stub: r.call, StubInfos: known.Tools, Secret: func(name string) (string, error) { return "secret " + name, nil }})
	if err = r.e.Start(ctx); err != nil {
		return nil, err
	}
	if err = r.setPolicy(ctx); err != nil {
		return nil, err
	}
	if err = r.addMembers(ctx); err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var parts sync.WaitGroup
	for _, part := range []func(context.Context){r.e.RunTail, r.e.RunSweeps, r.s.Run} {
		parts.Go(func() { part(running) })
	}
	r.stop = func() { cancel(); parts.Wait() }
	return r, nil
}

// setPolicy sets the policy of the script.
func (r *simulation) setPolicy(ctx context.Context) error {
	p, err := r.script.policy()
	if err == nil {
		_, err = r.e.SetPolicy(ctx, tester, p)
	}
	return err
}

// addMembers adds as many members as any question may need.
func (r *simulation) addMembers(ctx context.Context) error {
	for i := range 10 {
		handle := fmt.Sprintf("person%d", i+1)
		m, err := r.e.AddMember(ctx, tester, engine.NewMember{Handle: handle, Role: fermata.RoleAdmin})
		if err != nil {
			return err
		}
		c := tester
		c.MemberID, c.Name = m.ID, handle
		r.voters = append(r.voters, c)
	}
	return nil
}

func (r *simulation) close() {
	if r.stop != nil {
		r.stop()
	}
	if r.db != nil {
		_ = r.db.Close() // the database is deleted anyway
	}
	_ = os.RemoveAll(r.dir) // the operating system removes the rest
}

// tester is the caller that starts the run and adds the members.
var tester = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorHuman, MemberID: "mem_test", Name: "test", Role: fermata.RoleAdmin,
	Scopes: []fermata.Scope{fermata.ScopeAdmin, fermata.ScopeAnswer}, Assurance: fermata.AssurancePasskey,
}

// checkStarted returns an error if another workflow, which a step starts, does not take the inputs. A workflow that is not
// known may be stored before the run.
func (r *simulation) checkStarted(input map[string]any) error {
	name, _ := input["name"].(string)
	if r.known.InputsOf == nil {
		return nil
	}
	inputs, missing, err := r.known.InputsOf(r.def.Project, name)
	if err != nil || missing != nil {
		return err
	}
	given, _ := input["inputs"].(map[string]any)
	if _, err := checkInputs(&definition.Workflow{Inputs: inputs}, given); err != nil {
		return permanentError(codeInput, err)
	}
	return nil
}

// call replaces every tool: it returns the outcome in the script.
func (r *simulation) call(_ context.Context, name string, c tool.Call) (tool.Result, error) {
	if name == toolWorkflow {
		if err := r.checkStarted(c.Input); err != nil {
			return tool.Result{}, err
		}
	}
	key := c.Step
	outcomes, ok := r.script.Tools[key]
	if !ok {
		key = name
		outcomes, ok = r.script.Tools[key]
	}
	if !ok && r.script.isGuessed {
		return tool.Result{Output: r.guessOutput(c.Step, name), Note: "the output is made up"}, nil
	}
	step := newCalledStep(r.def, r.known, c.Step, name)
	if !ok || len(outcomes) == 0 {
		return tool.Result{Output: emptyOutput(step), Note: "not in the script: an empty output was given"}, nil
	}
	r.mu.Lock()
	r.callCounts[key]++
	n := r.callCounts[key]
	r.mu.Unlock()
	o := outcomes[min(n, len(outcomes))-1]
	if err := o.err(failureCode(step.kind)); err != nil {
		return tool.Result{}, err
	}
	output, err := o.outputFor(step)
	return tool.Result{Output: output}, err
}

// emptyOutput returns the output of a step that the script leaves out.
func emptyOutput(step calledStep) map[string]any {
	if step.kind == commandTool && len(step.schema) == 0 {
		return map[string]any{"exit_code": 0, "output": ""}
	}
	return map[string]any{}
}

// failureCode returns the code of the error with which a server fails a step, if nothing says more.
func failureCode(kind toolKind) string {
	if kind == serverTool {
		return codeTool
	}
	return codeChild
}
