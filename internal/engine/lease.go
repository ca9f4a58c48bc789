package engine

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// loadLeasedRun loads a run and its task. It refuses a caller that does not hold the run's lease.
func loadLeasedRun(tx *store.Tx, c fermata.Caller, runID string, token int64) (*fermata.Run, *fermata.Task, error) {
	run, err := tx.Run(runID)
	if err != nil {
		return nil, nil, err
	}
	t, err := tx.Task(run.TaskID)
	if err != nil {
		return nil, nil, err
	}
	if !c.VisibleProjects().Has(t.Project) {
		return nil, nil, fermata.NotFound("run", runID)
	}
	if err := c.CheckPermission(fermata.ToHoldRun, fermata.InProject(t.Project)); err != nil {
		return nil, nil, err
	}
	return run, t, run.CheckHolder(t, token, tx.Now())
}

// Heartbeat extends the lease of a run. The reply contains messages and answers that came for the task since the last
// contact.
func (e *Engine) Heartbeat(ctx context.Context, c fermata.Caller, runID string, h fermata.Heartbeat) (*fermata.HeartbeatReply, error) {
	if err := c.CheckPermission(fermata.ToHoldRun, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	return write(ctx, e, c, fermata.ToHoldRun, func(tx *store.Tx) (*fermata.HeartbeatReply, error) {
		run, t, err := loadLeasedRun(tx, c, runID, h.Token)
		if err != nil {
			return nil, err
		}
		run.Renew(fermata.ClaimRequest{LeaseSeconds: h.LeaseSeconds}.Lease(), tx.Now())
		reply := &fermata.HeartbeatReply{LeaseUntil: run.LeaseUntil}
		if _, err := takeBackUnheard(tx, t, run, h.Received); err != nil {
			return nil, err
		}
		if t.Unread == 0 && h.Session == nil {
			tx.SaveRun(run)
			return reply, nil
		}
		if h.Session != nil {
			t.Session = h.Session
		}
		h, err := loadRunHandOver(tx, t, run)
		if err != nil {
			return nil, err
		}
		h.save(tx, t)
		if rc := h.context; !rc.IsEmpty() {
			reply.Context = rc
			run.HandedCount += rc.Size()
			appendMessagesHanded(tx, run, rc, c.Actor())
		}
		tx.SaveRun(run)
		tx.SaveTask(t)
		return reply, nil
	}, store.ReadAhead{Run: runID})
}

// loadRunHandOver loads what the run under way is handed.
func loadRunHandOver(tx *store.Tx, t *fermata.Task, run *fermata.Run) (*handOver, error) {
	var questions []*fermata.Question
	var messages []*fermata.Message
	if t.Unread > 0 {
		var err error
		if questions, messages, err = tx.PendingHandOver(t.ID); err != nil {
			return nil, err
		}
	}
	return newHandOver(tx, t, run.ID, run.LastRun(), questions, messages)
}

// Release ends a run without a result, and makes its task ready for another
// run. The run does not count as an attempt. A worker that stops calls it, so
// that other workers need not wait for the lease to end. If the run asked a
// question that is still open and there is nothing to hand over, the task waits
// for that question.
func (e *Engine) Release(ctx context.Context, c fermata.Caller, runID string, token int64) (*fermata.Task, error) {
	if err := c.CheckPermission(fermata.ToHoldRun, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	return write(ctx, e, c, fermata.ToHoldRun, func(tx *store.Tx) (*fermata.Task, error) {
		run, t, err := loadLeasedRun(tx, c, runID, token)
		if err != nil {
			return nil, err
		}
		return t, e.handBack(tx, t, run, fermata.RunReleased)
	}, store.ReadAhead{Run: runID})
}

// outageOf returns the summary of a run that ends without a result: why its worker and the server could not reach each
// other, or "" if they could.
func (e *Engine) outageOf(run *fermata.Run, endState fermata.RunState, now time.Time) string {
	switch {
	case endState == fermata.RunLost && run.LeaseUntil.UnixMilli() < e.startedAt.Load():
		return fermata.ServerWasAway
	case endState == fermata.RunReleased && run.WasCutOff(now):
		return fermata.ServerWasUnreachable
	default:
		return ""
	}
}

// handedBackData is the data of the events run.lost and run.released. Summary says why the run has no result, where more is
// known than that.
type handedBackData struct {
	Attempts int    `json:"attempts"`
	Summary  string `json:"summary,omitempty"`
}

// handBack ends a run that has no result. What the run was handed is handed to
// the next run again.
func (e *Engine) handBack(tx *store.Tx, t *fermata.Task, run *fermata.Run, endState fermata.RunState) error {
	now := tx.Now()
	run.Summary = e.outageOf(run, endState, now)
	run.State, run.EndedAt = endState, &now
	tx.SaveRun(run)
	tx.TakeBackHandOver(t.ID, run.ID)
	typ := fermata.EventRunReleased
	if endState == fermata.RunLost {
		typ = fermata.EventRunLost
		t.Attempts++
		e.markWorkerLost(tx, run)
	}
	tx.Append(&fermata.Event{Type: typ, TaskID: t.ID, RunID: run.ID, Actor: fermata.SystemActor, Data: encodeData(handedBackData{t.Attempts, run.Summary})})
	if t.Attempts >= t.MaxAttempts {
		return e.endTask(tx, t, fermata.TaskFailed, fermata.ReasonAttemptsUsedUp, fermata.SystemActor)
	}
	if err := countUnread(tx, t); err != nil {
		return err
	}
	if run.ClaimedFrom == fermata.TaskInputReceived {
		t.Unread = max(t.Unread, 1)
	}
	return e.moveAfterRun(tx, t, nil, fermata.SystemActor)
}
