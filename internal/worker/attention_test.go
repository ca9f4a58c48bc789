//go:build unix

package worker_test

import (
	"context"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/runner/command"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/worker"
	"github.com/fermata-hq/fermata/test/patience"
)

// attentionCounter counts the waiting calls of a worker.
type attentionCounter struct {
	worker.Server
	mu sync.Mutex
	// open is the number of calls that wait now, and maxOpen the highest such number. runs is how many runs the last
	// call named.
	open, maxOpen, runs int
}

func (s *attentionCounter) Attention(ctx context.Context, r fermata.AttentionRequest) (*fermata.Attention, error) {
	s.mu.Lock()
	s.open++
	s.maxOpen, s.runs = max(s.maxOpen, s.open), len(r.Runs)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
	}()
	return s.Server.Attention(ctx, r)
}

func (s *attentionCounter) lastRunCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs
}

// A worker waits for news of all its runs with one call.
func TestOneCallWaitsForAllRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const agent = `until [ -s "$FERMATA_INBOX" ]; do sleep 0.02; done
		grep -q 'use less paint' "$FERMATA_INBOX" && ` + completed
	tasks := []*fermata.Task{w.task("Fence", agent), w.task("Gate", agent), w.task("Door", agent)}
	server := &attentionCounter{Server: w.agent}
	wk, err := worker.New(server, worker.Options{
		Name: "w1", Copies: w.copies, Lease: longLease, Slots: len(tasks), Runners: []worker.Runner{command.NewShell(command.Options{})},
	})
	testkit.OK(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan error, 1)
	go func() { end <- wk.Run(ctx) }()
	patience.Await(t, "one call names all runs", func() bool { return server.lastRunCount() == len(tasks) })
	for _, task := range tasks {
		_, err = w.person.PostMessage(t.Context(), task.ID, "use less paint")
		testkit.OK(t, err)
	}
	for _, task := range tasks {
		w.awaitState(task.ID, fermata.TaskDone)
	}
	cancel()
	testkit.OK(t, patience.Receive(t, "the worker ends", end))
	if server.maxOpen != 1 {
		t.Errorf("%d calls waited at once", server.maxOpen)
	}
}
