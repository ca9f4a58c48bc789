package engine

import (
	"sync"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// policyCache keeps every workspace's policy until an event says that it
// changed.
type policyCache struct {
	mu    sync.Mutex
	known map[string]fermata.Policy
	// cleared counts the changes, so that a policy which was read before one is
	// not kept after it.
	cleared int
}

func newPolicyCache() *policyCache { return &policyCache{known: map[string]fermata.Policy{}} }

// get also returns how many changes are known, for [policyCache.put].
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
