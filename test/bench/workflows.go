package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
	toolhttp "github.com/fermata-hq/fermata/internal/tool/http"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// suspendingWorkflow is a workflow that asks a question. Its next step calls the bench by HTTP.
const suspendingWorkflow = `
name: bench
triggers: [{manual: true}]
inputs: {to: {type: string, required: true}}
steps:
  - {id: ask, tool: post_question, suspend: true, input: {question: "Go on?", responseType: boolean, timeout: never}, output: said}
  - {id: tell, tool: http, input: {method: POST, url: "{{ inputs.to }}/{{ run.id }}", json: {go: "{{ said.answer }}"}}}
`

// workflows measures how soon the next step of a run starts after an answer, and the cost of suspended runs.
func (b *bench) workflows(ctx context.Context) error {
	n := 100_000
	if b.short {
		n = 5_000
	}
	for _, kind := range b.kinds {
		if err := b.workflowsOn(ctx, kind, n); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) workflowsOn(ctx context.Context, kind string, n int) (err error) {
	listener, err := listenForSteps(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, listener.server.Close()) }()
	c := &waitingDatabases{kind: kind, n: n, noun: "waiting runs"}
	for _, one := range []struct {
		into **database
		name string
		runs int
	}{{&c.empty, "noruns", 0}, {&c.some, "someruns", fewTasks}, {&c.full, "runs", n}} {
		d, err := b.newDatabase(ctx, kind, one.name+"_"+kind)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.drop(ctx)) }()
		began := time.Now()
		if err := d.suspendRuns(ctx, one.runs, listener.url); err != nil {
			return fmt.Errorf("suspend runs: %w", err)
		}
		if one.runs > 0 {
			b.say("%s: suspended %s runs in %s", title(kind), thousands(one.runs), time.Since(began).Round(time.Second))
		}
		if err := b.serveOnce(ctx, d); err != nil {
			return err
		}
		*one.into = d
	}
	var servers []*process
	for _, d := range []*database{c.empty, c.some, c.full} {
		server, failed := b.serve(ctx, d, "--allow-networks", "127.0.0.0/8")
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, server.stop()) }()
		servers = append(servers, server)
	}
	if err := b.judgeIdle(ctx, c, servers[0], servers[2]); err != nil {
		return err
	}
	return b.judgeSteps(ctx, c, listener, servers[1], servers[2])
}

// serveOnce starts a server on the database and stops it again. The first start reads the whole database: it checks the
// file and signs the chain of events. In the measured server, this would fill the caches of SQLite with pages that have
// nothing to do with waiting runs.
func (b *bench) serveOnce(ctx context.Context, d *database) error {
	server, err := b.serve(ctx, d)
	if err != nil {
		return err
	}
	pause(ctx, 5*time.Second)
	return server.stop()
}

// judgeSteps answers questions of runs on two servers in turn, and judges how soon the next step starts.
func (b *bench) judgeSteps(ctx context.Context, c *waitingDatabases, listener *stepListener, some, full *process) error {
	samples := 300
	if b.short {
		samples = 100
	}
	var took [2][]time.Duration
	sides := []*reader{newReader(pool(), some.url, c.some.tokens), newReader(pool(), full.url, c.full.tokens)}
	for range samples {
		for i, r := range sides {
			d, err := listener.sample(ctx, r)
			if err != nil {
				return err
			}
			took[i] = append(took[i], d)
		}
	}
	p99 := quantile(took[1], 0.99)
	b.judge("answer acknowledged to next step started", c.label(),
		fmt.Sprintf("p50 %s, p99 %s of %d", ms(median(took[1])), ms(p99), samples), "p99 ≤ 100 ms", p99 <= 100*time.Millisecond)
	ratio := float64(median(took[1])) / float64(median(took[0]))
	b.judge("answer to next step, beside that with 1,000 runs", c.label(),
		fmt.Sprintf("%s beside %s; ratio %.2f", ms(median(took[1])), ms(median(took[0])), ratio), "ratio ≤ 1.5", ratio <= 1.5)
	return nil
}

