//go:build !bug_settle_closed

package fermata

// closed reports whether the question has its one end.
func (q *Question) closed() bool { return q.Status != Pending }
