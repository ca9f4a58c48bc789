package fermata

import (
	"fmt"
	"slices"
	"time"
)

// MaxAttentionRuns bounds the runs of one call for attention.
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
	// Deadline is that of the task's pending question, as the worker knows it.
	Deadline *time.Time `json:"deadline,omitempty"`
	// Stop is the reason to stop that the worker follows already. It is no news.
	Stop StopReason `json:"stop,omitempty" enum:"cancelled,paused,lost,ended"`
	// StopsOnly is for an agent that takes no words now: only a reason to stop is news.
	StopsOnly bool `json:"stops_only,omitempty"`
}

// Attention lists the runs that have news.
type Attention struct {
	Runs []News `json:"runs"`
}

// StopReason says why a run has to stop.
type StopReason string

// Reasons to stop a run.
const (
	StopCancelled StopReason = "cancelled"
	StopPaused    StopReason = "paused"
	// StopLost is a run whose lease ended, or that another run followed.
	StopLost StopReason = "lost"
	// StopEnded is a run whose task ended in any other way.
	StopEnded StopReason = "ended"
)

// StopReasons lists every reason.
var StopReasons = []StopReason{StopCancelled, StopPaused, StopLost, StopEnded}

// News is what a run should know at once.
type News struct {
	RunID string `json:"run_id"`
	// Stop says that the run is over, and why: its agent must be ended.
	Stop StopReason `json:"stop,omitempty" enum:"cancelled,paused,lost,ended"`
	// Unread counts the answers and messages that a heartbeat hands over.
	Unread int `json:"unread,omitempty"`
	// Deadline is that of the task's pending question, where the worker knows
	// another one or none.
	Deadline *time.Time `json:"deadline,omitempty"`
}

// Check reports what is wrong with the request.
func (r AttentionRequest) Check() error {
	var ps problems
	if n := len(r.Runs); n < 1 || n > MaxAttentionRuns {
		ps.add("runs", "has %d runs, must have between 1 and %d", n, MaxAttentionRuns)
	}
	for i, run := range r.Runs {
		ps.text(fmt.Sprintf("runs[%d].run_id", i), run.RunID, 1, 64)
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

// Watched is a run as somebody who waits for its news sees it.
type Watched struct {
	Run  Run
	Task Task
	// Deadline is that of the task's pending question; nil is none.
	Deadline *time.Time
}

// stop says why the run has to stop; empty is not at all. A run that reported a
// result, or that handed its task back, has stopped by itself.
func (w *Watched) stop(token int64, now time.Time) StopReason {
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
