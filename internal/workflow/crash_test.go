package workflow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/keys"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow"
	"github.com/fermata-hq/fermata/test/patience"
)

// order holds the settings of a process of the crash tests.
type order struct {
	URL, Schema string
	// Keys is the path of the file with the master keys.
	Keys string
	// Die is the point, counted from 1, at which the process kills itself; 0 means never.
	Die int64
	// Ahead is how far its clock is ahead, so that the leases of killed processes have ended.
	Ahead time.Duration
	// Effects is the path of the file in which tools record their effects.
	Effects string
	Lease   time.Duration
}

// runCrashProcess runs the process of an order. It moves runs forward until it is killed, or until its standard input ends.
func runCrashProcess(text string) {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ring, err := keys.Load(o.Keys)
	if err != nil {
		panic(err)
	}
	opts := store.Options{URL: o.URL, Schema: o.Schema, Keys: ring, ClockOffset: func() time.Duration { return o.Ahead }}
	db, err := store.Open(ctx, opts)
	if err != nil {
		panic(err)
	}
	e := engine.New(db, engine.Options{})
	var points atomic.Int64
	wo := workflow.Options{DB: db, Engine: e, Lease: o.Lease, CommitHook: func(string) {
		if points.Add(1) == o.Die {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}}
	for _, name := range toolNames {
		wo.Tools = append(wo.Tools, effectTool{name, o.Effects})
	}
	s := workflow.New(wo)
	if err := e.Start(ctx); err != nil {
		panic(err)
	}
	go e.RunTail(ctx)
	go e.RunSweeps(ctx)
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		cancel()
	}()
	s.Run(ctx)
}

// effectTool records each effect in a file, with its key and its input.
type effectTool struct{ name, file string }

func (t effectTool) Info() tool.Info {
	return tool.Info{Name: t.name, Description: "a tool of the tests"}
}

func (t effectTool) Call(_ context.Context, c tool.Call) (tool.Result, error) {
	f, err := os.OpenFile(t.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return tool.Result{}, err
	}
	line, err := json.Marshal(effect{c.RunID, c.Step, c.Key, c.Input})
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	if c.Input["fails"] == true {
		err = errors.Join(err, errors.New("it fails"))
	}
	return tool.Result{Output: c.Input}, errors.Join(err, f.Close())
}

type effect struct {
	Run, Step, Key string
	Input          map[string]any
}

// crashWorld is a database and the processes that share it.
type crashWorld struct {
	*world
	order order
	// source is the definition of the runs.
	source string
}

func newCrashWorld(t *testing.T, opts store.Options) *crashWorld {
	ring, err := keys.Create(filepath.Join(t.TempDir(), "master.key"))
	testkit.OK(t, err)
	opts.Keys = ring
	opts.ClockError = func() time.Duration { return 0 } // the processes share the database's own clock
	w := &world{World: testkit.New(t, opts), tools: &bench{}}
	w.Engine, w.s = w.process(nil)
	w.OK(w.Engine.Start(t.Context()))
	return &crashWorld{world: w, order: order{
		URL: opts.URL, Schema: opts.Schema, Effects: filepath.Join(t.TempDir(), "effects"), Lease: 10 * time.Second,
		Keys: ring.Path(),
	}}
}

// spawn starts a process that kills itself at the point die, or never if die is 0.
func (w *crashWorld) spawn(die int64) *child {
	w.Helper()
	o := w.order
	o.Die, o.Ahead = die, w.Clock.Offset()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FERMATA_TEST_CRASH="+asJSON(o))
	in, err := cmd.StdinPipe()
	w.OK(err)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	w.OK(cmd.Start())
	c := &child{in: in, died: make(chan struct{})}
	go func() {
		c.err = cmd.Wait()
		close(c.died)
	}()
	w.Cleanup(func() {
		_ = in.Close()
		if w.Failed() {
			w.Log(out.String())
		}
	})
	return c
}

// child is a process of the crash tests.
type child struct {
	in   io.Closer
	died chan struct{}
	// err is the result of the process; it is set before died is closed.
	err error
}

// end closes the input of the process, and waits until it has ended.
func (c *child) end() {
	_ = c.in.Close()
	patience.Until(c.hasEnded)
}

func (w *crashWorld) effects() []effect {
	w.Helper()
	data, err := os.ReadFile(w.order.Effects)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	w.OK(err)
	var all []effect
	for line := range strings.Lines(string(data)) {
		var e effect
		w.OK(json.Unmarshal([]byte(line), &e))
		all = append(all, e)
	}
	return all
}

// crashCase is a workflow whose process is killed at every point.
type crashCase struct {
	source string
	// steps are the expected ends of its steps. effects are the steps with an effect.
	steps   string
	effects []string
	// points is how many points a process reaches at least while it runs the workflow.
	points int64
	// more is how many more points it may reach: how many commits there are beside a call depends on which comes first.
	more int64
}

// rewound is a workflow whose run is sent back to its first step at its first question.
const rewound = crashing + "# sent back\n"

