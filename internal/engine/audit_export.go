package engine

import (
	"context"
	"errors"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// exportPage is how many events an export reads at once.
const exportPage = 1000

// errMissing is returned when the log has a gap in the numbers of its events.
var errMissing = errors.New("events are missing: verify the audit")

// ExportRange is the range of events to export: from one instant until before
// another. Nil means the first event or the last.
type ExportRange struct{ From, To *time.Time }

// ExportLine is a line of an export: an event, or a trimmed range, whose kept events follow it.
type ExportLine struct {
	*fermata.Event
	TrimmedRange *fermata.SignedTrimmedRange
}

// ExportAudit passes the lines of an export to emit in the order of the chain,
// in parts and without a gap, so that the receiver can verify them. An export
// that begins or ends within a trimmed range contains the whole range.
func (e *Engine) ExportAudit(ctx context.Context, c fermata.Caller, exportRange ExportRange, emit func([]ExportLine) error) error {
	if err := c.CheckPermission(fermata.ToReadAudit, fermata.InEveryProject); err != nil {
		return err
	}
	r := e.listReader(ctx, c)
	before, err := lastRemoval(r)
	if err != nil {
		return err
	}
	first, end, err := exportBounds(r, exportRange)
	if err != nil {
		return err
	}
	ranges := trimmedRanges{last: first - 1}
	for first < end {
		events, err := r.Events(store.EventFilter{After: first - 1, Before: end, Limit: exportPage})
		if err != nil {
			return err
		}
		lines, err := exportLines(r, &ranges, events, end)
		if err != nil {
			return err
		}
		if len(lines) == 0 {
			return fermata.Internal("export the audit", errMissing)
		}
		if err := emit(lines); err != nil {
			return err
		}
		first = ranges.last + 1
		if n := len(events); n > 0 {
			first = events[n-1].Seq + 1
		}
	}
	after, err := lastRemoval(r)
	if err == nil && after != before {
		err = fermata.Errorf(fermata.CodeUnavailable, "events were removed meanwhile").WithHint("export again")
	}
	return err
}

// exportBounds returns the number of the first event of an export, and the number before which it ends.
func exportBounds(r store.Reader, exportRange ExportRange) (first, end int64, err error) {
	head, err := r.Head()
	if err != nil {
		return 0, 0, err
	}
	first, end = 1, head.Seq+1
	if exportRange.From != nil {
		if first, err = r.SeqAt(*exportRange.From); err != nil {
			return 0, 0, err
		}
	}
	if exportRange.To != nil {
		if end, err = r.SeqAt(*exportRange.To); err != nil {
			return 0, 0, err
		}
	}
	if first >= end {
		return first, end, nil
	}
	if trimmed, ok, err := r.TrimmedRangeOf(first); err != nil {
		return 0, 0, err
	} else if ok {
		first = trimmed.First
	}
	if trimmed, ok, err := r.TrimmedRangeOf(end - 1); err != nil {
		return 0, 0, err
	} else if ok {
		end = trimmed.Last + 1
	}
	return first, end, nil
}

// exportLines returns the lines of some events, with the trimmed ranges that begin at or before them. Without events it
// returns the ranges up to the end.
func exportLines(r store.Reader, ranges *trimmedRanges, events []*fermata.Event, end int64) ([]ExportLine, error) {
	var lines []ExportLine
	addRanges := func(seq int64) error {
		for {
			signed, ok, err := ranges.take(r, seq)
			if err != nil || !ok {
				return err
			}
			lines = append(lines, ExportLine{TrimmedRange: &signed})
		}
	}
	for _, e := range events {
		if err := addRanges(e.Seq); err != nil {
			return nil, err
		}
		lines = append(lines, ExportLine{Event: e})
	}
	if len(events) == 0 {
		return lines, addRanges(end - 1)
	}
	return lines, nil
}

// lastRemoval returns the number of the last event that reports a removal, or 0.
func lastRemoval(r store.Reader) (int64, error) {
	last, err := newestEvent(r, fermata.EventRetentionApplied)
	if err != nil || last == nil {
		return 0, err
	}
	return last.Seq, nil
}

// newestEvent returns the newest event of a type, or nil if there is none.
func newestEvent(r store.Reader, typ fermata.EventType) (*fermata.Event, error) {
	events, err := r.Events(store.EventFilter{Types: []string{string(typ)}, Newest: true, Limit: 1})
	if err != nil || len(events) == 0 {
		return nil, err
	}
	return events[0], nil
}

// TrimmedRanges lists the ranges of the chain from which events were removed, in the order of the chain.
func (e *Engine) TrimmedRanges(ctx context.Context, c fermata.Caller, after int64) ([]fermata.SignedTrimmedRange, error) {
	if err := c.CheckPermission(fermata.ToReadAudit, fermata.InEveryProject); err != nil {
		return nil, err
	}
	return e.listReader(ctx, c).TrimmedRanges(after, rangePage)
}
