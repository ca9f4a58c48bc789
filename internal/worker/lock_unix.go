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

// lock is held against every other worker on this machine.
type lock struct{ file *os.File }

// release gives the lock back.
func (l *lock) release() { l.file.Close() } //nolint:errcheck // nothing was written

// holdIn lets a program hold the lock as well, until it ends. What a worker that
// was killed had started is then never disturbed by the next worker.
func (l *lock) holdIn(cmd *exec.Cmd) { cmd.ExtraFiles = append(cmd.ExtraFiles, l.file) }

// lockFile holds the lock with this name against every other worker on this
// machine. It waits for it until ctx ends. The system frees the lock of a
// worker that dies.
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
