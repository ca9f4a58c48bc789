package process

import (
	"bytes"
	"os"
	"path/filepath"
)

// statOf returns the fields of /proc/PID/stat behind the name (proc_pid_stat(5)): the state, the parent, and so on.
// The name stands in parentheses and may hold any character.
func statOf(pid string) ([][]byte, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return nil, err
	}
	return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]), nil
}
