//go:build unix

package worker_test

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/process"
	"github.com/fermata-hq/fermata/internal/runner/command"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/worker"
	"github.com/fermata-hq/fermata/test/patience"
)

// refusalObserver reports when the server refused output or a heartbeat as stale.
type refusalObserver struct {
	worker.Server
	// mute suppresses the news of the waiting call.
	mute      bool
	log, beat func()
}

func (s *refusalObserver) AppendLog(ctx context.Context, run string, token int64, text string) (int64, error) {
	n, err := s.Server.AppendLog(ctx, run, token, text)
	if fermata.CodeOf(err) == fermata.CodeStaleRun {
		s.log()
	}
	return n, err
}

func (s *refusalObserver) Heartbeat(ctx context.Context, run string, h fermata.Heartbeat) (*fermata.HeartbeatReply, error) {
	reply, err := s.Server.Heartbeat(ctx, run, h)
	if fermata.CodeOf(err) == fermata.CodeStaleRun {
		s.beat()
	}
	return reply, err
}

func (s *refusalObserver) Attention(ctx context.Context, r fermata.AttentionRequest) (*fermata.Attention, error) {
	if s.mute && r.WaitSeconds > 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Server.Attention(ctx, r)
}

// stoppingAgent is an agent that reports when it is told to stop. It ends when it has to hurry, or when the test lets
// it go.
type stoppingAgent struct {
	began, told chan context.Context
	handle      chan worker.RunHandle
	letGo       chan struct{}
}

func newStoppingAgent() *stoppingAgent {
	return &stoppingAgent{
		began: make(chan context.Context, 1), told: make(chan context.Context, 1), handle: make(chan worker.RunHandle, 1), letGo: make(chan struct{}),
	}
}

func (*stoppingAgent) Name() string { return "stopping" }

func (r *stoppingAgent) Run(ctx context.Context, _ *fermata.Claim, handle worker.RunHandle) (fermata.Finish, error) {
	r.handle <- handle
	r.began <- ctx
	<-ctx.Done()
	r.told <- ctx
	select {
	case <-process.HurryOf(ctx):
	case <-r.letGo:
	}
	return fermata.Finish{}, context.Cause(ctx)
}

// startTask makes a worker run a task with the agent.
func (w *world) startTask(server worker.Server, r worker.Runner) (task *fermata.Task, stop func()) {
	w.Helper()
	wk, err := worker.New(server, worker.Options{
		Name: "w1", Copies: w.copies, Lease: longLease, Grace: 10 * time.Minute, Runners: []worker.Runner{r},
	})
	w.OK(err)
	ctx, cancel := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() { ended <- wk.Run(ctx) }()
	w.Cleanup(func() {
		cancel()
		w.OK(patience.Receive(w, "the worker ends", ended))
	})
	task, err = w.agent.CreateTask(w.Context(), fermata.NewTask{Title: "Paint", Runner: r.Name()})
	w.OK(err)
	return task, cancel
}

// An agent whose task is paused gets its time to save the session, whatever the server refuses meanwhile. It does not
// matter by which call the worker learns of the pause.
func TestAPausedAgentHasItsTime(t *testing.T) {
	t.Parallel()
	for name, mute := range map[string]bool{"told by the waiting call": false, "told by a refusal": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			log, beat := make(chan struct{}), make(chan struct{})
			server := &refusalObserver{Server: w.agent, mute: mute, log: sync.OnceFunc(func() { close(log) }), beat: sync.OnceFunc(func() { close(beat) })}
			r := newStoppingAgent()
			task, _ := w.startTask(server, r)
			t.Cleanup(func() { close(r.letGo) })
			patience.Receive(t, "the run begins", r.began)
			handle := patience.Receive(t, "it has a handle", r.handle)

			_, err := w.person.PauseTask(t.Context(), task.ID)
			testkit.OK(t, err)
			if mute {
				_, err = io.WriteString(handle.Log(), "painting\n")
				testkit.OK(t, err)
			}
			ctx := patience.Receive(t, "the agent is told to stop", r.told)
			if !mute {
				_, err = io.WriteString(handle.Log(), "saving\n")
				testkit.OK(t, err)
				patience.Receive(t, "the output is refused", log)
				handle.KeepSession(fermata.Session{ID: "s-1"})
				patience.Receive(t, "the heartbeat is refused", beat)
			}
			if got := process.GraceOf(ctx, time.Minute); got != 5*time.Second {
				t.Errorf("the agent has %s", got)
			}
			select {
			case <-process.HurryOf(ctx):
				t.Error("it has to hurry")
			default:
			}
		})
	}
}

