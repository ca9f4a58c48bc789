package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// holderFile is the file in a run's folder that the run's worker locks.
const holderFile = "worker"

// HoldRun makes this process hold the folder of a run until the returned function is called. The system itself reports
// to other processes which process holds a folder, so an agent cannot fake it with a file or an environment. This
// process must not open the file again: closing it would release the folder.
func HoldRun(folder string) (release func(), err error) {
	file, err := os.OpenFile(filepath.Join(folder, holderFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	release = func() { file.Close() } //nolint:errcheck // nothing was written
	if err := takeLock(file); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// IsInRun reports whether this process descends from the process that holds the folder of a run. Inside a sandbox the
// holder is invisible; there it is enough that the sandbox was created for this folder. If this cannot be determined,
// IsInRun returns false.
func IsInRun(folder string) bool {
	holder, err := holderOf(folder)
	if err != nil {
		return false
	}
	if holder == hiddenHolder {
		return isSandboxOf(folder)
	}
	return isAncestor(holder)
}

// hiddenHolder is the process id that the system reports inside a sandbox for a process outside it. A sandbox has its
// own process ids.
const hiddenHolder = 0

// sandboxFile begins the names of the files that the first processes of the run's sandboxes lock. Each sandbox has a
// file of its own, because the system reports only one holder of a file.
const sandboxFile = "sandbox-"

// isSandboxOf reports whether the first process of this sandbox has locked a file of the folder. That process is
// bubblewrap. It takes the lock before it starts an agent, and no agent can control it.
func isSandboxOf(folder string) bool {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		if !strings.HasPrefix(e.Name(), sandboxFile) {
			return false
		}
		first, err := sandboxHolder(folder, e.Name())
		return err == nil && first == 1
	})
}

// maxAncestors limits the search for an ancestor.
const maxAncestors = 1000

// isAncestor reports whether this process descends from the process pid.
func isAncestor(pid int) bool {
	if pid <= 0 {
		return false
	}
	at := os.Getppid()
	for range maxAncestors {
		if at == pid {
			return true
		}
		if at <= 1 {
			return false
		}
		parent, err := parentOf(at)
		if err != nil {
			return false
		}
		at = parent
	}
	return false
}
