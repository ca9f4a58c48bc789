//go:build unix

package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// lock keeps out every other worker on this machine.
type lock struct{ file *os.File }

// release frees the lock.
func (l *lock) release() { l.file.Close() } //nolint:errcheck // nothing was written

// shareWith makes a program hold the lock as well until it ends. So the next worker never disturbs a program that a
// killed worker had started.
func (l *lock) shareWith(cmd *exec.Cmd) { cmd.ExtraFiles = append(cmd.ExtraFiles, l.file) }

// lockFile takes the lock with this name against every other worker on this machine. It waits for the lock until ctx
// ends. The system frees the lock of a worker that dies.
func lockFile(ctx context.Context, name string) (*lock, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return &lock{file}, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			file.Close() //nolint:errcheck // nothing was written
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		timer := time.NewTimer(50 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			file.Close() //nolint:errcheck // nothing was written
			return nil, context.Cause(ctx)
		}
	}
}