var crashCases = map[string]crashCase{
	"rewound": {rewound, "before/1:done ask/1:cancelled before/2:done ask/2:done after/1:done last/1:done ", []string{"after", "last"}, 13, 0},
	"done":    {crashing, "before/1:done ask/1:done after/1:done last/1:done ", []string{"before", "after", "last"}, 9, 0},
	"failed":  {crashingEnd, "before/1:done fail/1:failed (tool_failed: it fails) ask/1:done after/1:done tidy/1:done ", []string{"before", "fail", "after", "tidy"}, 15, 0},
	"forked":  {crashingFork, "before/1:done ask/1:done beside/1:done after/1:done last/1:done ", []string{"before", "beside", "after", "last"}, 11, 4},
	"fail fast": {crashingFast, "before/1:done rest/1:cancelled fail/1:failed (tool_failed: it fails) tidy/1:done also/1:done ",
		[]string{"before", "fail", "tidy", "also"}, 15, 2},
	"repeated": {crashingRounds, "mend/1:skipped test/1:failed (tool_failed: it fails) mend/2:done test/2:done last/1:done ", []string{"mend", "last"}, 9, 0},
}

// crashingFork is a workflow that asks in one of two branches.
const crashingFork = `
name: crashing
triggers: [{manual: true}]
steps:
  - {id: before, tool: note}
  - {id: ask, tool: post_question, suspend: true, input: {question: "Which?", options: [a, b], timeout: never}, output: said}
  - {id: after, tool: apply, input: {answer: "{{ said.answer }}"}}
  - {id: beside, tool: check, needs: [before]}
  - {id: last, tool: publish, needs: [after, beside]}
`

// crashingFast is a workflow that cancels one of two branches, and then does two steps in parallel.
const crashingFast = `
name: crashing
triggers: [{manual: true}]
fail_fast: true
steps:
  - {id: before, tool: note}
  - {id: rest, tool: wait, input: {for: 9d}}
  - {id: fail, tool: check, needs: [before], input: {fails: true}}
  - {id: never, tool: publish, needs: [rest, fail]}
finally:
  - {id: tidy, tool: apply}
  - {id: also, tool: label, needs: []}
`

// crashingRounds is a workflow that goes back once.
const crashingRounds = `
name: crashing
triggers: [{manual: true}]
steps:
  - {id: mend, tool: apply, condition: steps.test.status == 'failed'}
  - {id: test, tool: check, input: {fails: "{{ run.occurrence == 1 }}"}, on_error: continue, repeat: {from: mend, until: steps.test.status == 'done', max: 2}}
  - {id: last, tool: publish}
`

// crashingEnd is a workflow that fails, and asks in its on_failure steps.
const crashingEnd = `
name: crashing
triggers: [{manual: true}]
steps:
  - {id: before, tool: note}
  - {id: fail, tool: check, input: {fails: true}}
on_failure:
  - {id: ask, tool: post_question, suspend: true, input: {question: "{{ failure.message }}?", options: [a, b], timeout: never}, output: said}
  - {id: after, tool: apply, input: {answer: "{{ said.answer }}"}}
finally:
  - {id: tidy, tool: publish, input: {why: "{{ failure.step }}"}}
`

const crashing = `
name: crashing
triggers: [{manual: true}]
steps:
  - {id: before, tool: note}
  - {id: ask, tool: post_question, suspend: true, input: {question: "Which?", options: [a, b], timeout: never}, output: said}
  - {id: after, tool: apply, input: {answer: "{{ said.answer }}"}}
  - {id: last, tool: publish}
`

// judge checks a run that has ended. Every step had its effect at least once, always with the same key and the same
// input. The answer counted once.
func (w *crashWorld) judge(c crashCase, id string) {
	w.Helper()
	w.wantSteps(w.read(id), c.steps)
	seen := map[string][]string{}
	for _, e := range w.effects() {
		if e.Run == id {
			seen[e.Step] = append(seen[e.Step], e.Key+" "+asJSON(e.Input))
		}
	}
	for _, step := range c.effects {
		all := slices.Compact(seen[step])
		if len(all) != 1 {
			w.Errorf("the step %s had the effects %v", step, seen[step])
		}
	}
	if got := seen["after"]; len(got) > 0 && !strings.HasSuffix(got[0], `{"answer":"b"}`) {
		w.Errorf("the step after the answer got %s", got[0])
	}
}

// answerWhenAsked answers the run's question as soon as it is open. It returns when the run has ended, or when the
// process by has died.
func (w *crashWorld) answerWhenAsked(id string, by *child) (dead bool) {
	w.Helper()
	for deadline := time.Now().Add(patience.Limit()); ; w.yield() {
		if w.moveOn(id) {
			return false
		}
		if by.hasEnded() {
			// The run may have ended before the process died.
			return !w.moveOn(id)
		}
		if time.Now().After(deadline) {
			w.Fatalf("the run has not ended: %s", w.describe(w.read(id)))
		}
	}
}

// TestKilledAtEveryPoint kills a process before and after each commit of a run. Another process brings the run to its
// end.
func TestKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	for name, c := range crashCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for point := int64(1); point <= c.points+c.more+1; point++ {
				t.Run(fmt.Sprint(point), func(t *testing.T) {
					t.Parallel()
					storetest.Each(t, func(t *testing.T, opts store.Options) { killAt(newCrashWorld(t, opts), c, point) })
				})
			}
		})
	}
}

