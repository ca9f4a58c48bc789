package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// maxJoinedClaims is the largest number of claims that join one write. The tasks of the others are offered after the
// commit.
const maxJoinedClaims = 4

// joinedClaims are waiting claims for which a write takes the tasks that it makes claimable, in the same transaction. So an
// answer and the claim of its task cost one commit.
type joinedClaims struct {
	e     *Engine
	taken []joinedClaim
}

// joinedClaim is a claim that joined a write, and the task that the write took for it.
type joinedClaim struct {
	waiting *waitingClaim
	claim   *fermata.Claim
	kind    fermata.TaskKind
}

// writeAndClaim runs fn in a transaction as [store.DB.Write] does. If fn makes tasks claimable, waiting claims take them in
// the same transaction. A claim that cannot be written never makes the write fail. The
// tasks and questions that fn stores in its caller's variables do not show the claim.
func (e *Engine) writeAndClaim(ctx context.Context, workspace string, fn func(tx *store.Tx) error, ahead ...store.ReadAhead) error {
	joined := joinedClaims{e: e}
	err := e.db.Write(ctx, workspace, func(tx *store.Tx) error {
		// The transaction of an earlier attempt was rolled back.
		joined.giveBack()
		if err := fn(tx); err != nil {
			return err
		}
		return joined.take(tx, workspace)
	}, ahead...)
	if len(joined.taken) > 0 && store.IsRolledBack(err) {
		// Another replica may have committed a claim with the same idempotency key.
		joined.giveBack()
		return e.db.Write(ctx, workspace, fn, ahead...)
	}
	if err != nil {
		joined.giveBack()
		return err
	}
	for _, j := range joined.taken {
		e.claims.deliver(j.waiting, claimOffer{claim: j.claim, kind: j.kind})
	}
	return nil
}

// giveBack tells the claims that the write took nothing for them.
func (j *joinedClaims) giveBack() {
	for _, taken := range j.taken {
		j.e.claims.deliver(taken.waiting, claimOffer{kind: taken.kind})
	}
	j.taken = nil
}

// take takes tasks that the transaction made claimable for waiting claims.
func (j *joinedClaims) take(tx *store.Tx, workspace string) error {
	for _, event := range tx.Appended() {
		t := tx.WrittenTask(event.TaskID)
		if t == nil || event.Move == nil || event.Move.To != t.State || !t.State.IsClaimable() {
			continue
		}
		if len(j.taken) == maxJoinedClaims {
			return nil
		}
		if tx.IsCrowded() && !tx.IsReadForClaim(t) {
			// The claims come together after the commit, and then share their round trips.
			continue
		}
		w := j.e.claims.reserve(workspace, t.Kind(), tx.Now(), j.e.callers.currentGeneration())
		if w == nil {
			continue
		}
		j.taken = append(j.taken, joinedClaim{waiting: w, kind: t.Kind()})
		claim, err := j.e.claimFor(tx, w, t)
		if err != nil {
			return err
		}
		j.taken[len(j.taken)-1].claim, event.Move.IsClaimed = claim, claim != nil
	}
	return nil
}

// claimFor takes the task for the waiting claim. It returns nil, and has written nothing, if the claim cannot have the
// task: then the claim itself gets the reason when it looks for a task. A failure of the database is returned.
func (e *Engine) claimFor(tx *store.Tx, w *waitingClaim, t *fermata.Task) (*fermata.Claim, error) {
	if w.caller.CheckPermission(fermata.ToClaim, fermata.InProject(t.Project)) != nil {
		return nil, tx.DatabaseError()
	}
	rows, err := tx.ReadForClaim(t)
	if err != nil {
		return nil, tx.DatabaseError()
	}
	h, err := newRunHandOver(tx, t, rows)
	if err != nil {
		return nil, tx.DatabaseError()
	}
	// The caller of the write gets the task as the write left it.
	claimed := *t
	claim, err := startRun(tx, w.caller, w.request, &claimed, h)
	idem := idempotencyOf(w.ctx)
	if err != nil || idem.key == "" {
		return claim, err
	}
	// If a claim with this key was committed since this one began to wait, the database refuses the transaction.
	return claim, storeResult(tx, idempotentCaller(w.caller), idem, claim)
}

// releaseUndelivered releases the run of a claim that nobody waits for any more.
func (e *Engine) releaseUndelivered(ctx context.Context, w *waitingClaim, claim *fermata.Claim) error {
	_, err := e.Release(WithIdempotency(context.WithoutCancel(ctx), "", ""), w.caller, claim.Run.ID, claim.Run.Token)
	return err
}
