//go:build !linux

package process

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
)

// parentOf returns the parent of a process.
func parentOf(pid int) (int, error) {
	out, err := exec.CommandContext(context.Background(), "/bin/ps", "-o", "ppid=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}
