//go:build unix

package process

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"syscall"
)

// The one byte that a worker locks. No program locks this byte by chance, and a lock of the whole file is a different
// lock.
const (
	lockOffset = math.MaxInt32 - 19
	lockLength = 1
)

// takeLock takes the worker's lock on the file. If another process has the lock, takeLock fails at once.
func takeLock(file *os.File) error {
	lock := workerLock()
	return syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &lock)
}

// errNotHeld means that no process holds exactly this lock.
var errNotHeld = errors.New("no worker holds the folder")

// holderOf returns the process that holds the folder of a run.
func holderOf(folder string) (int, error) { return lockOf(folder, holderFile, workerLock()) }

// sandboxHolder returns the process that holds the file of a sandbox.
func sandboxHolder(folder, name string) (int, error) { return lockOf(folder, name, sandboxLock()) }

// lockOf returns the process that has exactly this lock on a file of a folder. It does not follow a link: a link may
// lead to a file that another program locked for its own purpose.
func lockOf(folder, name string, want syscall.Flock_t) (int, error) {
	file, err := os.OpenFile(filepath.Join(folder, name), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	lock := want
	lock.Type = syscall.F_WRLCK
	if err := syscall.FcntlFlock(file.Fd(), syscall.F_GETLK, &lock); err != nil {
		return 0, err
	}
	if lock.Type != want.Type || lock.Start != want.Start || lock.Len != want.Len {
		return 0, errNotHeld
	}
	return int(lock.Pid), nil
}

// sandboxLock is the lock that bubblewrap takes.
func sandboxLock() syscall.Flock_t {
	return syscall.Flock_t{Type: syscall.F_RDLCK, Whence: io.SeekStart}
}

func workerLock() syscall.Flock_t {
	return syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: lockOffset, Len: lockLength}
}
