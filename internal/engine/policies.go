package engine

import (
	"sync"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// policyCache holds the policies of workspaces until an event says that one
// changed.
type policyCache struct {
	mu    sync.Mutex
	known map[string]fermata.Policy
	// cleared counts the changes. A policy that was read before a change is not
	// stored after it.
	cleared int
}

func newPolicyCache() *policyCache { return &policyCache{known: map[string]fermata.Policy{}} }

// get returns a policy and the number of known changes, which [policyCache.put] needs.
func (pc *policyCache) get(workspace string) (p fermata.Policy, ok bool, cleared int) {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	p, ok = pc.known[workspace]
	return p, ok, pc.cleared
}

// put stores a policy, unless the policy changed after it was read. cleared is what get returned before the read.
func (pc *policyCache) put(workspace string, p fermata.Policy, cleared int) {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	if cleared == pc.cleared {
		pc.known[workspace] = p
	}
}

func (pc *policyCache) forget(workspace string) {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	delete(pc.known, workspace)
	pc.cleared++
}

// policy returns the workspace's policy.
func (e *Engine) policy(r store.Reader) (fermata.Policy, error) {
	p, ok, cleared := e.policies.get(r.Workspace())
	if ok {
		return p, nil
	}
	p, err := r.Policy()
	if err == nil {
		e.policies.put(r.Workspace(), p, cleared)
	}
	return p, err
}
