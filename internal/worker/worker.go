package worker

import (
	"cmp"
	"context"
	secret "crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/process"
)

// Defaults of the options.
const (
	DefaultWait  = 25 * time.Second
	DefaultGrace = 10 * time.Second
)

// Options configure a worker.
type Options struct {
	// Name identifies the worker. The server records it as the place of a working copy.
	Name string
	// Runners drive the agents. The first one runs tasks that name no runner.
	Runners []Runner
	// Projects and Agents limit which tasks are claimed. Empty means any.
	Projects []string
	Agents   []string
	// Slots is how many tasks run at the same time. 0 means 1.
	Slots int
	// Lease is how long the worker keeps a task without a heartbeat. 0 means 60 s.
	Lease time.Duration
	// Wait is how long a claim waits for a task. 0 means 25 s.
	Wait time.Duration
	// RunTimeout limits one run of an agent. 0 means no limit. The time for which a task waits for people never counts.
	RunTimeout time.Duration
	// Grace is how long agents may take to stop. 0 means 10 s. A lease that cannot be renewed is given up this long
	// before its end, or a quarter of the lease if that is shorter.
	Grace time.Duration
	// Once ends the worker when there is no task to claim and no task runs.
	Once bool
	// Copies configures where agents work.
	Copies Copies
	// Sandbox is the sandbox of the agents, to which their working copies are added. nil means none.
	Sandbox *process.Sandbox
	Logger  *slog.Logger
}

// Worker claims tasks and runs them.
type Worker struct {
	server Server
	opts   Options
	copies *copyManager
	log    *slog.Logger
	// active counts the runs.
	active    atomic.Int64
	attention *attention
	// now is the clock that measures leases. beatInterval is how often a lease is renewed.
	now          func() time.Time
	beatInterval time.Duration
}

// New returns a worker for the server. The error names the option that is wrong.
func New(server Server, opts Options) (*Worker, error) {
	if opts.Name == "" || len(opts.Runners) == 0 {
		return nil, errors.New("a worker needs a name and at least one runner")
	}
	opts.Slots = max(opts.Slots, 1)
	opts.Lease = cmp.Or(opts.Lease, fermata.DefaultLease)
	opts.Wait = cmp.Or(opts.Wait, DefaultWait)
	opts.Grace = cmp.Or(opts.Grace, DefaultGrace)
	if opts.Lease < fermata.MinLease || opts.Lease > fermata.MaxLease {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "a lease lasts between %s and %s", fermata.MinLease, fermata.MaxLease)
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	cs, err := newCopyManager(opts.Copies)
	if err != nil {
		return nil, err
	}
	w := &Worker{server: server, opts: opts, copies: cs, log: opts.Logger.With("worker", opts.Name), now: time.Now, beatInterval: opts.Lease / 3}
	w.attention = newAttention(w)
	return w, nil
}

// Run claims and runs tasks until ctx ends. Then it stops the agents and hands their tasks back. It returns nil after
// that, and when Once is set and the work is done. An error means that the worker's folder cannot be used, that the
// server refuses this worker, or that a worker with Once set cannot reach the server.
func (w *Worker) Run(ctx context.Context) error {
	unregister, err := w.copies.registerWorker()
	if err != nil {
		return err
	}
	defer unregister()
	w.copies.cleanUpKilledWorkers(w.log)
	defer w.watchRuns(ctx)()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var slots sync.WaitGroup
	refused := make(chan error, w.opts.Slots)
	for range w.opts.Slots {
		slots.Go(func() {
			if err := w.runSlot(ctx); err != nil {
				refused <- err
				stop()
			}
		})
	}
	slots.Wait()
	select {
	case err := <-refused:
		return err
	default:
		w.leave(ctx)
		return nil
	}
}

// watchRuns passes news to the runs until the returned function is called. So runs that stop because ctx ended get news
// as well.
func (w *Worker) watchRuns(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var watching sync.WaitGroup
	watching.Go(func() { w.attention.run(ctx) })
	return func() {
		cancel()
		watching.Wait()
	}
}

