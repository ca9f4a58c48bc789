//go:build !bug_end_over_unread

package fermata

// goesOnOverWords reports whether words of people that no run was handed keep the task
// from stopping with the result: its next run is handed them. A run that failed counts
// as an attempt, and the last attempt ends the task.
func (t *Task) goesOnOverWords(r Result) bool {
	return r != ResultFailed || t.Attempts+1 < t.MaxAttempts
}
