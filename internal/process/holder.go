package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// holderFile is the file of a run's folder that the run's worker holds.
const holderFile = "worker"

// HoldRun lets this process hold the folder of a run until the returned function is
// called. The system itself tells other processes who holds a folder, so nothing that an
// agent writes into a file or an environment passes for it. The process must not open the
// file itself once more: closing that would let go of the folder.
func HoldRun(folder string) (release func(), err error) {
	file, err := os.OpenFile(filepath.Join(folder, holderFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	release = func() { file.Close() } //nolint:errcheck // nothing was written
	if err := hold(file); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// InRun reports whether this process was started, directly or by others, by the process
// that holds the folder of a run. In a sandbox it is enough that the holder is out of
// sight, and that the sandbox was made for this folder. Where that cannot be known, it
// was not.
func InRun(folder string) bool {
	holder, err := holderOf(folder)
	if err != nil {
		return false
	}
	if holder == hiddenHolder {
		return isSandboxOf(folder)
	}
	return isAncestor(holder)
}

// hiddenHolder is what a sandbox, which has its own processes, is told of a process outside.
const hiddenHolder = 0

// sandboxFile begins the names of the files of a run's folder that the first processes of
// its sandboxes lock, each one of its own: the system tells only one holder of a file.
const sandboxFile = "sandbox-"

// isSandboxOf reports whether the first process of this sandbox has locked a file of the
// folder. The program that makes sandboxes does so before it starts an agent, and no agent
// can make that process do anything.
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

// mostAncestors bounds the way up to the first process.
const mostAncestors = 1000

// isAncestor reports whether this process descends from another.
func isAncestor(pid int) bool {
	if pid <= 0 {
		return false
	}
	at := os.Getppid()
	for range mostAncestors {
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
