package process

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
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
	// The name of the program stands in parentheses and may hold anything (proc_pid_stat(5)).
	return !bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z "))
}
