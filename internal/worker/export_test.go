package worker

import (
	"context"
	"time"
)

// LockCopy takes the lock that a run holds on its working copy.
func LockCopy(ctx context.Context, name string) (unlock func(), err error) {
	held, err := lockFile(ctx, name)
	if err != nil {
		return nil, err
	}
	return held.release, nil
}

// SetBeat sets how often the worker renews its leases, and the clock that it measures them by.
func SetBeat(w *Worker, every time.Duration, now func() time.Time) {
	w.beatInterval, w.now = every, now
}
