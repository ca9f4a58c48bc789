package worker

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/fermata-hq/fermata/internal/process"
)

// workersFolder is the folder, inside the worker's folder, with a file for each running worker. The file is named after
// the mark of the worker's process, and the process holds its lock.
const workersFolder = ".workers"

// registerWorker records that this worker runs. If the worker is killed, another one can then end the programs that it
// started.
func (cs *copyManager) registerWorker() (unregister func(), err error) {
	folder := filepath.Join(cs.Folder, workersFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	// Lock the file before another worker can see it: a file without a lock belongs to a dead worker.
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

// cleanUpKilledWorkers ends the programs that the agents of killed workers left running. Otherwise two runs of a task
// would work in one folder. It removes the files of these runs as well.
func (cs *copyManager) cleanUpKilledWorkers(log *slog.Logger) {
	folder := filepath.Join(cs.Folder, workersFolder)
	entries, err := os.ReadDir(folder)
	if err != nil {
		log.Warn("look for what other workers left", "error", err)
		return
	}
	for _, e := range entries {
		if err := cleanUpWorker(filepath.Join(folder, e.Name()), e.Name()); err != nil {
			log.Warn("clear up after a worker that was killed", "error", err)
		}
	}
}

func cleanUpWorker(name, mark string) error {
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
	process.KillMarked(mark)
	runFolders, err := filepath.Glob(filepath.Join(os.TempDir(), process.RunFolderPatternOf(mark)))
	for _, folder := range runFolders {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	return errors.Join(err, os.Remove(name))
}

// lockNow takes the lock of a file, or fails at once.
func lockNow(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
