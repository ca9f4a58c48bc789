package github

import "sync"

// recentKeys remembers the latest keys. It only saves work: the server knows
// whether an answer counted before.
type recentKeys struct {
	mu   sync.Mutex
	keys map[string]bool
	ring []string
	next int
}

// maxRecentKeys is how many keys are remembered.
const maxRecentKeys = 10_000

// has reports whether the key was added.
func (r *recentKeys) has(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.keys[key]
}

// add remembers the key. If there are too many, it forgets the oldest one.
func (r *recentKeys) add(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys[key] {
		return
	}
	if r.keys == nil {
		r.keys = map[string]bool{}
	}
	if len(r.ring) < maxRecentKeys {
		r.ring = append(r.ring, key)
	} else {
		delete(r.keys, r.ring[r.next])
		r.ring[r.next] = key
		r.next = (r.next + 1) % maxRecentKeys
	}
	r.keys[key] = true
}
