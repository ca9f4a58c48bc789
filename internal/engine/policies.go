package engine

import (
	"context"
	"sync"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// policyCache holds the policies of workspaces until an event says that one
// changed.
type policyCache struct {
	mu       sync.Mutex
	policies map[string]fermata.Policy
	// generation counts the changes. A policy that was read before a change is not
	// stored after it.
	generation int
}

func newPolicyCache() *policyCache { return &policyCache{policies: map[string]fermata.Policy{}} }

// get returns a policy and the number of known changes, which [policyCache.put] needs.
func (pc *policyCache) get(workspace string) (p fermata.Policy, ok bool, generation int) {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	p, ok = pc.policies[workspace]
	return p, ok, pc.generation
}

// put stores a policy, unless the policy changed after it was read. generation is what get
// returned before the read.
func (pc *policyCache) put(workspace string, p fermata.Policy, generation int) {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	if generation == pc.generation {
		pc.policies[workspace] = p
	}
}

func (pc *policyCache) forget(workspace string) {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	delete(pc.policies, workspace)
	pc.generation++
}

// policy returns the workspace's policy.
func (e *Engine) policy(r store.Reader) (fermata.Policy, error) {
	p, ok, generation := e.policies.get(r.Workspace())
	if ok {
		return p, nil
	}
	p, err := r.Policy()
	if err == nil {
		e.policies.put(r.Workspace(), p, generation)
	}
	return p, err
}

// Policy returns the workspace's policy, without the parts about projects that the caller may not see.
func (e *Engine) Policy(ctx context.Context, c fermata.Caller) (fermata.Policy, error) {
	if err := c.CheckPermission(fermata.ToReadPolicy, fermata.UnloadedResource); err != nil {
		return fermata.Policy{}, err
	}
	p, err := e.reader(ctx, c).Policy()
	return p.ViewFor(c), err
}

// SetPolicy replaces the workspace's policy.
func (e *Engine) SetPolicy(ctx context.Context, c fermata.Caller, p fermata.Policy) (fermata.Policy, error) {
	if err := c.CheckPermission(fermata.ToChangePolicy, fermata.InWorkspace); err != nil {
		return p, err
	}
	if err := p.Check(); err != nil {
		return p, err
	}
	p, err := write(ctx, e, c, fermata.ToChangePolicy, func(tx *store.Tx) (fermata.Policy, error) {
		tx.SetPolicy(p)
		tx.Append(&fermata.Event{Type: fermata.EventPolicyChanged, Actor: c.Actor(), Data: encodeData(p)})
		return p, nil
	})
	// Another call in the same transaction may have cached a policy that was rolled back.
	e.policies.forget(c.WorkspaceID)
	return p, err
}
