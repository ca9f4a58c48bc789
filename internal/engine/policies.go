package engine

import (
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
