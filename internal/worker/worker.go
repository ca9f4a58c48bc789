package worker

import (
	"cmp"
	"context"
	secret "crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/process"
)

// Defaults of the options.
const (
	DefaultWait  = 25 * time.Second
	DefaultGrace = 10 * time.Second
)

// Options say what a worker does and how.
type Options struct {
	// Name tells workers apart; it is where a working copy is.
	Name string
	// Runners drive the agents. The first runs tasks that name no runner.
	Runners []Runner
	// Projects and Agents limit what is claimed; empty: any.
	Projects []string
	Agents   []string
	// Slots is how many tasks run at the same time; 0 means 1.
	Slots int
	// Lease is how long a task is the worker's without a heartbeat; 0 means 60 s.
	Lease time.Duration
	// Wait is how long a claim waits for a task; 0 means 25 s.
	Wait time.Duration
	// RunTimeout bounds one run of an agent; 0 means that nothing does. The time
	// in which a task waits for people never counts.
	RunTimeout time.Duration
	// Grace is how long agents may take to stop; 0 means 10 s. A lease that cannot
	// be renewed is given up this long before its end.
	Grace time.Duration
	// Once ends the worker when nothing can be claimed and nothing runs.
	Once bool
	// Copies says where agents work.
	Copies Copies
	// Sandbox is where agents run, with their working copies added; nil is none.
	Sandbox *process.Sandbox
	Logger  *slog.Logger
}

// Worker claims tasks and runs them.
type Worker struct {
	server Server
	opts   Options
	copies *copies
	log    *slog.Logger
	// active counts the runs.
	active    atomic.Int64
	attention *attention
	// now is the clock that leases are measured by; beat is how often one is renewed.
	now  func() time.Time
	beat time.Duration
}

// New returns a worker for the server. The error names what is wrong with the
// options.
func New(server Server, opts Options) (*Worker, error) {
	if opts.Name == "" || len(opts.Runners) == 0 {
		return nil, errors.New("a worker needs a name and at least one runner")
	}
	opts.Slots = max(opts.Slots, 1)
	opts.Lease = cmp.Or(opts.Lease, fermata.DefaultLease)
	opts.Wait = cmp.Or(opts.Wait, DefaultWait)
	opts.Grace = cmp.Or(opts.Grace, DefaultGrace)
	if opts.Lease < fermata.ShortestLease || opts.Lease > fermata.LongestLease {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "a lease lasts between %s and %s", fermata.ShortestLease, fermata.LongestLease)
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	cs, err := newCopies(opts.Copies)
	if err != nil {
		return nil, err
	}
	w := &Worker{server: server, opts: opts, copies: cs, log: opts.Logger.With("worker", opts.Name), now: time.Now, beat: opts.Lease / 3}
	w.attention = newAttention(w)
	return w, nil
}

// Run claims and runs tasks until ctx ends; then the agents are stopped and
// their tasks handed back. It returns nil then, and when Once is set and the
// work is done; an error means that the server refuses this worker, or that one
// which runs once cannot reach it.
func (w *Worker) Run(ctx context.Context) error {
	signOut, err := w.copies.signIn()
	if err != nil {
		return err
	}
	defer signOut()
	w.copies.clearUp(w.log)
	defer w.watchRuns(ctx)()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var slots sync.WaitGroup
	refused := make(chan error, w.opts.Slots)
	for range w.opts.Slots {
		slots.Go(func() {
			if err := w.slot(ctx); err != nil {
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

// watchRuns lets the runs hear their news until the returned function is called:
// also those that stop because ctx ended.
func (w *Worker) watchRuns(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var watching sync.WaitGroup
	watching.Go(func() { w.attention.run(ctx) })
	return func() {
		cancel()
		watching.Wait()
	}
}

// slot runs one task after the other. It ends with ctx, or with the error for
// which the server refuses every claim.
func (w *Worker) slot(ctx context.Context) error {
	pause, key := backoff{}, secret.Text()
	for ctx.Err() == nil {
		claim, err := w.claim(client.WithKey(ctx, key))
		if w.opts.Once || fermata.CodeOf(err) != fermata.CodeUnavailable {
			// A claim whose reply was lost is made with the same key until there is one: the task may be ours.
			key = secret.Text()
		}
		switch {
		case err == nil:
			pause = backoff{}
			w.active.Add(1)
			w.attend(ctx, claim)
			w.active.Add(-1)
		case ctx.Err() != nil:
		case errors.Is(err, client.ErrNoTask):
			w.tidy(ctx)
			if w.opts.Once && w.active.Load() == 0 {
				return nil
			}
		case isFinal(err), w.opts.Once && w.active.Load() == 0:
			return fmt.Errorf("claim a task: %w", err)
		default:
			w.log.Warn("claim a task", "error", err)
			pause.wait(ctx)
		}
	}
	return nil
}

// claim waits for a task. A worker that runs once waits only while another of
// its slots runs a task, which may make new ones.
func (w *Worker) claim(ctx context.Context) (*fermata.Claim, error) {
	wait := w.opts.Wait
	if w.opts.Once {
		wait = time.Duration(min(w.active.Load(), 1)) * time.Second
	}
	r := w.request()
	r.WaitSeconds = int(wait / time.Second)
	return w.server.Claim(ctx, r)
}

// request is the claim of the worker, without how long it waits.
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

// leaveWithin bounds how long a worker that ends waits to be taken from the list.
const leaveWithin = 5 * time.Second

// leave tells the server that the worker ends. A worker that runs once does not tell: something starts it again and again, and
// tasks that come in between wait for its next start.
func (w *Worker) leave(ctx context.Context) {
	if w.opts.Once {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
	defer cancel()
	if err := w.server.Leave(ctx, w.request()); err != nil {
		w.log.Debug("leave the list of workers", "error", err)
	}
}

func (w *Worker) leaseSeconds() int { return int(w.opts.Lease / time.Second) }

// runner returns the one that the task names, or the first.
func (w *Worker) runner(t *fermata.Task) Runner {
	for _, r := range w.opts.Runners {
		if r.Name() == t.Runner {
			return r
		}
	}
	return w.opts.Runners[0]
}

// backoff grows from a fifth of a second to ten seconds, with jitter.
type backoff struct{ tries int }

// wait pauses for the next step, or until ctx ends.
func (b *backoff) wait(ctx context.Context) {
	d := min(200*time.Millisecond<<min(b.tries, 10), 10*time.Second)
	b.tries++
	wait(ctx, d/2+rand.N(d/2), nil) //nolint:gosec // jitter needs no secret
}
