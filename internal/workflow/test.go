package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Script says what happens in a test of a workflow: what starts it, what tools
// and people say, and what has to come of it.
type Script struct {
	// Now is the time at which the run starts.
	Now     string         `yaml:"now"`
	Inputs  map[string]any `yaml:"inputs"`
	Trigger map[string]any `yaml:"trigger"`
	// Tools are what steps get, by the id of a step or the name of a tool.
	Tools map[string]Outcomes `yaml:"tools"`
	// Answers are what people say, by the id of the step that asks.
	Answers map[string]Replies `yaml:"answers"`
	Expect  Expectation        `yaml:"expect"`
}

// Outcome is what one call of a tool comes to.
type Outcome struct {
	Output any    `yaml:"output"`
	Error  string `yaml:"error"`
}

// Outcomes are those of successive calls; the last one stays.
type Outcomes []Outcome

// Reply is what a person says, or that nobody does.
type Reply struct {
	Answer  any            `yaml:"answer"`
	Answers map[string]any `yaml:"answers"`
	Comment string         `yaml:"comment"`
	// Timeout lets the time pass to the deadline.
	Timeout bool `yaml:"timeout"`
}

// Replies are those to successive questions of a step; the last one stays.
type Replies []Reply

// Expectation is what has to come of a run. What is empty is not looked at.
type Expectation struct {
	State  fermata.TaskState `yaml:"state"`
	Reason string            `yaml:"reason"`
	// Steps are the states of steps at their last occurrence.
	Steps map[string]fermata.StepState `yaml:"steps"`
	// Input and Output are those of steps, whole.
	Input  map[string]any `yaml:"input"`
	Output map[string]any `yaml:"output"`
	// Asked are the texts of questions, by step.
	Asked map[string]string `yaml:"asked"`
}

// TestReport is what came of a test.
type TestReport struct {
	Workflow string `json:"workflow"`
	// Passed says that everything expected came to be.
	Passed   bool                        `json:"passed"`
	Problems []fermata.DefinitionProblem `json:"problems,omitempty"`
	Run      *fermata.WorkflowRun        `json:"run,omitempty"`
	// Failures are the expectations that were not met.
	Failures []string `json:"failures,omitempty"`
	// End is the time of the clock when the run ended.
	End time.Time `json:"end,omitzero"`
}

// UnmarshalYAML takes one outcome or a list of them.
func (o *Outcomes) UnmarshalYAML(raw []byte) error { return oneOrMore(raw, (*[]Outcome)(o)) }

// UnmarshalYAML takes one reply or a list of them; a plain value is an answer.
func (r *Replies) UnmarshalYAML(raw []byte) error {
	var plain any
	if err := yaml.Unmarshal(raw, &plain); err != nil {
		return err
	}
	list, ok := plain.([]any)
	if !ok {
		list = []any{plain}
	}
	for _, v := range list {
		if _, ok := v.(map[string]any); !ok {
			*r = append(*r, Reply{Answer: v})
			continue
		}
		var one Reply
		text, err := yaml.Marshal(v)
		if err == nil {
			err = yaml.UnmarshalWithOptions(text, &one, yaml.Strict())
		}
		if err != nil {
			return err
		}
		*r = append(*r, one)
	}
	return nil
}

func oneOrMore[T any](raw []byte, into *[]T) error {
	var one T
	if err := yaml.UnmarshalWithOptions(raw, into, yaml.Strict()); err == nil {
		return nil
	}
	if err := yaml.UnmarshalWithOptions(raw, &one, yaml.Strict()); err != nil {
		return err
	}
	*into = []T{one}
	return nil
}

// Test runs a definition as a script says: on a database of its own, with a
// clock that passes at once, without any effect outside.
func Test(ctx context.Context, source, script []byte) (*TestReport, error) {
	var sc Script
	if err := yaml.UnmarshalWithOptions(script, &sc, yaml.Strict()); err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the script: %s", yaml.FormatError(err, false, true)).
			WithHint("docs/workflow-runs.md says what it may hold")
	}
	d, problems := definition.Load(source, definition.Known{Tools: builtIn, AnyTool: true})
	if d == nil {
		return &TestReport{Problems: onWire(problems), Failures: []string{"the definition is wrong"}}, nil
	}
	r, err := newRehearsal(ctx, d, source, sc)
	if err != nil {
		return nil, err
	}
	defer r.close()
	return r.play(ctx)
}

