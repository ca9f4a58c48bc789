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
	// Open verifies the signature of a checkpoint.
	Open(c fermata.SignedCheckpoint) error
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
	// Kept returns every checkpoint that the witness has.
	Kept(ctx context.Context) ([]fermata.SignedCheckpoint, error)
}

// readable returns the witnesses that the server can read.
func (e *Engine) readable() (all []ReadableWitness) {
	for _, w := range e.opts.Witnesses {
		if r, ok := w.(ReadableWitness); ok {
			all = append(all, r)
		}
	}
	return all
}

// checkpointLook is how often a process checks whether a checkpoint is due.
const checkpointLook = 2 * time.Second

// checkpoints signs the ends of chains and gives them to the witnesses.
type checkpoints struct {
	e *Engine
	// last are the newest checkpoints, by workspace.
	last map[string]lastCheckpoint
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
	tick := time.NewTicker(checkpointLook)
	defer tick.Stop()
	c := newCheckpoints(e)
	failing := false
	for {
		err := c.look(ctx)
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

func newCheckpoints(e *Engine) *checkpoints {
	return &checkpoints{e: e, last: map[string]lastCheckpoint{}}
}

// look signs the checkpoints that are due, and gives the newest ones to the witnesses.
func (c *checkpoints) look(ctx context.Context) error {
	workspaces, err := c.e.db.In(ctx, "").Workspaces()
	if err != nil {
		return err
	}
	for _, workspace := range workspaces {
		if err := c.sign(ctx, workspace); err != nil {
			return err
		}
		c.hand(ctx, c.last[workspace].SignedCheckpoint)
	}
	return nil
}

// sign appends a checkpoint to a chain if one is due.
func (c *checkpoints) sign(ctx context.Context, workspace string) error {
	r := c.e.db.In(ctx, workspace)
	head, err := r.Head()
	if err != nil {
		return err
	}
	known := c.last[workspace]
	if head.Seq <= known.event {
		return nil
	}
	last, err := findCheckpoint(r, known)
	if err != nil {
		return err
	}
	c.last[workspace] = last
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
	c.last[workspace], err = findCheckpoint(r, last)
	return err
}

// append signs a checkpoint and appends its event, unless another replica was first.
func (c *checkpoints) append(ctx context.Context, workspace string, next fermata.Checkpoint, last lastCheckpoint) error {
	signed, err := c.e.opts.Signer.Sign(next)
	if err != nil {
		return err
	}
	return c.e.db.Write(ctx, workspace, func(tx *store.Tx) error {
		found, err := findCheckpoint(tx.Reader, last)
		if err != nil || found.event > last.event || tx.Adds(fermata.EventAuditCheckpoint) {
			return err
		}
		tx.Append(&fermata.Event{Type: fermata.EventAuditCheckpoint, Actor: fermata.System, Data: data(signed)})
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

// hand gives a checkpoint to every witness. A witness that fails is tried again at the next look.
func (c *checkpoints) hand(ctx context.Context, signed fermata.SignedCheckpoint) {
	if signed.Seq == 0 {
		return
	}
	for _, w := range c.e.opts.Witnesses {
		err := w.Keep(ctx, signed)
		if ctx.Err() != nil {
			return
		}
		if c.e.away.note(w, err, signed.At) {
			c.e.log.Error("a witness does not keep the checkpoints of the audit chain", "witness", w.Name(), "error", err)
		}
	}
}

// awayWitnesses are the witnesses that fail at present. It is safe for concurrent use.
type awayWitnesses struct {
	mu    sync.Mutex
	since map[Witness]time.Time
}

// note records the result of a witness for the checkpoint of an instant. It reports whether the witness fails and did
// not fail before.
func (a *awayWitnesses) note(w Witness, err error, at time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, known := a.since[w]
	switch {
	case err == nil:
		delete(a.since, w)
	case !known:
		if a.since == nil {
			a.since = map[Witness]time.Time{}
		}
		a.since[w] = at
	}
	return err != nil && !known
}

// WitnessesAway returns how many witnesses of the audit chain fail at present, and the instant of the first
// checkpoint that one of them lacks.
func (e *Engine) WitnessesAway() (n int, since time.Time) {
	e.away.mu.Lock()
	defer e.away.mu.Unlock()
	for _, at := range e.away.since {
		if since.IsZero() || at.Before(since) {
			since = at
		}
	}
	return len(e.away.since), since
}
