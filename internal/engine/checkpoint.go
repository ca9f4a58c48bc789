package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// Signer signs checkpoints and receipts with a key that is not stored in the database.
type Signer interface {
	Sign(c fermata.Checkpoint) (fermata.SignedCheckpoint, error)
	SignReceipt(r fermata.DecisionReceipt) (fermata.SignedReceipt, error)
	// Verify verifies the signature of a checkpoint.
	Verify(c fermata.SignedCheckpoint) error
	SignRange(r fermata.TrimmedRange) (fermata.SignedTrimmedRange, error)
	// VerifyRange verifies the signature of a trimmed range.
	VerifyRange(r fermata.SignedTrimmedRange) error
	PublicKey() string
}

// Witness keeps signed checkpoints outside the database.
type Witness interface {
	// Name returns where the witness keeps its checkpoints.
	Name() string
	// Keep stores a checkpoint and returns when it is durable. It is called often with the same checkpoint, which
	// must then cost nothing.
	Keep(ctx context.Context, c fermata.SignedCheckpoint) error
}

// ReadableWitness is a witness that the server can compare its database with.
type ReadableWitness interface {
	Witness
	// Checkpoints returns every checkpoint that the witness has.
	Checkpoints(ctx context.Context) ([]fermata.SignedCheckpoint, error)
}

// readableWitnesses returns the witnesses that the server can read.
func (e *Engine) readableWitnesses() (all []ReadableWitness) {
	for _, w := range e.opts.Witnesses {
		if r, ok := w.(ReadableWitness); ok {
			all = append(all, r)
		}
	}
	return all
}

// checkpointPollInterval is how often a process checks whether a checkpoint is due.
const checkpointPollInterval = 2 * time.Second

// checkpointer signs the ends of chains and gives them to the witnesses.
type checkpointer struct {
	e *Engine
	// newest are the newest checkpoints, by workspace.
	newest map[string]lastCheckpoint
}

// lastCheckpoint is the newest checkpoint of a workspace and the number of its own event.
type lastCheckpoint struct {
	fermata.SignedCheckpoint
	event int64
}

// RunCheckpoints signs the end of every chain when a checkpoint is due and gives it to the witnesses, until ctx ends.
func (e *Engine) RunCheckpoints(ctx context.Context) {
	if e.opts.Signer == nil {
		return
	}
	tick := time.NewTicker(checkpointPollInterval)
	defer tick.Stop()
	c := newCheckpointer(e)
	failing := false
	for {
		err := c.signDueCheckpoints(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			e.log.Error("sign the end of the audit chain", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func newCheckpointer(e *Engine) *checkpointer {
	return &checkpointer{e: e, newest: map[string]lastCheckpoint{}}
}

// signDueCheckpoints signs the checkpoints that are due, and gives the newest ones to the witnesses.
func (c *checkpointer) signDueCheckpoints(ctx context.Context) error {
	workspaces, err := c.e.db.Reader(ctx, "").Workspaces()
	if err != nil {
		return err
	}
	for _, workspace := range workspaces {
		if err := c.signIfDue(ctx, workspace); err != nil {
			return err
		}
		c.giveToWitnesses(ctx, c.newest[workspace].SignedCheckpoint)
	}
	return nil
}

// signIfDue appends a checkpoint to a chain if one is due.
func (c *checkpointer) signIfDue(ctx context.Context, workspace string) error {
	r := c.e.db.Reader(ctx, workspace)
	head, err := r.Head()
	if err != nil {
		return err
	}
	known := c.newest[workspace]
	if head.Seq <= known.event {
		return nil
	}
	last, err := findCheckpoint(r, known)
	if err != nil {
		return err
	}
	c.newest[workspace] = last
	first, err := r.Events(store.EventFilter{After: last.event, Limit: 1})
	if err != nil || len(first) == 0 {
		return err
	}
	now, err := c.e.db.Now(ctx)
	if err != nil || !last.IsDue(head.Seq, first[0].At, now, c.e.opts.CheckpointEvery) {
		return err
	}
	next := fermata.Checkpoint{Workspace: workspace, Seq: head.Seq, Hash: head.Hash, At: now}
	if err := c.append(ctx, workspace, next, last); err != nil {
		return err
	}
	c.newest[workspace], err = findCheckpoint(r, last)
	return err
}

// append signs a checkpoint and appends its event, unless another replica was first.
func (c *checkpointer) append(ctx context.Context, workspace string, next fermata.Checkpoint, last lastCheckpoint) error {
	signed, err := c.e.opts.Signer.Sign(next)
	if err != nil {
		return err
	}
	return c.e.db.Write(ctx, workspace, func(tx *store.Tx) error {
		found, err := findCheckpoint(tx.Reader, last)
		if err != nil || found.event > last.event || tx.HasAppended(fermata.EventAuditCheckpoint) {
			return err
		}
		tx.Append(&fermata.Event{Type: fermata.EventAuditCheckpoint, Actor: fermata.SystemActor, Data: encodeData(signed)})
		return nil
	})
}

// findCheckpoint returns the newest checkpoint of a workspace, which is the known one or a later one.
func findCheckpoint(r store.Reader, known lastCheckpoint) (lastCheckpoint, error) {
	events, err := r.Events(store.EventFilter{
		After: known.event, Types: []string{string(fermata.EventAuditCheckpoint)}, Newest: true, Limit: 1,
	})
	if err != nil || len(events) == 0 {
		return known, err
	}
	signed, err := checkpointOf(events[0])
	return lastCheckpoint{signed, events[0].Seq}, err
}

func checkpointOf(e *fermata.Event) (c fermata.SignedCheckpoint, err error) {
	if err := json.Unmarshal(e.Data, &c); err != nil {
		return c, fmt.Errorf("event %d holds no checkpoint: %w", e.Seq, err)
	}
	return c, nil
}

// giveToWitnesses gives a checkpoint to every witness. A witness that fails is tried again at the next poll.
func (c *checkpointer) giveToWitnesses(ctx context.Context, signed fermata.SignedCheckpoint) {
	if signed.Seq == 0 {
		return
	}
	for _, w := range c.e.opts.Witnesses {
		err := w.Keep(ctx, signed)
		if ctx.Err() != nil {
			return
		}
		if c.e.failingWitnesses.recordResult(w, err, signed.At) {
			c.e.log.Error("a witness does not keep the checkpoints of the audit chain", "witness", w.Name(), "error", err)
		}
	}
}

// failingWitnesses are the witnesses that fail at present. It is safe for concurrent use.
type failingWitnesses struct {
	mu    sync.Mutex
	since map[Witness]time.Time
}

// recordResult records whether a witness stored the checkpoint that was signed at the instant. It reports whether the
// witness fails and did not fail before.
func (f *failingWitnesses) recordResult(w Witness, err error, at time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, known := f.since[w]
	switch {
	case err == nil:
		delete(f.since, w)
	case !known:
		if f.since == nil {
			f.since = map[Witness]time.Time{}
		}
		f.since[w] = at
	}
	return err != nil && !known
}

// FailingWitnesses returns how many witnesses of the audit chain fail at present, and the instant of the first
// checkpoint that one of them lacks.
func (e *Engine) FailingWitnesses() (n int, since time.Time) {
	e.failingWitnesses.mu.Lock()
	defer e.failingWitnesses.mu.Unlock()
	for _, at := range e.failingWitnesses.since {
		if since.IsZero() || at.Before(since) {
			since = at
		}
	}
	return len(e.failingWitnesses.since), since
}
