//go:build !linux

package web

import "os/exec"

// endWithParent does nothing, because only Linux tells a program that its parent died.
func endWithParent(*exec.Cmd) {}
