package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fermata-hq/fermata"
)

// activeRun is one run of a task on this worker, from its claim to its end.
type activeRun struct {
	w      *Worker
	claim  *fermata.Claim
	runner Runner
	copy   *workingCopy
	runLog *runLog
	inbox  *inbox
	log    *slog.Logger
	// progress holds the latest update that was not sent yet.
	progress chan fermata.Progress
	// beatRequest asks for a heartbeat at once: the session or the agent's folder is new to the server, or the reply of
	// the last heartbeat was lost, and perhaps messages with it.
	beatRequest chan struct{}
	// reportMu is held while an update is sent.
	reportMu sync.Mutex
	// beatMu is held while a heartbeat is under way. Once the agent has ended, ended makes heartbeats rare, so that
	// new messages of people are left to the next run.
	beatMu sync.Mutex
	ended  bool
	// begun is true once the agent or the command was started, and may have had an effect.
	begun bool
	// agentGone is true when the agent has ended, stopped when it has to end. In both cases it takes no more messages.
	agentGone, stopped atomic.Bool
	// receivingNews is true while news of the run is passed on.
	receivingNews atomic.Bool

	// kill ends the context of the run with a cause. currentCtx ends when the task has gone on without this run;
	// endCurrent cancels it.
	kill       context.CancelCauseFunc
	currentCtx context.Context //nolint:containedctx // it lasts as long as the run
	endCurrent context.CancelFunc

	mu      sync.Mutex
	session fermata.Session
	// deadline is the deadline of the task's pending question, or nil if it is not known.
	deadline *time.Time
	// stopReason is the latest reason to stop that the server sent.
	stopReason fermata.StopReason
	// received holds the ids of the messages and answers that reached the worker. replyLost is true after the
	// reply of a heartbeat was lost, and perhaps messages with it. beatMu guards both.
	received  []string
	replyLost bool
	// sentDigest is the digest of the session that the server has. beatMu guards it.
	sentDigest string
	// failureCode is the code of a failure that the worker itself detected.
	failureCode string
	// next is the task that the server gave this worker with the end of the run, or nil.
	next *nextTask
}

// nextTask is a claimed task that has not begun.
type nextTask struct {
	claim *fermata.Claim
	// leasedAt is a moment before which the lease did not begin.
	leasedAt time.Time
}

// runTask runs a claimed task and reports the result. It returns when the agent has ended and the server has the result,
// or when the server does not need one. It returns the task to run next if the server gave one.
func (w *Worker) runTask(ctx context.Context, task *nextTask) *nextTask {
	claim := task.claim
	a := &activeRun{
		w: w, claim: claim, runner: w.runner(claim.Task), inbox: newInbox(),
		progress: make(chan fermata.Progress, 1), beatRequest: make(chan struct{}, 1),
		log: w.log.With("task", claim.Task.ID, "run", claim.Run.ID),
	}
	a.session = a.firstSession()
	if claim.Context != nil {
		a.received = claim.Context.IDs()
	}
	// The agent outlives ctx by the time it takes to stop, and so does the lease.
	life, kill := context.WithCancelCause(context.WithoutCancel(ctx))
	a.kill = kill
	a.currentCtx, a.endCurrent = context.WithCancel(context.WithoutCancel(ctx))
	defer a.endCurrent()
	if ctx.Err() != nil {
		a.stop(ErrStopping)
	}
	defer context.AfterFunc(ctx, func() { a.stop(ErrStopping) })()
	a.runLog = newRunLog(func(sendCtx context.Context, text string) error {
		_, err := w.server.AppendLog(sendCtx, claim.Run.ID, claim.Run.Token, text)
		if fermata.CodeOf(err) == fermata.CodeStaleRun {
			a.stopOvertaken(sendCtx)
		}
		return err
	})
	beatCtx, endBeats := context.WithCancel(context.WithoutCancel(ctx))
	var helpers sync.WaitGroup
	helpers.Go(func() { a.runHeartbeats(beatCtx, task.leasedAt) })
	helpers.Go(func() { a.sendProgress(beatCtx) })
	defer w.attention.add(a)()
	defer helpers.Wait()
	defer endBeats()
	defer kill(nil)

	a.log.Info("run a task", "title", claim.Task.Title, "attempt", claim.Run.Attempt)
	fin, err := a.execute(life)
	a.conclude(ctx, life, fin, err)
	return a.next
}

