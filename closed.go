//go:build !bug_settle_closed

package fermata

// isClosed reports whether the question has its one resolution.
func (q *Question) isClosed() bool { return q.Status != Pending }
