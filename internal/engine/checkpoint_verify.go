package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// CheckWitnesses returns an error if the newest event that a witness vouches for is missing or different in the
// database, or if a witness cannot be read.
func (e *Engine) CheckWitnesses(ctx context.Context) error {
	for _, w := range e.readableWitnesses() {
		kept, err := w.Checkpoints(ctx)
		if err != nil {
			return fermata.Errorf(fermata.CodeUnavailable, "the witness %s cannot be read: %w", w.Name(), err).
				WithHint("repair it, or start without it: then nothing vouches for the audit chain outside the database")
		}
		newest := map[string]fermata.SignedCheckpoint{}
		for _, c := range kept {
			if c.Seq >= newest[c.Workspace].Seq {
				newest[c.Workspace] = c
			}
		}
		for workspace, c := range newest {
			if found, err := e.compare(e.db.Reader(ctx, workspace), c); err != nil {
				return err
			} else if found.problem != "" {
				return fermata.Errorf(fermata.CodeUnavailable, "the database is not the one that the witness %s knows: %s", w.Name(), found.problem).
					WithHint("look for the newer or unchanged database; to go on with this one, keep the witness as evidence and name a new one")
			}
		}
	}
	return nil
}

// verifyWitnesses compares a chain with every checkpoint that a witness keeps of it.
func (e *Engine) verifyWitnesses(ctx context.Context, r store.Reader, report *AuditReport) error {
	for _, w := range e.readableWitnesses() {
		kept, err := w.Checkpoints(ctx)
		if err != nil {
			report.Problem = fmt.Sprintf("the witness %s cannot be read: %v", w.Name(), err)
			return nil // an unavailable witness is a finding of the audit, and no failure of the call
		}
		for _, c := range kept {
			if c.Workspace != r.Workspace() {
				continue
			}
			found, err := e.compare(r, c)
			if err != nil {
				return err
			}
			if found.problem != "" {
				report.Problem = fmt.Sprintf("the witness %s contradicts the database: %s", w.Name(), found.problem)
				return nil
			}
			if !found.isRemoved {
				report.Witnessed++
			}
		}
	}
	return nil
}

// comparison is how a chain compares with a signed checkpoint.
type comparison struct {
	// problem says how they differ; it is empty if they do not.
	problem string
	// isRemoved reports that retention removed the event of the checkpoint, so that it cannot be compared.
	isRemoved bool
}

// compare compares a chain with a signed checkpoint.
func (e *Engine) compare(r store.Reader, c fermata.SignedCheckpoint) (comparison, error) {
	if err := e.opts.Signer.Verify(c); err != nil {
		return comparison{problem: err.Error()}, nil //nolint:nilerr // the caller reports the text
	}
	events, err := r.Events(store.EventFilter{After: c.Seq - 1, Before: c.Seq + 1, Limit: 1})
	switch {
	case err != nil:
		return comparison{}, err
	case len(events) == 0:
		return e.compareTrimmed(r, c)
	case events[0].Hash != c.Hash:
		return differs(c), nil
	}
	return comparison{}, nil
}

// compareTrimmed compares a checkpoint, whose event the chain lacks, with the trimmed ranges.
func (e *Engine) compareTrimmed(r store.Reader, c fermata.SignedCheckpoint) (comparison, error) {
	trimmed, ok, err := r.TrimmedRangeOf(c.Seq)
	switch {
	case err != nil:
		return comparison{}, err
	case !ok:
		return comparison{problem: fmt.Sprintf("it lacks event %d of the workspace %s, which was signed at %s", c.Seq, c.Workspace, c.At.UTC().Format(time.RFC3339))}, nil
	}
	if err := e.opts.Signer.VerifyRange(trimmed); err != nil {
		return comparison{problem: err.Error()}, nil //nolint:nilerr // the caller reports the text
	}
	if trimmed.Last == c.Seq && trimmed.Hash != c.Hash {
		return differs(c), nil
	}
	return comparison{isRemoved: trimmed.Last != c.Seq}, nil
}

func differs(c fermata.SignedCheckpoint) comparison {
	return comparison{problem: fmt.Sprintf("its event %d of the workspace %s is not the one that was signed at %s", c.Seq, c.Workspace, c.At.UTC().Format(time.RFC3339))}
}

// verifyCheckpoint checks a checkpoint that is itself an event of the chain.
func (e *Engine) verifyCheckpoint(r store.Reader, event *fermata.Event, report *AuditReport) error {
	c, err := checkpointOf(event)
	if err != nil {
		report.Problem = err.Error()
		return nil //nolint:nilerr // the report holds the problem
	}
	if c.Workspace != r.Workspace() || c.Seq >= event.Seq {
		report.Problem = fmt.Sprintf("event %d holds a checkpoint of something else", event.Seq)
		return nil
	}
	found, err := e.compare(r, c)
	if found.problem != "" {
		report.Problem = fmt.Sprintf("the checkpoint in event %d contradicts the chain: %s", event.Seq, found.problem)
	}
	report.Checkpoints++
	report.SignedTo = c.Seq
	return err
}