// execute prepares the working copy and runs the agent in it.
func (a *activeRun) execute(life context.Context) (fermata.Finish, error) {
	a.w.copies.cleanUpKilledWorkers(a.log)
	dir, err := a.w.copies.open(life, a.claim.Task, a.runLog)
	if cause := context.Cause(life); err != nil && cause != nil {
		return fermata.Finish{}, cause
	} else if err != nil {
		return fermata.Finish{}, fmt.Errorf("prepare the working copy: %w", err)
	}
	a.copy = dir
	a.setWorkDir(dir)
	ctx, cancel := life, context.CancelFunc(func() {})
	if d := a.limit(); d > 0 {
		ctx, cancel = context.WithTimeoutCause(life, d, a.newHalt(ErrTimeout))
	}
	defer cancel()
	if s := a.w.opts.Sandbox; s != nil {
		if ctx, err = dir.isolate(ctx, s); err != nil {
			return fermata.Finish{}, fmt.Errorf("prepare the sandbox: %w", err)
		}
	}
	if cause := context.Cause(life); cause != nil {
		return fermata.Finish{}, cause
	}
	a.begun = true
	fin, err := a.runner.Run(ctx, a.claim, handle{a})
	a.setEnded()
	if err != nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	return fin, err
}

func (a *activeRun) setEnded() {
	a.beatMu.Lock()
	defer a.beatMu.Unlock()
	a.ended = true
	a.agentGone.Store(true)
}

// toldIDs returns the ids of everything that the runner says it told the agent. The server hands the rest to the next
// run.
func (a *activeRun) toldIDs() *[]string {
	ids := a.inbox.toldIDs()
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return &ids
}

// conclude reports the end of the run in the way that its cause requires.
func (a *activeRun) conclude(ctx, life context.Context, fin fermata.Finish, err error) {
	defer a.copy.close()
	cause := context.Cause(life)
	switch {
	case errors.Is(cause, ErrStale), errors.Is(cause, ErrPaused):
		a.runLog.discard()
		a.log.Info("the task went on without this run; its working copy stays as it is")
		return
	case err == nil:
		a.finish(ctx, fin)
	case errors.Is(err, ErrStopping), errors.Is(err, ErrCutOff):
		if a.begun && a.isOneShot() {
			a.finish(ctx, a.failAfter(fin, codeInterrupted, "The command was interrupted: "+err.Error()+". It is not run again."))
			return
		}
		a.release(ctx, err)
	case errors.Is(err, ErrTimeout):
		stopped := a.failAfter(fin, codeTimeout, fmt.Sprintf("The run took longer than %s and was stopped.", a.limit()))
		stopped.Reason = fermata.ReasonRunTimeout
		a.finish(ctx, stopped)
	default:
		what := "The agent"
		if a.claim.Task.Runner == fermata.RunnerShell {
			what = "The command"
		}
		a.finish(ctx, a.fail(codeOf(err, codeNotStarted), what+" could not be run: "+err.Error()))
	}
}

// isOneShot reports whether the task is a command that must not be run a second time.
func (a *activeRun) isOneShot() bool {
	return a.claim.Task.Runner == fermata.RunnerShell && a.claim.Task.MaxAttempts == 1
}

// release hands the task back, so that any worker can continue it at once.
func (a *activeRun) release(ctx context.Context, why error) {
	a.logf("The run was stopped: %s. The working copy stays as it is.", why)
	sendCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.w.opts.Grace)
	defer cancel()
	a.runLog.close(sendCtx)
	retry := newBackOff()
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
		pause(sendCtx, retry)
	}
}

// logf adds a line of the worker itself to the log of the run.
func (a *activeRun) logf(format string, args ...any) { logLine(a.runLog, format, args...) }

// sendProgress sends the updates of the agent until ctx ends. If the server is slow, only the latest update is sent.
func (a *activeRun) sendProgress(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-a.progress:
			a.reportProgress(ctx, p)
		}
	}
}

// flushProgress sends the pending update. After the end of a run the server accepts no more updates.
func (a *activeRun) flushProgress(ctx context.Context) {
	select {
	case p := <-a.progress:
		a.reportProgress(ctx, p)
	default:
		a.reportMu.Lock()
		defer a.reportMu.Unlock()
	}
}

func (a *activeRun) reportProgress(ctx context.Context, p fermata.Progress) {
	a.reportMu.Lock()
	defer a.reportMu.Unlock()
	callCtx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	p.Token = a.claim.Run.Token
	if err := a.w.server.ReportRunProgress(callCtx, a.claim.Run.ID, p); err != nil && ctx.Err() == nil {
		a.log.Warn("report progress", "error", err)
	}
}
