package worker

import "context"

// LockCopy takes the lock that a run holds on its working copy.
func LockCopy(ctx context.Context, name string) (unlock func(), err error) {
	held, err := lockFile(ctx, name)
	if err != nil {
		return nil, err
	}
	return held.release, nil
}
