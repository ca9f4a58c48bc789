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
			if problem, err := e.contradiction(e.db.Reader(ctx, workspace), c); err != nil {
				return err
			} else if problem != "" {
				return fermata.Errorf(fermata.CodeUnavailable, "the database is not the one that the witness %s knows: %s", w.Name(), problem).
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
			problem, err := e.contradiction(r, c)
			if err != nil {
				return err
			}
			if problem != "" {
				report.Problem = fmt.Sprintf("the witness %s contradicts the database: %s", w.Name(), problem)
				return nil
			}
			report.Witnessed++
		}
	}
	return nil
}

// contradiction returns a text that says how a chain differs from a signed checkpoint, or "" if they agree.
func (e *Engine) contradiction(r store.Reader, c fermata.SignedCheckpoint) (string, error) {
	if err := e.opts.Signer.Verify(c); err != nil {
		return err.Error(), nil //nolint:nilerr // the caller reports the text
	}
	events, err := r.Events(store.EventFilter{After: c.Seq - 1, Before: c.Seq + 1, Limit: 1})
	switch {
	case err != nil:
		return "", err
	case len(events) == 0:
		return fmt.Sprintf("it lacks event %d of the workspace %s, which was signed at %s", c.Seq, c.Workspace, c.At.UTC().Format(time.RFC3339)), nil
	case events[0].Hash != c.Hash:
		return fmt.Sprintf("its event %d of the workspace %s is not the one that was signed at %s", c.Seq, c.Workspace, c.At.UTC().Format(time.RFC3339)), nil
	}
	return "", nil
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
	problem, err := e.contradiction(r, c)
	if problem != "" {
		report.Problem = fmt.Sprintf("the checkpoint in event %d contradicts the chain: %s", event.Seq, problem)
	}
	report.Checkpoints++
	report.SignedTo = c.Seq
	return err
}
