//go:build !bug_end_over_unread

package fermata

// mayContinueAfter reports whether the task goes on despite the result, because people wrote messages that no run was
// handed. The next run then gets them. A failed run counts as an attempt, and the last attempt ends the task.
func (t *Task) mayContinueAfter(r Result) bool {
	return r != ResultFailed || t.Attempts+1 < t.MaxAttempts
}
