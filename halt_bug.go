//go:build bug_gate_after_end

package fermata

import "time"

// Halt is wrong on purpose: the test suites must find that an agent then acts
// after the end of its task.
func (t *Task) Halt(string, *Run, time.Time) string { return "" }
