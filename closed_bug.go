//go:build bug_settle_closed

package fermata

// isClosed is wrong on purpose: the race suite must find that a question then
// has two resolutions.
func (q *Question) isClosed() bool { return false }