// runSlot runs one task after the other. It returns nil when ctx ends, or when Once is set and there is nothing to do.
// It returns an error if the server refuses every claim, or if Once is set and a claim fails.
func (w *Worker) runSlot(ctx context.Context) error {
	retry, key := newBackOff(), secret.Text()
	for ctx.Err() == nil {
		claim, err := w.claim(client.WithIdempotencyKey(ctx, key))
		if w.opts.Once || fermata.CodeOf(err) != fermata.CodeUnavailable {
			// If the reply to a claim was lost, the claim is repeated with the same key until there is a reply: the
			// server may have given the task to this worker.
			key = secret.Text()
		}
		switch {
		case err == nil:
			retry.Reset()
			w.runTasks(ctx, claim)
		case ctx.Err() != nil:
		case errors.Is(err, client.ErrNoTask):
			w.removeEndedWorktrees(ctx)
			if w.opts.Once && w.active.Load() == 0 {
				return nil
			}
		case isFinal(err), w.opts.Once && w.active.Load() == 0:
			return fmt.Errorf("claim a task: %w", err)
		default:
			w.log.Warn("claim a task", "error", err)
			pause(ctx, retry)
		}
	}
	return nil
}

// runTasks runs the claimed task, and then those that the server gives this worker with the result of the one before. If
// ctx ends, it hands the last of them back.
func (w *Worker) runTasks(ctx context.Context, claim *fermata.Claim) {
	w.active.Add(1)
	defer w.active.Add(-1)
	for task := (&nextTask{claim, w.now()}); task != nil; {
		task = w.runTask(ctx, task)
	}
}

// claim waits for a task. If Once is set, it waits only while another slot runs a task, because that task may create
// new ones.
func (w *Worker) claim(ctx context.Context) (*fermata.Claim, error) {
	waitTime := w.opts.Wait
	if w.opts.Once {
		waitTime = time.Duration(min(w.active.Load(), 1)) * time.Second
	}
	r := w.request()
	r.WaitSeconds = int(waitTime / time.Second)
	return w.server.Claim(ctx, r)
}

// request returns the claim of the worker without its waiting time.
func (w *Worker) request() fermata.ClaimRequest {
	names := make([]string, 0, len(w.opts.Runners))
	for _, r := range w.opts.Runners {
		names = append(names, r.Name())
	}
	return fermata.ClaimRequest{
		Worker: w.opts.Name, Runners: names, Projects: w.opts.Projects, Agents: w.opts.Agents, Isolates: w.opts.Sandbox != nil,
		LeaseSeconds: w.leaseSeconds(),
	}
}

// leaveTimeout limits how long a worker that ends waits for the call that removes it from the list.
const leaveTimeout = 5 * time.Second

// leave reports to the server that the worker ends. A worker with Once set reports nothing: such a worker is started
// again and again, and tasks that arrive in between wait for its next start.
func (w *Worker) leave(ctx context.Context) {
	if w.opts.Once {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	if err := w.server.StopClaiming(ctx, w.request()); err != nil {
		w.log.Debug("leave the list of workers", "error", err)
	}
}

func (w *Worker) leaseSeconds() int { return int(w.opts.Lease / time.Second) }

// runner returns the runner that the task names, or the first one.
func (w *Worker) runner(t *fermata.Task) Runner {
	for _, r := range w.opts.Runners {
		if r.Name() == t.Runner {
			return r
		}
	}
	return w.opts.Runners[0]
}

// newBackOff returns the waits between the tries of a call to the server. They are random, so that the workers of a restarted
// server do not all come back at the same moment.
func newBackOff() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval, b.Multiplier = 200*time.Millisecond, 10*time.Second, 2
	return b
}

// pause waits for the next try, or until ctx ends.
func pause(ctx context.Context, tries *backoff.ExponentialBackOff) {
	wait(ctx, tries.NextBackOff(), nil)
}
