package worker

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/fermata-hq/fermata/internal/process"
)

// workersFolder holds, inside the worker's folder, a file for each worker that runs. Its
// name is the mark of the worker's process, which holds its lock.
const workersFolder = ".workers"

// signIn notes that this worker runs, so that what it starts can be ended when
// it is killed.
func (cs *copies) signIn() (signOut func(), err error) {
	folder := filepath.Join(cs.Folder, workersFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	// Locked before anybody sees it: a file without a lock is that of a dead worker.
	file, err := os.CreateTemp(cs.Folder, ".worker-*")
	if err != nil {
		return nil, err
	}
	name := filepath.Join(folder, process.Mark)
	if err = errors.Join(lockNow(file), os.Rename(file.Name(), name)); err != nil {
		return nil, errors.Join(err, os.Remove(file.Name()), file.Close())
	}
	return func() {
		os.Remove(name) //nolint:errcheck // the next worker finds that nothing is left of this one
		file.Close()    //nolint:errcheck // nothing was written
	}, nil
}

// clearUp ends what the agents of workers left that were killed: two runs of a task would work in one
// folder. Their papers go as well.
func (cs *copies) clearUp(log *slog.Logger) {
	folder := filepath.Join(cs.Folder, workersFolder)
	entries, err := os.ReadDir(folder)
	if err != nil {
		log.Warn("look for what other workers left", "error", err)
		return
	}
	for _, e := range entries {
		if err := clearUpAfter(filepath.Join(folder, e.Name()), e.Name()); err != nil {
			log.Warn("clear up after a worker that was killed", "error", err)
		}
	}
}

func clearUpAfter(name, mark string) error {
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	if lockNow(file) != nil {
		return nil // its worker lives
	}
	process.EndAll(mark)
	papers, err := filepath.Glob(filepath.Join(os.TempDir(), process.RunFolderOf(mark)))
	for _, folder := range papers {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	return errors.Join(err, os.Remove(name))
}

// lockNow takes the lock of a file, or fails at once.
func lockNow(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
