//go:build !unix

package worker

import (
	"context"
	"os/exec"
	"sync"
)

// locks holds the locks of this process by name. On systems other than Unix, two workers on one machine need separate
// folders and repositories.
var locks sync.Map

// lock keeps out the other runs of this process.
type lock struct{ held chan struct{} }

// release frees the lock.
func (l *lock) release() { <-l.held }

// shareWith does nothing, because the locks exist only in this process.
func (l *lock) shareWith(*exec.Cmd) {}

// lockFile takes the lock with this name. It waits for the lock until ctx ends.
func lockFile(ctx context.Context, name string) (*lock, error) {
	value, _ := locks.LoadOrStore(name, make(chan struct{}, 1))
	held := value.(chan struct{})
	select {
	case held <- struct{}{}:
		return &lock{held}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
