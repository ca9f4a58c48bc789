//go:build bug_gate_after_end

package fermata

import "time"

// HaltReason is wrong on purpose: the test suites must find that an agent then acts
// after the end of its task.
func (t *Task) HaltReason(string, *Run, time.Time) string { return "" }
