package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

// workers measures cycles in which workers wait for their tasks.
func (b *bench) workers(ctx context.Context) error {
	return b.runOnEach(ctx, "workers", func(d *database, server *process) error { return b.workerThroughput(ctx, d, server) })
}

// workerFlow is a team of workers that do the tasks of clients.
type workerFlow struct {
	shared *http.Client
	url    string
	tokens tokens

	mu sync.Mutex
	// steps receive what the workers report about a task: the question that it stops on, and then its end.
	steps map[string]chan string
}

func (f *workerFlow) stepsOf(task string) chan string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.steps[task] == nil {
		// A worker may get the task before the call that creates it returns.
		f.steps[task] = make(chan string, 2)
	}
	return f.steps[task]
}

func (f *workerFlow) forget(task string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.steps, task)
}

// work claims tasks until ctx ends. The first run of each task stops on a question, and the second ends the task.
func (f *workerFlow) work(ctx context.Context, i int) error {
	c := newClient(f.shared, f.url, f.tokens, i)
	for ctx.Err() == nil {
		r, err := c.claimWith(ctx, filteredClaimBody("bench-worker", ""))
		if errors.Is(err, errNoTask) {
			continue
		}
		if err != nil {
			return ignoreEnd(ctx, err)
		}
		report := ""
		if r.isResumed {
			err = c.complete(ctx, r)
		} else {
			report, err = c.ask(ctx, r, "1d")
		}
		if err != nil {
			return ignoreEnd(ctx, err)
		}
		f.stepsOf(r.task) <- report
	}
	return nil
}

// ignoreEnd returns the error of a call, or nil if the call failed because the measurement ended.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// filteredClaimBody returns a claim that waits. If the project is empty, it takes tasks of all projects.
func filteredClaimBody(worker, project string) string {
	r := fermata.ClaimRequest{Worker: worker, LeaseSeconds: 3600, WaitSeconds: 60}
	if project != "" {
		r.Projects = []string{project}
	}
	body, err := json.Marshal(r)
	if err != nil {
		panic("bench: write a claim: " + err.Error())
	}
	return string(body)
}

// flowClient plays cycles whose tasks the workers do.
type flowClient struct {
	*client
	flow *workerFlow
}

func (c flowClient) cycle(ctx context.Context) error {
	reply, err := c.agent.post(ctx, "/v1/tasks", []byte(taskBody))
	if err != nil {
		return err
	}
	task := quotedAfter(reply, `"id":"`)
	steps := c.flow.stepsOf(task)
	defer c.flow.forget(task)
	question, err := next(ctx, steps)
	if err != nil {
		return err
	}
	if err := c.answer(ctx, question); err != nil {
		return err
	}
	_, err = next(ctx, steps)
	return err
}

func next(ctx context.Context, steps <-chan string) (string, error) {
	select {
	case step := <-steps:
		return step, nil
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(30 * time.Second):
		return "", errors.New("no worker did the task within 30 seconds")
	}
}

// measureFlow returns the cycles per second of clients that have as many workers.
func measureFlow(ctx context.Context, d *database, server *process, clients int, length time.Duration) (rate float64, err error) {
	ctx, stop := context.WithCancel(ctx)
	f := &workerFlow{shared: pool(), url: server.url, tokens: d.tokens, steps: map[string]chan string{}}
	var team sync.WaitGroup
	failed := make(chan error, clients)
	for i := range clients {
		team.Go(func() { failed <- f.work(ctx, i) })
	}
	rate, err = side{"workers", func(i int) cycler {
		return flowClient{newClient(f.shared, server.url, d.tokens, i), f}
	}}.measure(ctx, clients, length)
	stop()
	team.Wait()
	close(failed)
	for e := range failed {
		err = errors.Join(err, e)
	}
	return rate, err
}

// minWorkerRatio is the least ratio to the raw limit of cycles with workers.
const minWorkerRatio = 0.7

// workerThroughput measures cycles with waiting workers beside the raw limit. The raw limit sends the same six requests one
// after the other, with a commit for each.
func (b *bench) workerThroughput(ctx context.Context, d *database, server *process) (err error) {
	limit, err := b.newDatabase(ctx, d.kind, "raw_workers_"+d.kind)
	if err != nil {
		return err
	}
	if err := limit.forgetEvents(ctx); err != nil {
		return err
	}
	raw, err := startRaw(ctx, limit, sameRows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, raw.stop(), limit.drop(ctx)) }()
	rounds, length := b.rounds()
	shared := pool()
	rawSide := side{"raw", func(int) cycler { return newRawClient(shared, raw.url, d.tokens) }}
	for _, clients := range b.clients {
		var rates, limits []float64
		for range rounds {
			rate, err := measureFlow(ctx, d, server, clients, length)
			if err != nil {
				return err
			}
			most, err := rawSide.measure(ctx, clients, length)
			if err != nil {
				return err
			}
			rates, limits = append(rates, rate), append(limits, most)
		}
		rate, most := median(rates), median(limits)
		b.judge(fmt.Sprintf("cycles with waiting workers, %d clients", clients), title(d.kind),
			fmt.Sprintf("%.0f cycles/s; raw limit %.0f; ratio %.2f", rate, most, rate/most),
			fmt.Sprintf("ratio ≥ %.1f", minWorkerRatio), rate >= minWorkerRatio*most)
	}
	return nil
}

// rounds returns how often a rate is measured, and for how long each time.
func (b *bench) rounds() (n int, length time.Duration) {
	if b.short {
		return 3, time.Second
	}
	return 5, 3 * time.Second
}
