package fermata

import (
	"fmt"
	"slices"
	"time"
)

// MaxAttentionRuns is the most runs that one attention request may name.
const MaxAttentionRuns = 1000

// AttentionRequest names the runs of a worker process that wait for news.
type AttentionRequest struct {
	Runs []AttentionRun `json:"runs" minItems:"1" maxItems:"1000"`
	// WaitSeconds is how long the call waits for the first news.
	WaitSeconds int `json:"wait_seconds,omitempty" minimum:"0" maximum:"60"`
}

// AttentionRun is one run that waits for news.
type AttentionRun struct {
	RunID string `json:"run_id" maxLength:"64"`
	// Token is the fencing token of the run.
	Token int64 `json:"token"`
	// Deadline is the deadline of the task's pending question, as far as the
	// worker knows it.
	Deadline *time.Time `json:"deadline,omitempty"`
	// Stop is the reason to stop that the worker knows already. This reason is not news.
	Stop StopReason `json:"stop,omitempty" enum:"cancelled,paused,lost,ended"`
	// StopsOnly is set if the agent currently cannot take messages. Then only a
	// reason to stop is news.
	StopsOnly bool `json:"stops_only,omitempty"`
}

// Attention lists the runs that have news.
type Attention struct {
	Runs []News `json:"runs"`
}

// StopReason is the reason why a run must stop.
type StopReason string

// Reasons to stop a run.
const (
	StopCancelled StopReason = "cancelled"
	StopPaused    StopReason = "paused"
	// StopLost means that the lease of the run ended, or that another run replaced it.
	StopLost StopReason = "lost"
	// StopEnded means that the task of the run ended in any other way.
	StopEnded StopReason = "ended"
)

// StopReasons lists every reason to stop.
var StopReasons = []StopReason{StopCancelled, StopPaused, StopLost, StopEnded}

// News is the information that a run should get at once.
type News struct {
	RunID string `json:"run_id"`
	// Stop is set if the run must stop, and gives the reason. The worker must end the agent.
	Stop StopReason `json:"stop,omitempty" enum:"cancelled,paused,lost,ended"`
	// Unread is the number of answers and messages that the next heartbeat hands over.
	Unread int `json:"unread,omitempty"`
	// Deadline is the deadline of the task's pending question, if the worker
	// knows none or a different one.
	Deadline *time.Time `json:"deadline,omitempty"`
}

// Check returns an error that lists every problem of the request.
func (r AttentionRequest) Check() error {
	var ps problems
	if n := len(r.Runs); n < 1 || n > MaxAttentionRuns {
		ps.add("runs", "has %d runs, must have between 1 and %d", n, MaxAttentionRuns)
	}
	for i, run := range r.Runs {
		ps.checkText(fmt.Sprintf("runs[%d].run_id", i), run.RunID, 1, 64)
		if run.Stop != "" && !slices.Contains(StopReasons, run.Stop) {
			ps.add(fmt.Sprintf("runs[%d].stop", i), "%q is no reason to stop", run.Stop)
		}
	}
	ps.checkRange("wait_seconds", r.WaitSeconds, 0, 60)
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// WatchedRun is a run together with the rows that decide its news.
type WatchedRun struct {
	Run  Run
	Task Task
	// Deadline is the deadline of the task's pending question. It is nil if there is none.
	Deadline *time.Time
}

// stopReason returns the reason why the run must stop, or an empty reason if it may
// go on. A run that reported a result or handed its task back has stopped by
// itself and needs no reason.
func (w *WatchedRun) stopReason(token int64, now time.Time) StopReason {
	r, t := &w.Run, &w.Task
	switch {
	case r.Token != token:
		return StopLost
	case r.State == RunRunning && t.RunID == r.ID && now.Before(r.LeaseUntil):
		return ""
	case r.State == RunReleased, r.State == RunFinished && r.Result != "":
		return ""
	case t.RunID == r.ID && t.State == TaskCancelled:
		return StopCancelled
	case t.RunID == r.ID && t.IsPaused():
		return StopPaused
	case t.RunID == r.ID && t.State.IsEnded():
		return StopEnded
	}
	return StopLost
}
