package process

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// errNoParent says that the system's record of a process cannot be read.
var errNoParent = errors.New("the process has no parent that is known")

// parentOf is the process that started another.
func parentOf(pid int) (int, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	// The name stands in parentheses, and may have any characters in it.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 2 {
		return 0, errNoParent
	}
	return strconv.Atoi(string(fields[1]))
}
