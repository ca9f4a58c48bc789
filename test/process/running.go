package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// IsRunning reports whether there is a process with the given number that has not ended. One that has ended and was not
// reaped (a zombie) does not run; where there is no /proc, it counts as running.
func IsRunning(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	// The name of the program stands in parentheses and may hold anything (proc_pid_stat(5)).
	return !strings.HasPrefix(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " Z ")
}
