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

// IsRunning reports whether there is a process with the given number that has not ended. A zombie, which has ended and
// was not reaped, does not run; where there is no /proc, it counts as running.
func IsRunning(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	}
	return stateOf(stat) != 'Z'
}

// standsStill reports whether every thread of a process was stopped by a signal. Where there is no /proc, nothing is known,
// and it counts as stopped.
func standsStill(pid int) bool {
	threads, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	return !slices.ContainsFunc(threads, func(thread string) bool {
		stat, err := os.ReadFile(thread)
		return err == nil && stateOf(stat) != 'T'
	})
}

// stateOf returns the letter of the state in a file of /proc (proc_pid_stat(5)); 0 where there is none. The name of the program
// stands in parentheses before it, and may hold anything.
func stateOf(stat []byte) byte {
	if state := stat[bytes.LastIndexByte(stat, ')')+1:]; len(state) > 1 {
		return state[1]
	}
	return 0
}
