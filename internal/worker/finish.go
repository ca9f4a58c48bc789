package worker

import (
	"cmp"
	"context"
	secret "crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// finish brings the working copy in line with the result, and reports the result to the server. The working copy always
// matches what the server accepted. A completed run is committed before it is reported, and the commit is taken back if
// the report is refused. A failed run is rolled back only after the report was accepted.
func (a *activeRun) finish(ctx context.Context, fin fermata.Finish) {
	sendCtx, cancel := a.finalContext(ctx)
	defer cancel()
	fin = a.failIfTampered(sendCtx, a.fillResult(sendCtx, fin))
	published := true
	if fin.Result == fermata.ResultCompleted {
		fin, published = a.commitAndPush(sendCtx, fin)
	}
	if !published {
		// The server accepts the report of a lost run as long as no other run has begun. Then the task would be done
		// without the push.
		a.runLog.close(sendCtx)
		a.copy.uncommit(sendCtx, a.log)
		a.log.Warn("the run was over before its work was pushed; nothing is reported")
		return
	}
	session := a.currentSession(fin.Session)
	fin.Session, fin.Token = &session, a.claim.Run.Token
	if ctx.Err() == nil {
		next := a.w.request()
		fin.Claim = &next
	}
	a.runLog.close(sendCtx)
	a.flushProgress(sendCtx)
	fin, continues, err := a.report(sendCtx, fin)
	result := fin.Result
	switch {
	case err != nil:
		a.log.Warn("the result was not accepted; the working copy stays as it is", "result", result, "summary", reasonOf(fin), "code", fermata.CodeOf(err), "error", err)
		a.copy.uncommit(sendCtx, a.log)
	case continues && result == fermata.ResultCompleted:
		a.copy.keepCommits(sendCtx, a.log)
		a.log.Info("completed a task that goes on: a person wrote meanwhile")
	case continues && result == fermata.ResultFailed:
		code, reason := a.failureOf(fin)
		a.log.Warn("a run failed; its task goes on: a person wrote meanwhile", "code", code, "reason", reason)
	case continues:
		a.log.Info("a task goes on: a person wrote meanwhile", "result", result)
	case result == fermata.ResultCompleted:
		a.log.Info("completed a task")
		a.copy.removeAfterSuccess(sendCtx, a.log)
	case result == fermata.ResultFailed:
		a.copy.rollBack(sendCtx, a.log)
		code, reason := a.failureOf(fin)
		a.log.Warn("a run failed", "code", code, "reason", reason)
	default:
		a.log.Info("a task stopped", "result", result)
	}
}

// commitAndPush commits the changes of a completed run, and pushes them if the task says so. If that fails, the changes
// stay in the working copy. It returns false if the task went on without this run before the push had ended.
func (a *activeRun) commitAndPush(ctx context.Context, fin fermata.Finish) (fermata.Finish, bool) {
	if err := a.copy.commit(ctx, a.claim.Task, a.runLog); err != nil {
		a.copy.keepAsIs = true
		return a.failAfter(fin, codeCommitFailed, "The work is done, but could not be committed: "+err.Error()), true
	}
	ctx, cancel := a.contextUntilOver(ctx)
	defer cancel()
	err := a.copy.pushBranch(ctx, a.runLog)
	if err != nil && a.isOver() {
		return fin, false
	}
	if err != nil {
		a.copy.keepAsIs = true
		return a.failAfter(fin, codePushFailed, "The work is done, but could not be pushed: "+err.Error()), true
	}
	return fin, true
}

// finalContext returns a context for the last calls of a run. It lasts as long as the worker's own, plus the grace.
func (a *activeRun) finalContext(ctx context.Context) (context.Context, context.CancelFunc) {
	sendCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		a.sleep(sendCtx, a.w.opts.Grace)
		cancel()
	})
	return sendCtx, func() { stop(); cancel() }
}

// fillResult fills in the result of an agent that ended well without reporting one. If the agent asked a question by
// the API, the run waits for it; otherwise it is completed.
func (a *activeRun) fillResult(ctx context.Context, fin fermata.Finish) fermata.Finish {
	if fin.Result != "" {
		return fin
	}
	fin.Result = fermata.ResultCompleted
	callCtx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	t, err := a.w.server.Task(callCtx, a.claim.Task.ID)
	if err != nil {
		a.log.Warn("look for a pending question", "error", err)
	} else if t.PendingQuestionID != "" {
		fin.Result = fermata.ResultNeedsInput
	}
	return fin
}

