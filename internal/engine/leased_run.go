package engine

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// ClaimWorkflow claims the next workflow run for an executor of workflows. If
// none is ready within wait, it returns [ErrNoTask].
func (e *Engine) ClaimWorkflow(ctx context.Context, workspace, process string, lease, wait time.Duration) (*fermata.Claim, error) {
	return e.claimNext(ctx, systemCaller(workspace), fermata.ClaimRequest{
		Worker: process, Runners: []string{fermata.RunnerWorkflow},
		LeaseSeconds: int(lease / time.Second), WaitSeconds: int(wait / time.Second),
	})
}

// systemCaller returns the server itself as a caller in a workspace.
func systemCaller(workspace string) fermata.Caller {
	return fermata.Caller{
		WorkspaceID: workspace, Kind: fermata.ActorSystem, Scopes: []fermata.Scope{fermata.ScopeWork, fermata.ScopeAsk},
	}
}

// LeasedRun is a task under the lease of one of the server's own runs, within
// one transaction. At most one of its methods that end the run may be called,
// and only once.
type LeasedRun struct {
	Tx   *store.Tx
	Task *fermata.Task
	Run  *fermata.Run
	e    *Engine
}

// WithLeasedRun calls fn to change a task under the lease of its run. It
// refuses with [fermata.CodeStaleRun] if the lease has ended. Changes of fn to
// the task are saved. fn may run again, so it must have no effect outside the
// process.
func (e *Engine) WithLeasedRun(ctx context.Context, workspace, runID string, token int64, fn func(h *LeasedRun) error) error {
	return e.writeAndClaim(ctx, workspace, func(tx *store.Tx) error {
		run, t, err := loadLeasedRun(tx, systemCaller(workspace), runID, token)
		if err != nil {
			return err
		}
		h := &LeasedRun{Tx: tx, Task: t, Run: run, e: e}
		if err := fn(h); err != nil {
			return err
		}
		tx.SaveTask(t)
		return nil
	}, store.ReadAhead{Run: runID})
}

// ExtendLease extends the lease to the given time from now.
func (h *LeasedRun) ExtendLease(lease time.Duration) {
	h.Run.Renew(lease, h.Tx.Now())
	h.Tx.SaveRun(h.Run)
}

// end records the result of the run.
func (h *LeasedRun) end(f fermata.Finish) {
	h.Task.Attempts = 0
	endRun(h.Tx, h.Task, h.Run, f, nil, fermata.SystemActor)
}

// forgetBlockers removes the tasks for which the task waited before.
func (h *LeasedRun) forgetBlockers() {
	if len(h.Task.BlockedBy) > 0 {
		h.Task.BlockedBy = nil
		h.Tx.SaveTaskEdit(h.Task)
	}
}

// Complete ends the task as done.
func (h *LeasedRun) Complete(f fermata.Finish) error {
	f.Result = fermata.ResultCompleted
	h.end(f)
	h.forgetBlockers()
	h.Tx.SaveRun(h.Run)
	return h.e.endTask(h.Tx, h.Task, fermata.TaskDone, "", fermata.SystemActor)
}

// Fail ends the task as failed, or as skipped, for the reason.
func (h *LeasedRun) Fail(to fermata.TaskState, reason string, f fermata.Finish) error {
	f.Result = fermata.ResultFailed
	h.end(f)
	h.forgetBlockers()
	h.Tx.SaveRun(h.Run)
	return h.e.endTask(h.Tx, h.Task, to, reason, fermata.SystemActor)
}

// Suspend opens a question and stops the task on it. The thresholds that are
// set in limits replace those of the policy. The policy may answer the question
// at once, or end the task because of low confidence: check the status of the
// question and the state of the task.
func (h *LeasedRun) Suspend(a fermata.Ask, limits fermata.Thresholds, by fermata.Actor) (*fermata.Question, error) {
	h.end(fermata.Finish{Result: fermata.ResultNeedsInput})
	h.forgetBlockers()
	policy, err := h.policy(limits)
	if err != nil {
		return nil, err
	}
	q, err := h.e.askUnderPolicy(h.Tx, h.Task, h.Run.ID, a, policy, by)
	if err != nil {
		return nil, err
	}
	h.Run.QuestionID = q.ID
	h.Tx.SaveRun(h.Run)
	if h.Task.State == fermata.TaskInProgress {
		return q, h.e.moveAfterRun(h.Tx, h.Task, q, by)
	}
	return q, nil
}

// SetAside stores a question whose asker is less sure than the threshold, and closes it at once, as the end of a
// skipped task does. The task itself continues. SetAside returns nil and stores nothing if people would be asked or the
// default would be taken.
func (h *LeasedRun) SetAside(a fermata.Ask, limits fermata.Thresholds, by fermata.Actor) (*fermata.Question, error) {
	policy, err := h.policy(limits)
	if err != nil {
		return nil, err
	}
	q, _, err := h.e.openQuestion(h.Tx, h.Task, h.Run.ID, a, policy, by)
	if err != nil {
		return nil, err
	}
	verdict, err := judgeConfidence(h.Tx, h.Task, q, policy)
	if err != nil || verdict != fermata.SkipForPerson {
		return nil, err
	}
	h.Tx.Append(askedEvent(h.Task, q, by))
	h.Tx.InsertQuestion(q)
	return q, closeQuestions(h.Tx, []string{q.ID}, fermata.PolicyActor, fermata.TaskSkipped, fermata.ReasonLowConfidence)
}