// killAt kills a process at a point of a run. It checks that there is no point after the last one.
func killAt(w *crashWorld, c crashCase, point int64) {
	id, died := w.runUntil(c, point)
	if mustDie, mayDie := point <= c.points, point <= c.points+c.more; died != mustDie && died != mayDie {
		w.Fatalf("killed at the point %d: %v; a run has %d to %d points: are these numbers right?", point, died, c.points, c.points+c.more)
	}
	if died {
		// The lease of the killed process must have ended.
		w.Clock.Advance(time.Minute)
		second := w.spawn(0)
		w.answerWhenAsked(id, second)
		second.end()
	}
	w.judge(c, id)
}

// runUntil starts a run and a process that kills itself at the point. It reports whether the process reached the point
// and died.
func (w *crashWorld) runUntil(c crashCase, point int64) (id string, died bool) {
	w.Helper()
	w.source = c.source
	w.put(c.source)
	run, err := w.s.Start(w.Context(), admin, "crashing", nil)
	w.OK(err)
	first := w.spawn(point)
	died = w.answerWhenAsked(run.ID, first)
	first.end()
	return run.ID, died
}

// TestRunsOfAGoneReplicaGoOn kills one of two processes in the middle of a run. The other one notices it long before
// the lease ends.
func TestRunsOfAGoneReplicaGoOn(t *testing.T) {
	t.Parallel()
	w := newCrashWorld(t, storetest.Postgres(t))
	w.order.Lease = time.Hour
	c := crashCases["done"]
	w.put(c.source)
	run, err := w.s.Start(w.Context(), admin, "crashing", nil)
	w.OK(err)
	first := w.spawn(3)
	patience.Await(t, "the first process is killed", first.hasEnded)
	second := w.spawn(0)
	w.answerWhenAsked(run.ID, second)
	second.end()
	w.judge(c, run.ID)
}

// TestProcessesShareRuns kills one of two processes in the middle of many runs.
func TestProcessesShareRuns(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) { shareRuns(newCrashWorld(t, opts)) })
}

func shareRuns(w *crashWorld) {
	w.order.Lease = 2 * time.Second
	w.put(crashing)
	ids := w.startRuns(20)
	first := w.spawn(45)
	patience.Await(w, "the first process is at work", func() bool { return len(w.effects()) >= 5 })
	second := w.spawn(0)
	w.answerAll(ids)
	// How the processes share the runs depends on the machine. So more runs are started until the first process is
	// killed.
	for deadline := time.Now().Add(patience.Limit()); !first.hasEnded(); {
		if time.Now().After(deadline) {
			w.Fatal("the process that was to be killed was given too little to do")
		}
		more := w.startRuns(20)
		w.answerAll(more)
		ids = append(ids, more...)
	}
	if first.err == nil {
		w.Fatal("the process that was to be killed has ended by itself")
	}
	second.end()
	for _, id := range ids {
		w.judge(crashCases["done"], id)
	}
	if n := len(w.effects()); n < 3*len(ids) {
		w.Fatalf("%d effects of %d runs", n, len(ids))
	}
}

// answerAll answers the questions of all runs as they are asked, until every run has ended.
func (w *crashWorld) answerAll(ids []string) {
	w.Helper()
	for deadline := time.Now().Add(patience.Limit()); len(ids) > 0; w.yield() {
		ids = slices.DeleteFunc(slices.Clone(ids), w.moveOn)
		if time.Now().After(deadline) && len(ids) > 0 {
			w.Fatalf("%d runs have not ended; the first: %s", len(ids), w.describe(w.read(ids[0])))
		}
	}
}

// moveOn answers the open questions of the run. It reports whether the run has ended.
func (w *crashWorld) moveOn(id string) (ended bool) {
	w.Helper()
	run := w.read(id)
	switch {
	case run.PendingQuestion == nil || run.State != fermata.TaskAwaitingInput:
	case w.source == rewound && len(w.events(id, fermata.EventRunRewound)) == 0:
		w.rewind(id, "before", "Once more.")
	default:
		w.answer(run.PendingQuestion, fermata.Answer{Answer: "b"})
	}
	for _, s := range run.Steps {
		if run.State != fermata.TaskBlocked || s.QuestionID == "" || s.State.IsEnded() {
			continue
		}
		if q, err := w.Engine.Question(w.Context(), ann, s.QuestionID); err == nil && q.Status == fermata.Pending {
			w.answer(q, fermata.Answer{Answer: "b"})
		}
	}
	return run.State.IsEnded()
}

func (w *crashWorld) startRuns(n int) (ids []string) {
	w.Helper()
	for range n {
		run, err := w.s.Start(w.Context(), admin, "crashing", nil)
		w.OK(err)
		ids = append(ids, run.ID)
	}
	return ids
}

func (c *child) hasEnded() bool {
	select {
	case <-c.died:
		return true
	default:
		return false
	}
}
