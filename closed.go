//go:build !bug_settle_closed

package fermata

// isClosed reports whether the question has its one resolution.
func (q *Question) isClosed() bool { return q.Status != Pending }

// decider returns the actor that decided, with a name if it is known.
func (r *Resolution) decider() Actor {
	if r.AnsweredBy != nil {
		return *r.AnsweredBy
	}
	return Actor{Kind: r.DecidedBy}
}
