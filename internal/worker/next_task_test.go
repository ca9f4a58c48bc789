//go:build unix

package worker_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/runner/command"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/worker"
)

// finishSpy passes results on, and sees the replies. afterFinish may change what the worker gets.
type finishSpy struct {
	worker.Server
	afterFinish func(n int, reply *fermata.FinishReply, err error) (*fermata.FinishReply, error)

	mu     sync.Mutex
	count  int
	claims int
}

func (s *finishSpy) Finish(ctx context.Context, runID string, f fermata.Finish) (*fermata.FinishReply, error) {
	reply, err := s.Server.Finish(ctx, runID, f)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	return s.afterFinish(s.count, reply, err)
}

func (s *finishSpy) Claim(ctx context.Context, r fermata.ClaimRequest) (*fermata.Claim, error) {
	s.mu.Lock()
	s.claims++
	s.mu.Unlock()
	return s.Server.Claim(ctx, r)
}

// runWith runs a worker on the server until there is nothing to do, or until ctx ends.
func (w *world) runWith(ctx context.Context, server worker.Server) {
	w.Helper()
	wk, err := worker.New(server, worker.Options{
		Name: "w1", Copies: w.copies, Once: true, Runners: []worker.Runner{command.NewShell(command.Options{})},
	})
	w.OK(err)
	w.OK(wk.Run(ctx))
}

func (w *world) checkTask(id string, state fermata.TaskState) {
	w.Helper()
	t, err := w.person.Task(w.Context(), id)
	w.OK(err)
	if t.State != state {
		w.Errorf("task %q is %s (%s), want %s", t.Title, t.State, t.Summary, state)
	}
}

// A worker gets its next task with the end of the one before.
func TestTheNextTaskComesWithTheEndOfTheLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.task("First", completed), w.task("Second", completed)
	spy := &finishSpy{Server: w.agent, afterFinish: func(_ int, reply *fermata.FinishReply, err error) (*fermata.FinishReply, error) {
		return reply, err
	}}
	w.runWith(t.Context(), spy)
	w.checkTask(first.ID, fermata.TaskDone)
	w.checkTask(second.ID, fermata.TaskDone)
	// The first claim takes the first task, and the last one finds nothing.
	if spy.count != 2 || spy.claims != 2 {
		t.Errorf("two tasks took %d results and %d claims, want 2 and 2", spy.count, spy.claims)
	}
}

// A result whose reply is lost counts, with its commits. The task that came with the lost reply is run.
func TestAResultWhoseReplyIsLostCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.task("First", `echo hello > made.txt; `+completed), w.task("Second", completed)
	spy := &finishSpy{Server: w.agent, afterFinish: func(n int, reply *fermata.FinishReply, err error) (*fermata.FinishReply, error) {
		if n == 1 && err == nil {
			return nil, fermata.Errorf(fermata.CodeUnavailable, "the connection broke")
		}
		return reply, err
	}}
	w.runWith(t.Context(), spy)
	w.checkTask(first.ID, fermata.TaskDone)
	w.checkTask(second.ID, fermata.TaskDone)
	if text := run(t, w.repo, "show", "fermata/"+first.ID+":made.txt"); text != "hello" {
		t.Errorf("the branch of the first task has %q", text)
	}
	for _, task := range []*fermata.Task{first, second} {
		runs, err := w.person.Runs(t.Context(), task.ID)
		testkit.OK(t, err)
		if len(runs) != 1 {
			t.Errorf("task %q took %d runs, want 1", task.Title, len(runs))
		}
	}
}

// A worker that stops as it gets its next task hands that task back: a command that must not be run twice has not begun.
func TestAWorkerThatStopsHandsItsNextTaskBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.task("First", completed)
	second, err := w.person.CreateTask(t.Context(), fermata.NewTask{
		Title: "Once only", Spec: json.RawMessage(`{"command": ["sh", "-c", "exit 0"]}`), MaxAttempts: 1,
	})
	testkit.OK(t, err)
	ctx, stop := context.WithCancel(t.Context())
	w.runWith(ctx, &finishSpy{Server: w.agent, afterFinish: func(_ int, reply *fermata.FinishReply, err error) (*fermata.FinishReply, error) {
		stop()
		return reply, err
	}})
	w.checkTask(first.ID, fermata.TaskDone)
	w.checkTask(second.ID, fermata.TaskOpen)
}
