package process

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// IsRunning reports whether the process with the given id exists and has not ended. A zombie has ended and does not
// count. Without /proc, a zombie counts as running.
func IsRunning(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	}
	return stateOf(stat) != 'Z'
}

// isFrozen reports whether a signal has stopped every thread of a process. Without /proc this is unknown, and the
// process counts as stopped.
func isFrozen(pid int) bool {
	threads, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	return !slices.ContainsFunc(threads, func(thread string) bool {
		stat, err := os.ReadFile(thread)
		return err == nil && stateOf(stat) != 'T'
	})
}

// stateOf returns the letter of the state in a file of /proc (proc_pid_stat(5)), or 0 if there is none. The name of the
// program comes before it in parentheses, and may contain any character.
func stateOf(stat []byte) byte {
	if state := stat[bytes.LastIndexByte(stat, ')')+1:]; len(state) > 1 {
		return state[1]
	}
	return 0
}
