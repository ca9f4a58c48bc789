//go:build !bug_pause_goes_on

package fermata

// IsPaused reports whether a person paused the task. A paused task waits until
// a person resumes it.
func (t *Task) IsPaused() bool { return t.State == TaskDeferred && t.Reason == ReasonPaused }
