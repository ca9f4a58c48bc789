package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

// attempt is one run in the hands of a worker, from the claim to its end.
type attempt struct {
	w      *Worker
	claim  *fermata.Claim
	runner Runner
	copy   *workingCopy
	logw   *runLog
	inbox  *inbox
	log    *slog.Logger
	// progress holds the last update that was not sent yet.
	progress chan fermata.Progress
	// begun says that the session is new to the server, and not to be kept from it.
	begun chan struct{}
	// reporting is held while an update is sent.
	reporting sync.Mutex
	// beating is held while a heartbeat is under way. Once the agent has ended,
	// ended makes heartbeats rare, so that what people write is left to the next run.
	beating sync.Mutex
	ended   bool

	mu      sync.Mutex
	session fermata.Session
	// sentSession is the digest of the session that the server knows; beating guards it.
	sentSession string
}

// attend runs a claimed task and reports the result. It returns when the agent
// has ended and the server knows what came of it, or when it need not know.
func (w *Worker) attend(ctx context.Context, claim *fermata.Claim) {
	a := &attempt{
		w: w, claim: claim, runner: w.runner(claim.Task), inbox: newInbox(),
		progress: make(chan fermata.Progress, 1), begun: make(chan struct{}, 1),
		log: w.log.With("task", claim.Task.ID, "run", claim.Run.ID),
	}
	a.session = a.firstSession()
	// The agent outlives ctx by the time it takes to stop, and so does the lease.
	life, kill := context.WithCancelCause(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, func() { kill(ErrStopping) })()
	a.logw = newRunLog(func(sendCtx context.Context, text string) error {
		_, err := w.server.AppendLog(sendCtx, claim.Run.ID, claim.Run.Token, text)
		if fermata.CodeOf(err) == fermata.CodeStaleRun {
			kill(ErrStale)
		}
		return err
	})
	beatCtx, endBeats := context.WithCancel(context.WithoutCancel(ctx))
	var helpers sync.WaitGroup
	helpers.Go(func() { a.beat(beatCtx, kill) })
	helpers.Go(func() { a.sendProgress(beatCtx) })
	defer helpers.Wait()
	defer endBeats()
	defer kill(nil)

	a.log.Info("run a task", "title", claim.Task.Title, "attempt", claim.Run.Attempt)
	fin, err := a.execute(life)
	a.conclude(ctx, life, fin, err)
}

// execute prepares the working copy and runs the agent in it.
func (a *attempt) execute(life context.Context) (fermata.Finish, error) {
	a.w.copies.clearUp(a.log)
	dir, err := a.w.copies.open(life, a.claim.Task, a.logw)
	if cause := context.Cause(life); err != nil && cause != nil {
		return fermata.Finish{}, cause
	} else if err != nil {
		return fermata.Finish{}, fmt.Errorf("prepare the working copy: %w", err)
	}
	a.copy = dir
	a.place(dir)
	ctx, cancel := life, context.CancelFunc(func() {})
	if d := a.limit(); d > 0 {
		ctx, cancel = context.WithTimeoutCause(life, d, ErrTimeout)
	}
	defer cancel()
	claim := a.claim
	for {
		a.setEnded(false)
		fin, err := a.runner.Run(ctx, claim, desk{a})
		a.setEnded(true)
		again := a.unheard(claim, fin, err)
		if err != nil && context.Cause(ctx) != nil {
			err = context.Cause(ctx)
		}
		if again == nil {
			return fin, err
		}
		a.logf("The answer came while the agent ended: it is resumed.")
		claim = again
	}
}

func (a *attempt) setEnded(ended bool) {
	a.beating.Lock()
	defer a.beating.Unlock()
	a.ended = ended
}

// unheard returns the claim with which an agent runs once more, or nil. An
// agent that ends to wait for a question which was answered meanwhile, and
// handed over to this very run, would wait for ever.
func (a *attempt) unheard(claim *fermata.Claim, fin fermata.Finish, err error) *fermata.Claim {
	handed := a.inbox.taken()
	if err != nil || handed == nil || fin.Result != fermata.ResultNeedsInput || fin.Question != nil {
		return nil
	}
	handed.Checkpoint = fin.Checkpoint
	if len(handed.Checkpoint) == 0 && claim.Context != nil {
		handed.Checkpoint = claim.Context.Checkpoint
	}
	session := a.currentSession(fin.Session)
	handed.TaskID, handed.Resumed, handed.Session = claim.Task.ID, true, &session
	return &fermata.Claim{Task: claim.Task, Run: claim.Run, Context: handed}
}

// conclude reports the end of the run, in the way that its cause asks for.
func (a *attempt) conclude(ctx, life context.Context, fin fermata.Finish, err error) {
	defer a.copy.close()
	cause := context.Cause(life)
	switch {
	case errors.Is(cause, ErrStale):
		a.logw.discard()
		a.log.Info("the task went on without this run; its working copy stays as it is")
		return
	case err == nil:
		a.finish(ctx, fin)
	case errors.Is(err, ErrStopping), errors.Is(err, ErrCutOff):
		a.release(ctx, err)
	case errors.Is(err, ErrTimeout):
		a.finish(ctx, failed(fmt.Sprintf("The run took longer than %s and was stopped.", a.limit())))
	default:
		a.finish(ctx, failed("The agent could not be run: "+err.Error()))
	}
}

// release hands the task back, so that any worker can go on with it at once.
func (a *attempt) release(ctx context.Context, why error) {
	a.logf("The run was stopped: %s. The working copy stays as it is.", why)
	sendCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.w.opts.Grace)
	defer cancel()
	a.logw.close(sendCtx)
	pause := backoff{}
	for {
		_, err := a.w.server.Release(sendCtx, a.claim.Run.ID, a.claim.Run.Token)
		switch {
		case err == nil:
			a.log.Info("handed the task back", "why", why)
			return
		case isStale(err), isFinal(err), sendCtx.Err() != nil:
			a.log.Warn("hand the task back", "error", err)
			return
		}
		pause.wait(sendCtx)
	}
}

func failed(summary string) fermata.Finish {
	return fermata.Finish{Result: fermata.ResultFailed, Summary: clip(summary, maxSummary)}
}

// logf adds a line of the worker's own to the log of the run.
func (a *attempt) logf(format string, args ...any) { logLine(a.logw, format, args...) }

// sendProgress passes on what the agent reports; where the server is slow,
// only the last update counts.
func (a *attempt) sendProgress(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-a.progress:
			a.reportProgress(ctx, p)
		}
	}
}

// flushProgress reports what was not sent yet: a run that is over reports no more.
func (a *attempt) flushProgress(ctx context.Context) {
	select {
	case p := <-a.progress:
		a.reportProgress(ctx, p)
	default:
		a.reporting.Lock()
		defer a.reporting.Unlock()
	}
}

func (a *attempt) reportProgress(ctx context.Context, p fermata.Progress) {
	a.reporting.Lock()
	defer a.reporting.Unlock()
	call, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	p.Token = a.claim.Run.Token
	if err := a.w.server.RunProgress(call, a.claim.Run.ID, p); err != nil && ctx.Err() == nil {
		a.log.Warn("report progress", "error", err)
	}
}
