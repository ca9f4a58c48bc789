//go:build !bug_gate_after_end

package fermata

import "time"

// HaltReason returns the reason why nothing may run for the task, or "" if the task may go on. The argument runID is
// the run that the caller named, or empty. The argument run is that run, or the task's last run if the caller named
// none. The argument run may be nil.
func (t *Task) HaltReason(runID string, run *Run, now time.Time) string {
	switch {
	case t.State.IsEnded():
		return "the task is " + string(t.State)
	case t.IsPaused():
		return "the task is paused, and a person resumes it"
	case run == nil && runID == "":
		return ""
	case run == nil || t.RunID != run.ID:
		// The error does not disclose whether another task has such a run.
		return "run " + runID + " is not the task's run, or not any more"
	case run.State == RunLost || run.State == RunRunning && !now.Before(run.LeaseUntil):
		return "the lease of run " + run.ID + " ended at " + formatInstant(run.LeaseUntil)
	case run.State != RunRunning && runID != "":
		return "run " + run.ID + " is " + string(run.State)
	}
	return ""
}
