//go:build !bug_pause_goes_on

package fermata

// IsPaused reports whether a person halted the task: it waits until somebody
// resumes it.
func (t *Task) IsPaused() bool { return t.State == TaskDeferred && t.Reason == ReasonPaused }