// stepListener receives the HTTP request of the last step of each run.
type stepListener struct {
	server *http.Server
	url    string
	mu     sync.Mutex
	at     map[string]chan time.Time
}

func listenForSteps(ctx context.Context) (*stepListener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &stepListener{url: "http://" + listener.Addr().String(), at: map[string]chan time.Time{}}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

// ServeHTTP takes the notification of a step.
func (s *stepListener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	_, _ = io.Copy(io.Discard, r.Body)
	select {
	case s.channelOf(r.URL.Path) <- now:
	default:
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *stepListener) channelOf(path string) chan time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at[path] == nil {
		s.at[path] = make(chan time.Time, 1)
	}
	return s.at[path]
}

// sample answers the question of one run. It returns how long after the acknowledgement the next step began, or 0 if it
// began before the acknowledgement.
func (s *stepListener) sample(ctx context.Context, r *reader) (time.Duration, error) {
	reply, err := r.person.get(ctx, "/v1/questions?status=pending&limit=1")
	if err != nil {
		return 0, err
	}
	question, run := quotedAfter(reply, `"id":"`), quotedAfter(reply, `"task_id":"`)
	if _, err := r.person.post(ctx, "/v1/questions/"+question+"/answer", []byte(`{"answer":true}`)); err != nil {
		return 0, err
	}
	acknowledged := time.Now()
	select {
	case at := <-s.channelOf("/" + run):
		return max(0, at.Sub(acknowledged)), nil
	case <-time.After(20 * time.Second):
		return 0, fmt.Errorf("the run %s did not go on", run)
	}
}

// suspendRuns starts runs and waits until each has reached its question.
func (d *database) suspendRuns(ctx context.Context, n int, to string) error {
	if n == 0 {
		return nil
	}
	return d.withWorkflows(ctx, toolhttp.New(http.DefaultClient), suspendingWorkflow, func(s *workflow.Service, starter fermata.Caller) error {
		var starting sync.WaitGroup
		failed := make(chan error, 64)
		left := make(chan struct{}, n)
		for range n {
			left <- struct{}{}
		}
		close(left)
		for range cap(failed) {
			starting.Go(func() {
				for range left {
					if _, err := s.Start(ctx, starter, "bench", map[string]any{"to": to}); err != nil {
						failed <- err
						return
					}
				}
			})
		}
		starting.Wait()
		select {
		case err := <-failed:
			return err
		default:
		}
		return waitSuspended(ctx, s, starter)
	})
}

// withWorkflows runs workflows in this process, with one tool and a definition, until fn returns.
func (d *database) withWorkflows(ctx context.Context, namedTool tool.Tool, source string, fn func(s *workflow.Service, starter fermata.Caller) error) error {
	return d.withDB(ctx, func(db *store.DB) error {
		e := engine.New(db, engine.Options{})
		s := workflow.New(workflow.Options{DB: db, Engine: e, Executors: 128, Tools: []tool.Tool{namedTool}})
		if err := e.Start(ctx); err != nil {
			return err
		}
		running, cancel := context.WithCancel(ctx)
		var parts sync.WaitGroup
		defer parts.Wait()
		defer cancel()
		parts.Go(func() { e.RunTail(running) })
		parts.Go(func() { s.Run(running) })
		starter := operator
		starter.Kind, starter.Role, starter.MemberID = fermata.ActorHuman, fermata.RoleAdmin, "mem_bench"
		if _, err := s.Put(ctx, starter, "", workflow.Definition{Source: source}); err != nil {
			return err
		}
		return fn(s, starter)
	})
}

// waitSuspended waits until every run waits or has ended.
func waitSuspended(ctx context.Context, s *workflow.Service, c fermata.Caller) error {
	for {
		busy, _, err := s.Runs(ctx, c, workflow.RunFilter{State: []fermata.TaskState{fermata.TaskOpen, fermata.TaskInProgress, fermata.TaskInputReceived}, Limit: 1})
		if err != nil || len(busy) == 0 {
			return err
		}
		pause(ctx, 50*time.Millisecond)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
