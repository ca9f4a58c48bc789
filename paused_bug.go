//go:build bug_pause_goes_on

package fermata

// IsPaused is wrong on purpose: the test suites must find that a paused task
// then goes on with the next message.
func (t *Task) IsPaused() bool { return false }
