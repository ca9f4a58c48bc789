package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// latency measures how soon a waiting claim returns after an answer was acknowledged, at low load.
func (b *bench) latency(ctx context.Context) error {
	return b.runOnEach(ctx, "latency", func(d *database, server *process) error { return b.latencyOn(ctx, d, server) })
}

func (b *bench) latencyOn(ctx context.Context, d *database, server *process) (err error) {
	took, err := b.measureResumes(ctx, d, server.url, server.url)
	if err != nil {
		return err
	}
	p50, p99 := quantile(took, 0.5), quantile(took, 0.99)
	b.judge("answer acknowledged to claim returned", title(d.kind)+", one process",
		fmt.Sprintf("p50 %s, p99 %s of %d", ms(p50), ms(p99), len(took)), "p50 ≤ 5 ms, p99 ≤ 50 ms",
		p50 <= 5*time.Millisecond && p99 <= 50*time.Millisecond)
	if d.kind != postgres {
		return nil
	}
	second, err := b.serve(ctx, d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, second.stop()) }()
	if took, err = b.measureResumes(ctx, d, server.url, second.url); err != nil {
		return err
	}
	p99 = quantile(took, 0.99)
	b.judge("answer acknowledged to claim returned", title(d.kind)+", across two replicas",
		fmt.Sprintf("p50 %s, p99 %s of %d", ms(median(took)), ms(p99), len(took)), "p99 ≤ 100 ms", p99 <= 100*time.Millisecond)
	return nil
}

// answerInterval is the interval between answers at low load.
const answerInterval = 20 * time.Millisecond

// measureResumes suspends tasks, and answers their questions on one server while workers wait on the other. It returns how
// long after the acknowledgement a worker had each task. If the worker had it before the acknowledgement, the time is
// 0.
func (b *bench) measureResumes(ctx context.Context, d *database, answerAt, claimAt string) ([]time.Duration, error) {
	n := 500
	if b.short {
		n = 100
	}
	shared := pool()
	person := newClient(shared, answerAt, d.tokens, 0)
	tasks := make([]suspendedTask, n)
	for i := range tasks {
		var err error
		if tasks[i], err = person.suspend(ctx, "1d"); err != nil {
			return nil, err
		}
	}
	workers := newWaitingWorkers(ctx, shared, claimAt, d.tokens)
	defer workers.stop()
	acknowledged := map[string]time.Time{}
	tick := time.NewTicker(answerInterval)
	defer tick.Stop()
	for _, t := range tasks {
		<-tick.C
		if err := person.answer(ctx, t.question); err != nil {
			return nil, err
		}
		acknowledged[t.task] = time.Now()
	}
	returned, err := workers.awaitAll(n)
	if err != nil {
		return nil, err
	}
	took := make([]time.Duration, 0, n)
	for task, at := range acknowledged {
		took = append(took, max(0, returned[task].Sub(at)))
	}
	slices.Sort(took)
	return took, nil
}

// waitingWorkers claim with a long wait, complete the tasks that they get, and record when they got them. There are
// two, so that one always waits.
type waitingWorkers struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	got    chan arrival
	failed chan error
}

type arrival struct {
	task string
	at   time.Time
}

const waitingClaim = `{"worker":"bench-worker","lease_seconds":3600,"wait_seconds":25}`

func newWaitingWorkers(ctx context.Context, shared *http.Client, url string, k tokens) *waitingWorkers {
	ctx, cancel := context.WithCancel(ctx)
	w := &waitingWorkers{cancel: cancel, got: make(chan arrival, 4096), failed: make(chan error, 2)}
	for i := range 2 {
		c := newClient(shared, url, k, i)
		w.done.Go(func() {
			err := w.work(ctx, c)
			if ctx.Err() == nil {
				w.failed <- err
			}
		})
	}
	return w
}

// work claims and completes until a call fails or ctx ends.
func (w *waitingWorkers) work(ctx context.Context, c *client) error {
	for {
		r, err := c.claimWith(ctx, waitingClaim)
		if errors.Is(err, errNoTask) {
			continue
		}
		if err != nil {
			return err
		}
		w.got <- arrival{r.task, time.Now()}
		if err := c.complete(ctx, r); err != nil {
			return err
		}
	}
}

// awaitAll returns when a worker had each of n tasks.
func (w *waitingWorkers) awaitAll(n int) (map[string]time.Time, error) {
	at := make(map[string]time.Time, n)
	late := time.After(20 * time.Second)
	for len(at) < n {
		select {
		case a := <-w.got:
			if _, twice := at[a.task]; twice {
				return nil, fmt.Errorf("task %s was claimed twice", a.task)
			}
			at[a.task] = a.at
		case err := <-w.failed:
			return nil, err
		case <-late:
			return nil, fmt.Errorf("only %d of %d answered tasks were resumed", len(at), n)
		}
	}
	return at, nil
}

func (w *waitingWorkers) stop() {
	w.cancel()
	w.done.Wait()
}
