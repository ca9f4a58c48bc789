package process

import (
	"errors"
	"strconv"
)

// errNoParent means that the system's record of a process has no parent.
var errNoParent = errors.New("the process has no parent that is known")

// parentOf returns the parent of a process.
func parentOf(pid int) (int, error) {
	fields, err := statOf(strconv.Itoa(pid))
	if err != nil {
		return 0, err
	}
	if len(fields) <= statParent {
		return 0, errNoParent
	}
	return strconv.Atoi(string(fields[statParent]))
}
