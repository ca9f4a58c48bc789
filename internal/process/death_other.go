//go:build unix && !linux

package process

import "os/exec"

// dieWithParent does nothing: only Linux ends a program together with the process that started it.
func dieWithParent(*exec.Cmd) {}
