package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// nextClaim is the claim that comes with the result of a run. It is nil if there is none, or if it is known that no task
// can be claimed. A claim that fails never makes the result fail: the worker gets the reason when it claims again.
type nextClaim struct {
	e         *Engine
	caller    fermata.Caller
	request   fermata.ClaimRequest
	selection store.Claimable
	look      look
	// hasLooked reports whether the claim has looked for a task. The repetition of a result does not look.
	hasLooked bool
}

// prepareNextClaim prepares the claim of the request, which may be nil.
func (e *Engine) prepareNextClaim(ctx context.Context, c fermata.Caller, r *fermata.ClaimRequest) (*nextClaim, error) {
	if r == nil {
		return nil, nil
	}
	if err := c.CheckPermission(fermata.ToClaim, fermata.UnloadedResource); err != nil {
		return nil, nil //nolint:nilerr // the result counts all the same
	}
	n := &nextClaim{e: e, caller: c, request: *r}
	n.request.Visible = r.Visible.Intersect(c.VisibleProjects())
	var err error
	if n.look, err = e.claims.beginLook(c.WorkspaceID, n.request); err != nil || n.look.expects == expectNothing {
		return nil, err
	}
	if err := e.recordWorker(ctx, c, n.request.ClaimingWorker()); err != nil {
		return nil, err
	}
	n.selection, err = e.selectionOf(ctx, c.WorkspaceID, n.request)
	return n, err
}

// readAhead returns what the claim reads.
func (n *nextClaim) readAhead() []store.ReadAhead {
	if n == nil {
		return nil
	}
	return []store.ReadAhead{{Claim: &n.selection}}
}

// claim claims the first task that the request takes, or returns nil if there is none.
func (n *nextClaim) claim(tx *store.Tx) (*fermata.Claim, error) {
	if n == nil {
		return nil, nil
	}
	t, err := tx.NextClaimable(n.selection)
	n.hasLooked = ignoreNotFound(err) == nil
	if err != nil {
		return nil, ignoreNotFound(err)
	}
	claim, err := n.e.claimTask(tx, n.caller, n.request, t)
	if err != nil {
		n.hasLooked = false
		return nil, tx.DatabaseError()
	}
	return claim, nil
}

// noteFound records whether the claim found a task, if it has looked for one.
func (n *nextClaim) noteFound(found bool) {
	if n != nil && n.hasLooked {
		n.e.claims.noteLook(n.look, found)
	}
}