// report sends the result until the server accepts it, the task has gone on without this run, or the server refuses
// this worker. If the server rejects the result as invalid, the worker reports a failure that gives the reason, so that
// the task never hangs. If the reply is lost, the same report is repeated with the same key: the server may have accepted
// it, and given this worker the next task. report returns the last report that was sent, and whether the task goes on
// because the agent was not told everything.
func (a *activeRun) report(ctx context.Context, fin fermata.Finish) (sent fermata.Finish, continues bool, err error) {
	retry, key := newBackOff(), secret.Text()
	// The agent has ended, so it is told nothing more.
	fin.Heard = a.toldIDs()
	for {
		began := a.w.now()
		reply, err := a.w.server.Finish(client.WithIdempotencyKey(ctx, key), a.claim.Run.ID, fin)
		code := fermata.CodeOf(err)
		if isContentRefusal(code) {
			key = secret.Text()
		}
		switch {
		case err == nil:
			if reply.Next != nil {
				a.next = &nextTask{reply.Next, began}
			}
			return fin, reply.State == fermata.TaskInputReceived, nil
		case isStale(err) || ctx.Err() != nil, isWorkerRefusal(code):
			return fin, false, err
		case code == fermata.CodePendingQuestionExists:
			a.copy.uncommit(ctx, a.log)
			if fin.Question != nil {
				a.logDroppedQuestion(fin.Question, err)
			}
			fin.Result, fin.Question, fin.BlockedBy = fermata.ResultNeedsInput, nil, nil
			pause(ctx, retry)
		case isContentRefusal(code) && fin.Claim != nil:
			fin.Claim = nil // a server of an older version does not know the field
		case isContentRefusal(code) && fin.Result != fermata.ResultFailed:
			a.copy.uncommit(ctx, a.log)
			a.copy.keepAsIs = true
			fin = a.refusalFailure(fin, err)
		case isContentRefusal(code) && fin.Reason != "":
			fin.Reason = "" // a server of an older version does not know the field
		case isContentRefusal(code):
			fin = fermata.Finish{Result: fin.Result, Summary: fermata.Truncate(fin.Summary, maxSummary), Token: fin.Token}
			pause(ctx, retry)
		default:
			a.log.Warn("report the result", "error", err)
			pause(ctx, retry)
		}
	}
}

// logDroppedQuestion logs that the question of a report is not asked, because the task already waits for an answer.
func (a *activeRun) logDroppedQuestion(q *fermata.Ask, why error) {
	asked := fermata.Truncate(cmp.Or(q.Title, q.Question), 200)
	a.log.Warn("the question of the result is not asked", "question", asked, "error", why)
	fmt.Fprintf(a.runLog, "fermata: the question of the result (%s) is not asked: %s\n", asked, describe(why))
}

// isWorkerRefusal reports whether the server accepts no report from this worker.
func isWorkerRefusal(code fermata.Code) bool {
	return code == fermata.CodeUnauthenticated || code == fermata.CodeForbidden
}

// isContentRefusal reports whether the server rejects the report itself. A temporary error does not count.
func isContentRefusal(code fermata.Code) bool {
	switch code {
	case fermata.CodeUnavailable, fermata.CodeInternal, fermata.CodeRateLimited:
		return false
	default:
		return true
	}
}

// refusalFailure returns the failure that replaces a report that the server refused. The work may be good, so the
// working copy is kept.
func (a *activeRun) refusalFailure(fin fermata.Finish, err error) fermata.Finish {
	f := a.fail(codeOf(err, codeAgentFailed), "The agent reported "+string(fin.Result)+", and the server refused the report: "+describe(err))
	f.Token, f.Session = fin.Token, fin.Session
	return f
}

// describe returns the text of an error with every problem that it lists.
func describe(err error) string {
	e, ok := errors.AsType[*fermata.Error](err)
	if !ok || len(e.Problems) == 0 {
		return err.Error()
	}
	lines := make([]string, 0, len(e.Problems))
	for _, p := range e.Problems {
		lines = append(lines, strings.TrimPrefix(p.Field+": "+p.Message, ": "))
	}
	return strings.Join(lines, "; ")
}
