//go:build !unix

package worker

import (
	"context"
	"os/exec"
	"sync"
)

// locks are held by name within this process. Elsewhere than on Unix, two
// workers on one machine need folders and repositories of their own.
var locks sync.Map

// lock is held against the other runs of this process.
type lock struct{ held chan struct{} }

// release gives the lock back.
func (l *lock) release() { <-l.held }

// holdIn does nothing: locks are this process's own.
func (l *lock) holdIn(*exec.Cmd) {}

// lockFile holds the lock with this name. It waits for it until ctx ends.
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
