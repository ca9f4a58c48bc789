//go:build bug_pause_goes_on

package fermata

// Paused is wrong on purpose: the suites must find that a paused task then goes
// on with the next message.
func (t *Task) Paused() bool { return false }
