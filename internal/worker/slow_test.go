//go:build unix

package worker_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/worker"
	"github.com/fermata-hq/fermata/test/patience"
)

// slowServer is a server that never replies to the heartbeats of one run.
type slowServer struct {
	worker.Server
	mu sync.Mutex
	// run is the id of that run, once it is known.
	run  string
	once sync.Once
	// stuck is closed when the server gets a heartbeat of that run.
	stuck chan struct{}
	// over ends the test.
	over chan struct{}
}

func (s *slowServer) Heartbeat(ctx context.Context, runID string, h fermata.Heartbeat) (*fermata.HeartbeatReply, error) {
	s.mu.Lock()
	slow := runID == s.run
	s.mu.Unlock()
	if !slow {
		return s.Server.Heartbeat(ctx, runID, h)
	}
	s.once.Do(func() { close(s.stuck) })
	select {
	case <-ctx.Done():
	case <-s.over:
	}
	return nil, context.Canceled
}

// listener is an agent that waits for a message and ends with its text.
type listener struct{ began, heard chan string }

func (*listener) Name() string { return "listener" }

func (r *listener) Run(ctx context.Context, claim *fermata.Claim, handle worker.RunHandle) (fermata.Finish, error) {
	r.began <- claim.Task.ID
	select {
	case <-ctx.Done():
		return fermata.Finish{}, context.Cause(ctx)
	case <-handle.Inbox():
		r.heard <- claim.Task.ID
		return fermata.Finish{Result: fermata.ResultCompleted, Summary: "heard"}, nil
	}
}

// A run that is slow to fetch its messages does not delay the other runs of the worker.
func TestASlowRunKeepsNoOtherWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := &slowServer{Server: w.agent, stuck: make(chan struct{}), over: make(chan struct{})}
	r := &listener{began: make(chan string, 2), heard: make(chan string, 2)}
	wk, err := worker.New(server, worker.Options{
		Name: "w1", Slots: 2, Copies: w.copies, Lease: 5 * time.Minute, Grace: time.Second, Runners: []worker.Runner{r},
	})
	testkit.OK(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = wk.Run(ctx) }()
	t.Cleanup(func() { close(server.over); stop(); <-ended })

	ids := make([]string, 2)
	for i := range ids {
		task, err := w.agent.CreateTask(t.Context(), fermata.NewTask{Title: "Paint", Runner: r.Name()})
		testkit.OK(t, err)
		ids[i] = task.ID
		patience.Receive(t, "the run begins", r.began)
	}
	slow, err := w.person.Task(t.Context(), ids[0])
	testkit.OK(t, err)
	server.mu.Lock()
	server.run = slow.RunID
	server.mu.Unlock()
	_, err = w.person.PostMessage(t.Context(), ids[0], "are you there?")
	testkit.OK(t, err)
	patience.Receive(t, "the server holds the request back", server.stuck)
	_, err = w.person.PostMessage(t.Context(), ids[1], "go on")
	testkit.OK(t, err)
	if got := patience.Receive(t, "the other run is told", r.heard); got != ids[1] {
		t.Errorf("task %s was told, want %s", got, ids[1])
	}
}