// rehearsal is a test under way.
type rehearsal struct {
	def    *definition.Workflow
	script Script
	dir    string
	db     *store.DB
	e      *engine.Engine
	s      *Service
	stop   func()
	// ahead is how far the fake clock is ahead of the real one.
	ahead atomic.Int64

	mu     sync.Mutex
	calls  map[string]int
	asked  map[string]int
	report *TestReport
	// prompts are what was asked, by step.
	prompts map[string]string
	run     string
	source  []byte
	// voters are the people who answer, where one is not enough.
	voters []fermata.Caller
}

func newRehearsal(ctx context.Context, d *definition.Workflow, source []byte, sc Script) (_ *rehearsal, err error) {
	r := &rehearsal{
		def: d, script: sc, calls: map[string]int{}, asked: map[string]int{}, source: source,
		report: &TestReport{Workflow: d.Name}, prompts: map[string]string{},
	}
	if sc.Now != "" {
		at, err := time.Parse(time.RFC3339, sc.Now)
		if err != nil {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "now: %q is no instant", sc.Now).WithHint("write it as 2026-07-01T12:00:00Z")
		}
		r.ahead.Store(int64(time.Until(at)))
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
		URL: filepath.Join(r.dir, "test.db"), ClockOffset: func() time.Duration { return time.Duration(r.ahead.Load()) },
	})
	if err != nil {
		return nil, err
	}
	if err = r.db.Migrate(ctx); err != nil {
		return nil, err
	}
	r.e = engine.New(r.db, engine.Options{})
	r.s = New(Options{DB: r.db, Engine: r.e, Stub: r.call, Secret: func(name string) (string, error) { return "secret " + name, nil }})
	if err = r.e.Start(ctx); err != nil {
		return nil, err
	}
	if err = r.people(ctx); err != nil {
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

// people adds as many as any question may need.
func (r *rehearsal) people(ctx context.Context) error {
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

func (r *rehearsal) close() {
	if r.stop != nil {
		r.stop()
	}
	if r.db != nil {
		_ = r.db.Close() // it is thrown away
	}
	_ = os.RemoveAll(r.dir) // the system clears what is left
}

// tester is who starts the run and answers.
var tester = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorHuman, MemberID: "mem_test", Name: "test", Role: fermata.RoleAdmin,
	Scopes: []fermata.Scope{fermata.ScopeAdmin, fermata.ScopeAnswer}, Assurance: fermata.AssurancePasskey,
}

// play starts the run and brings it to its end.
func (r *rehearsal) play(ctx context.Context) (*TestReport, error) {
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	for {
		run, err := r.s.OneRun(ctx, tester, r.run)
		if err != nil {
			return nil, err
		}
		if run.State.Ended() || len(r.report.Failures) > 0 {
			return r.judge(ctx, run)
		}
		if err := r.push(ctx, run); err != nil {
			return nil, err
		}
		pause(ctx, time.Millisecond)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

func (r *rehearsal) start(ctx context.Context) error {
	inputs, err := checkInputs(r.def, r.script.Inputs)
	if err != nil {
		return err
	}
	cause := map[string]any{"type": string(fermata.TriggerManual), "by": tester.Name}
	for name, v := range r.script.Trigger {
		cause[name] = v
	}
	// The start is allowed whatever the triggers are.
	r.run, err = engine.Write(ctx, r.e, tester, func(tx *store.Tx) (string, error) {
		w, err := r.s.keep(tx, tester, r.def, Definition{Source: string(r.source)})
		if err != nil {
			return "", err
		}
		tx.SetSchedules(w.Name, nil)
		return r.s.fire(tx, firing{def: r.def, workflow: w, trigger: fermata.TriggerManual, inputs: inputs, cause: cause, insist: true})
	})
	return err
}

// push does what the run waits for.
func (r *rehearsal) push(ctx context.Context, run *fermata.WorkflowRun) error {
	switch run.State {
	case fermata.TaskAwaitingInput, fermata.TaskAwaitingApproval:
		if run.PendingQuestion != nil && run.PendingQuestion.Status == fermata.Pending {
			return r.reply(ctx, run.Step, run.PendingQuestion)
		}
	case fermata.TaskBlocked:
		for _, s := range run.Steps {
			if s.Item == nil || s.QuestionID == "" || s.State != fermata.StepWaiting {
				continue
			}
			q, err := r.e.Question(ctx, tester, s.QuestionID)
			if err != nil {
				return err
			}
			if q.Status == fermata.Pending {
				return r.reply(ctx, s.Step, q)
			}
		}
	case fermata.TaskDeferred:
		t, err := r.e.Task(ctx, tester, run.ID)
		if err != nil {
			return err
		}
		if t.DeferUntil != nil {
			return r.passTo(ctx, *t.DeferUntil)
		}
	default:
		// It moves on by itself.
	}
	return nil
}

// passTo lets the time pass until an instant.
func (r *rehearsal) passTo(ctx context.Context, at time.Time) error {
	now, err := r.db.Now(ctx)
	if err == nil && at.After(now) {
		r.ahead.Add(int64(at.Sub(now) + time.Millisecond))
	}
	return err
}

// reply answers a question as the script says.
func (r *rehearsal) reply(ctx context.Context, step string, q *fermata.Question) error {
	replies := r.script.Answers[step]
	prompt := q.Title
	if len(q.Items) > 0 && q.Type != fermata.Approval {
		prompt = q.Items[0].Prompt
	}
	r.prompts[step] = prompt
	if len(replies) == 0 {
		r.fail("the step %s asks %q, and the script has no answer for it", step, prompt)
		return nil
	}
	n := r.asked[q.ID+step]
	if n == 0 {
		r.asked[step]++
		r.asked[q.ID+step] = r.asked[step]
		n = r.asked[step]
	}
	reply := replies[min(n, len(replies))-1]
	if reply.Timeout {
		if q.Deadline == nil {
			r.fail("the step %s waits for ever: there is no deadline to pass", step)
			return nil
		}
		return r.passTo(ctx, *q.Deadline)
	}
	_, err := r.e.Answer(ctx, r.voters[len(q.Votes)%len(r.voters)], q.ID, fermata.Answer{
		Answer: reply.Answer, Answers: reply.Answers, Comment: reply.Comment, ActionHash: q.ActionHash,
	})
	if err != nil && fermata.CodeOf(err) != fermata.CodeQuestionClosed {
		r.fail("the answer to the step %s is refused: %s", step, err)
	}
	return nil
}

func (r *rehearsal) fail(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if message := fmt.Sprintf(format, args...); !slices.Contains(r.report.Failures, message) {
		r.report.Failures = append(r.report.Failures, message)
	}
}

// call stands for every tool.
func (r *rehearsal) call(_ context.Context, name string, c tool.Call) (tool.Result, error) {
	key := c.Step
	outcomes, ok := r.script.Tools[key]
	if !ok {
		key = name
		outcomes, ok = r.script.Tools[key]
	}
	if !ok || len(outcomes) == 0 {
		return tool.Result{Output: map[string]any{}, Note: "not in the script: an empty output was given"}, nil
	}
	r.mu.Lock()
	r.calls[key]++
	n := r.calls[key]
	r.mu.Unlock()
	o := outcomes[min(n, len(outcomes))-1]
	if o.Error != "" {
		return tool.Result{}, fmt.Errorf("%s", o.Error)
	}
	return tool.Result{Output: o.Output}, nil
}

// judge compares what came of the run with what was expected.
func (r *rehearsal) judge(ctx context.Context, run *fermata.WorkflowRun) (*TestReport, error) {
	now, err := r.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	rep, want := r.report, r.script.Expect
	rep.Run, rep.End = run, now
	if want.State != "" && want.State != run.State {
		r.fail("the run is %s (%s), expected %s", run.State, run.Summary, want.State)
	}
	if want.Reason != "" && want.Reason != run.Reason {
		r.fail("the reason is %q, expected %q", run.Reason, want.Reason)
	}
	last := map[string]*fermata.WorkflowStep{}
	for _, s := range run.Steps {
		if s.Item == nil {
			last[s.Step] = s
		}
	}
	for _, id := range sorted(want.Steps) {
		got := fermata.StepState("not reached")
		if s := last[id]; s != nil {
			got = s.State
		}
		if got != want.Steps[id] {
			r.fail("the step %s is %s, expected %s", id, got, want.Steps[id])
		}
	}
	r.compare("input", want.Input, func(id string) json.RawMessage { return last[id].Input }, last)
	r.compare("output", want.Output, func(id string) json.RawMessage { return last[id].Output }, last)
	for _, id := range sorted(want.Asked) {
		if r.prompts[id] != want.Asked[id] {
			r.fail("the step %s asked %q, expected %q", id, r.prompts[id], want.Asked[id])
		}
	}
	rep.Passed = len(rep.Failures) == 0
	return rep, nil
}

func (r *rehearsal) compare(what string, want map[string]any, got func(id string) json.RawMessage, last map[string]*fermata.WorkflowStep) {
	for _, id := range sorted(want) {
		if last[id] == nil {
			r.fail("the step %s was not reached", id)
			continue
		}
		if wanted := data(want[id]); !reflect.DeepEqual(value(wanted), value(got(id))) {
			r.fail("the %s of the step %s is %s, expected %s", what, id, got(id), wanted)
		}
	}
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