// An agent that is stopping already gets no more time when its task is cancelled.
func TestACancelledTaskHurriesAStoppingAgent(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"paused", "the worker stops"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			r := newStoppingAgent()
			task, stop := w.startTask(w.agent, r)
			t.Cleanup(func() { close(r.letGo) })
			patience.Receive(t, "the run begins", r.began)
			if name == "paused" {
				_, err := w.person.PauseTask(t.Context(), task.ID)
				testkit.OK(t, err)
			} else {
				stop()
			}
			ctx := patience.Receive(t, "the agent is told to stop", r.told)
			_, err := w.person.CancelTask(t.Context(), task.ID, "enough")
			testkit.OK(t, err)
			patience.Receive(t, "the agent has to hurry", process.HurryOf(ctx))
		})
	}
}

// endDelayer delays the end of one task's run until the worker knows that the task went on without it. After that, the
// worker does not wait for news of the run.
type endDelayer struct {
	worker.Server
	task          string
	asked, passed chan struct{}
	mu            sync.Mutex
	run           string
	pass          func()
}

func (s *endDelayer) Task(ctx context.Context, id string) (*fermata.Task, error) {
	t, err := s.Server.Task(ctx, id)
	if err != nil || id != s.task {
		return t, err
	}
	s.mu.Lock()
	s.run = t.RunID
	s.mu.Unlock()
	close(s.asked)
	select {
	case <-s.passed:
	case <-ctx.Done():
	}
	return t, err
}

func (s *endDelayer) Attention(ctx context.Context, r fermata.AttentionRequest) (*fermata.Attention, error) {
	s.mu.Lock()
	known := s.run != "" && !slices.ContainsFunc(r.Runs, func(run fermata.AttentionRun) bool { return run.RunID == s.run })
	s.mu.Unlock()
	if known {
		s.pass()
	}
	return s.Server.Attention(ctx, r)
}

// The worker does not push a task that a person cancels while its work is being committed and pushed.
func TestACancelledTaskIsNotPushed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bare := w.addOrigin()
	spec := json.RawMessage(`{"command": ["sh", "-c", "echo one >one.txt"], "push": true}`)
	task, err := w.person.CreateTask(t.Context(), fermata.NewTask{Title: "Paint", Runner: "command", Spec: spec})
	testkit.OK(t, err)
	server := &endDelayer{Server: w.agent, task: task.ID, asked: make(chan struct{}), passed: make(chan struct{})}
	server.pass = sync.OnceFunc(func() { close(server.passed) })
	other := newStoppingAgent()
	wk, err := worker.New(server, worker.Options{
		Name: "w1", Slots: 2, Copies: w.copies, Lease: longLease, Runners: []worker.Runner{command.NewShell(command.Options{}), other},
	})
	testkit.OK(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- wk.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		testkit.OK(t, patience.Receive(t, "the worker ends", ended))
	})
	t.Cleanup(func() { close(other.letGo) })
	_, err = w.agent.CreateTask(t.Context(), fermata.NewTask{Title: "Wait", Runner: other.Name()})
	testkit.OK(t, err)
	patience.Receive(t, "another run begins", other.began)
	patience.Receive(t, "the run has ended", server.asked)
	_, err = w.person.CancelTask(t.Context(), task.ID, "enough")
	testkit.OK(t, err)
	patience.Receive(t, "the worker knows it", server.passed)
	// The slot takes another task after this one.
	w.awaitState(w.task("Wash", `true`).ID, fermata.TaskDone)
	if n := run(t, w.repo, "rev-list", "--count", "fermata/"+task.ID); n != "1" {
		t.Errorf("%s commits are left", n)
	}
	if branches := run(t, bare, "branch", "--list"); branches != "" {
		t.Errorf("pushed: %s", branches)
	}
}
