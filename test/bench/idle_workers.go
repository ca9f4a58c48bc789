package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/fermata-hq/fermata/internal/engine"
)

// idle measures what workers cost that wait for tasks of other projects.
func (b *bench) idle(ctx context.Context) error {
	if err := raiseFileLimit(); err != nil {
		return err
	}
	return b.runOnEach(ctx, "idle", func(d *database, server *process) error { return b.idleWorkers(ctx, d, server) })
}

// startIdle starts workers that wait for tasks of projects that have none. Their names begin with the prefix. It returns
// when each has sent its first claim.
func startIdle(ctx context.Context, d *database, server *process, prefix string, n int) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	shared := pool()
	var team, starting sync.WaitGroup
	failed := make(chan error, n)
	starting.Add(n)
	for i := range n {
		hasStarted := sync.OnceFunc(starting.Done)
		traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { hasStarted() }})
		team.Go(func() {
			defer hasStarted()
			c := newClient(shared, server.url, d.tokens, i)
			name := fmt.Sprintf("%s-%d", prefix, i)
			for ctx.Err() == nil {
				_, err := c.claimWith(traced, filteredClaimBody(name, fmt.Sprintf("idle-%d", i%50)))
				if err != nil && !errors.Is(err, errNoTask) {
					failed <- ignoreEnd(ctx, err)
					return
				}
			}
			failed <- nil
		})
	}
	starting.Wait()
	return func() error {
		cancel()
		team.Wait()
		close(failed)
		var all error
		for e := range failed {
			all = errors.Join(all, e)
		}
		return all
	}
}

// idleWorkers measures what workers cost that wait for tasks of other projects.
func (b *bench) idleWorkers(ctx context.Context, d *database, server *process) error {
	const tasks = 20_000
	if err := addOpenTasks(ctx, d, server, tasks); err != nil {
		return err
	}
	counts := []int{1000, 5000}
	if b.short {
		counts = []int{200, 1000}
	}
	for i, n := range counts {
		if err := b.judgeIdleWorkers(ctx, d, server, n, tasks, []float64{1, 3}[i]); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) judgeIdleWorkers(ctx context.Context, d *database, server *process, n, tasks int, percent float64) (err error) {
	alone, err := b.createTimes(ctx, d, server)
	if err != nil {
		return err
	}
	stop := startIdle(ctx, d, server, fmt.Sprintf("idle-%d", n), n)
	defer func() { err = errors.Join(err, stop()) }()
	window := 60 * time.Second
	if b.short {
		window = 10 * time.Second
	}
	// All have sent their claim; the server records the last of them.
	engine.Sleep(ctx, 2*time.Second)
	before, err := server.cpuTime()
	if err != nil {
		return err
	}
	engine.Sleep(ctx, window)
	after, err := server.cpuTime()
	if err != nil {
		return err
	}
	used := 100 * (after - before).Seconds() / window.Seconds()
	where := fmt.Sprintf("%s, %s idle workers, %s open tasks of others", title(d.kind), thousands(n), thousands(tasks))
	b.judge("CPU of a server with idle workers", where,
		fmt.Sprintf("%.2f %%; memory %.0f MB", used, float64(server.memory())/(1<<20)), fmt.Sprintf("≤ %.0f %%", percent), used <= percent)
	beside, err := b.createTimes(ctx, d, server)
	if err != nil {
		return err
	}
	ratio := float64(beside) / float64(alone)
	b.judge("a create beside idle workers", where,
		fmt.Sprintf("%s beside %s alone; ratio %.2f", beside.Round(10*time.Microsecond), alone.Round(10*time.Microsecond), ratio), "ratio ≤ 1.2", ratio <= 1.2)
	return nil
}

// createTimes returns the median time of a create.
func (b *bench) createTimes(ctx context.Context, d *database, server *process) (time.Duration, error) {
	c := newClient(pool(), server.url, d.tokens, 0)
	times := make([]time.Duration, 0, 200)
	for range cap(times) {
		began := time.Now()
		if err := c.create(ctx); err != nil {
			return 0, err
		}
		times = append(times, time.Since(began))
	}
	return median(times), nil
}

// addOpenTasks creates open tasks in twenty projects.
func addOpenTasks(ctx context.Context, d *database, server *process, n int) error {
	const together = 64
	shared := pool()
	clients := make([]*client, together)
	for i := range clients {
		clients[i] = newClient(shared, server.url, d.tokens, i)
	}
	return doConcurrently(together, n, func(k, i int) error {
		body := fmt.Sprintf(`{"title":"Add a configuration file","project":"other-%d"}`, i%20)
		_, err := clients[k].agent.post(ctx, "/v1/tasks", []byte(body))
		return err
	})
}
