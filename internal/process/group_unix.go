//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// setOwnGroup makes the program lead a process group, so that all processes that it starts can be stopped with it. The
// group is a session of its own, without a terminal: a program that shares a person's terminal could write to it and
// read what the person types.
func setOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dieWithParent(cmd)
}

// stopGroup asks the whole group to stop.
func stopGroup(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGTERM) }

// killGroup kills the rest of the group.
func killGroup(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGKILL) }

func signalGroup(cmd *exec.Cmd, sig syscall.Signal) {
	syscall.Kill(-cmd.Process.Pid, sig) //nolint:errcheck // a group that is gone is what is wanted
}
