//go:build unix && !linux

package process

import "os/exec"

// dieWithParent does nothing: only Linux ends a program with the one that
// started it.
func dieWithParent(*exec.Cmd) {}
