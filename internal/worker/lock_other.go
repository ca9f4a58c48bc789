//go:build !unix

package worker

import (
	"context"
	"sync"
)

// locks are held by name within this process. Elsewhere than on Unix, two
// workers on one machine need folders and repositories of their own.
var locks sync.Map

// lockFile holds the lock with this name. It waits for it until ctx ends.
func lockFile(ctx context.Context, name string) (unlock func(), err error) {
	value, _ := locks.LoadOrStore(name, make(chan struct{}, 1))
	held := value.(chan struct{})
	select {
	case held <- struct{}{}:
		return func() { <-held }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
