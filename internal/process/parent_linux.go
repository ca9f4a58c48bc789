package process

import (
	"errors"
	"strconv"
)

// errNoParent says that the system's record of a process cannot be read.
var errNoParent = errors.New("the process has no parent that is known")

// parentOf is the process that started another.
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
