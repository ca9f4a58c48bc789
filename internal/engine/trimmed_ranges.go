package engine

import (
	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// trimmedRanges reads the trimmed ranges of a workspace in the order of the chain.
type trimmedRanges struct {
	next []fermata.SignedTrimmedRange
	// last is the number of the last event of the ranges that were read.
	last int64
	// isRead reports whether all ranges were read.
	isRead bool
}

// rangePage is how many trimmed ranges are read at once.
const rangePage = 100

// take returns the next range if it begins at the event or before it.
func (t *trimmedRanges) take(r store.Reader, seq int64) (found fermata.SignedTrimmedRange, ok bool, err error) {
	if len(t.next) == 0 && !t.isRead {
		if t.next, err = r.TrimmedRanges(t.last, rangePage); err != nil {
			return found, false, err
		}
		if t.isRead = len(t.next) < rangePage; len(t.next) > 0 {
			t.last = t.next[len(t.next)-1].Last
		}
	}
	if len(t.next) == 0 || t.next[0].First > seq {
		return found, false, nil
	}
	found, t.next = t.next[0], t.next[1:]
	return found, true, nil
}

// enterRanges continues the chain with the trimmed ranges that begin at the event or before it.
func (v *verification) enterRanges(seq int64) error {
	for {
		signed, ok, err := v.ranges.take(v.r, seq)
		if err != nil || !ok {
			return err
		}
		if v.e.opts.Signer != nil {
			if err := v.e.opts.Signer.VerifyRange(signed); err != nil {
				return v.reportProblem("%s", err)
			}
		}
		if signed.Workspace != v.r.Workspace() {
			return v.reportProblem("the trimmed range from event %d on is of another workspace", signed.First)
		}
		if err := v.chain.EnterRange(signed.TrimmedRange); err != nil {
			return v.reportProblem("%s", err)
		}
		v.report.Removed += signed.Removed()
	}
}