// SuspendAgain stops the task on the same question as before, which is still open. If
// there is something to hand over, the task is ready again at once.
func (h *LeasedRun) SuspendAgain() error {
	h.end(fermata.Finish{Result: fermata.ResultNeedsInput})
	h.forgetBlockers()
	h.Run.QuestionID = h.Task.PendingQuestionID
	h.Tx.SaveRun(h.Run)
	return h.e.moveAfterRun(h.Tx, h.Task, nil, fermata.SystemActor)
}

// AskNonBlocking asks a question that does not stop the task.
func (h *LeasedRun) AskNonBlocking(a fermata.Ask, by fermata.Actor) (*fermata.Question, error) {
	return h.e.ask(h.Tx, h.Task, h.Run.ID, a, by)
}

// CreateChild creates a child task of the task.
func (h *LeasedRun) CreateChild(n fermata.NewTask, by fermata.Actor) (*fermata.Task, error) {
	n.ParentID = h.Task.ID
	return h.e.createTask(h.Tx, n, by)
}

// CancelChildren ends children of the task and everything below them.
func (h *LeasedRun) CancelChildren(children []string, reason string) error {
	for _, child := range children {
		if err := h.e.CancelTaskInTx(h.Tx, child, reason, fermata.SystemActor); err != nil {
			return err
		}
	}
	return nil
}

// AskOnChild opens a question on a child that was just created. The thresholds that are set in limits replace those of
// the policy.
func (h *LeasedRun) AskOnChild(child *fermata.Task, a fermata.Ask, limits fermata.Thresholds, by fermata.Actor) (*fermata.Question, error) {
	policy, err := h.policy(limits)
	if err != nil {
		return nil, err
	}
	return h.e.askUnderPolicy(h.Tx, child, "", a, policy, by)
}

// policy returns the policy of the workspace with the thresholds that are set in limits.
func (h *LeasedRun) policy(limits fermata.Thresholds) (fermata.Policy, error) {
	policy, err := h.e.policy(h.Tx.Reader)
	return limits.ApplyTo(policy), err
}

// Block stops the task until one of its children has ended, but at most until an instant. A nil instant means no
// limit. Without children, it defers the task until the instant.
func (h *LeasedRun) Block(children []string, until *time.Time) error {
	if len(children) == 0 && until != nil {
		return h.Defer(*until)
	}
	h.end(fermata.Finish{Result: fermata.ResultBlocked})
	h.Tx.SaveRun(h.Run)
	h.Task.BlockedBy = nil
	if err := h.e.dependOn(h.Tx, h.Task, children); err != nil {
		return err
	}
	waits, err := h.e.isBlocked(h.Tx, h.Task, nil)
	if err != nil {
		return err
	}
	to := fermata.TaskBlocked
	if !waits {
		to = h.Task.ReadyState()
	}
	if err := moveTask(h.Tx, h.Task, to, fermata.SystemActor); err != nil {
		return err
	}
	if waits && until != nil {
		cut := fermata.TruncateTime(*until)
		h.Task.DeferUntil = &cut
	}
	return nil
}

// Defer stops the task until an instant.
func (h *LeasedRun) Defer(until time.Time) error {
	h.end(fermata.Finish{Result: fermata.ResultBlocked})
	h.forgetBlockers()
	h.Tx.SaveRun(h.Run)
	if err := moveTask(h.Tx, h.Task, fermata.TaskDeferred, fermata.SystemActor); err != nil {
		return err
	}
	cut := fermata.TruncateTime(until)
	h.Task.DeferUntil = &cut
	return nil
}

// CreateTaskInTx creates a task in the transaction of another package.
func (e *Engine) CreateTaskInTx(tx *store.Tx, n fermata.NewTask, by fermata.Actor) (*fermata.Task, error) {
	return e.createTask(tx, n, by)
}

// CancelTaskInTx ends a task and everything below it, in the transaction of another package. It does nothing if the
// task has ended.
func (e *Engine) CancelTaskInTx(tx *store.Tx, id, reason string, by fermata.Actor) error {
	t, err := tx.Task(id)
	if err != nil || t.State.IsEnded() {
		return err
	}
	return e.cancelTree(tx, t, reason, by)
}

// ReopenWith reopens an ended task. Before that, it calls change, which may
// prepare the task for the next run.
func (e *Engine) ReopenWith(ctx context.Context, c fermata.Caller, id string, change func(tx *store.Tx, t *fermata.Task) error) (*fermata.Task, error) {
	return e.changeTask(ctx, c, fermata.ToRetryWorkflow, id, func(tx *store.Tx, t *fermata.Task) error {
		if err := change(tx, t); err != nil {
			return err
		}
		return e.reopenTask(tx, t, c.Actor())
	})
}

// ReleaseWorkflow releases a claimed workflow run. It does not count as an attempt.
func (e *Engine) ReleaseWorkflow(ctx context.Context, claim *fermata.Claim) error {
	_, err := e.Release(ctx, systemCaller(claim.Task.WorkspaceID), claim.Run.ID, claim.Run.Token)
	return err
}
