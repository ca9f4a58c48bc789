package process

import (
	"bytes"
	"os"
	"path/filepath"
)

// Indices of the fields that statOf returns (proc_pid_stat(5) counts two more: the process id and the name).
const (
	statState            = 0
	statParent           = 1
	statSession          = 3
	statFlags            = 6
	statBeginning        = 19
	statCode             = 23
	statEnvironmentBegin = 47
	statEnvironmentEnd   = 48
)

// statOf returns the fields of /proc/PID/stat after the name (proc_pid_stat(5)): the state, the parent, and so on. The
// name stands in parentheses and may contain any character.
func statOf(pid string) ([][]byte, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return nil, err
	}
	return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]), nil
}
