//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// ownGroup lets the program lead a process group, so that all it starts can be
// stopped with it. The group is a session of its own, without a terminal: a program
// that shares the terminal of a person types into it and reads what they type.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dieWithParent(cmd)
}

// stopGroup asks the whole group to stop.
func stopGroup(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGTERM) }

// killGroup ends what is left of the group.
func killGroup(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGKILL) }

func signalGroup(cmd *exec.Cmd, sig syscall.Signal) {
	syscall.Kill(-cmd.Process.Pid, sig) //nolint:errcheck // a group that is gone is what is wanted
}
