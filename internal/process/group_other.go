//go:build !unix

package process

import "os/exec"

// setOwnGroup does nothing: on systems other than Unix, only the program itself can be stopped, and only at once.
func setOwnGroup(*exec.Cmd) {}

func stopGroup(cmd *exec.Cmd) { killGroup(cmd) }

func killGroup(cmd *exec.Cmd) {
	cmd.Process.Kill() //nolint:errcheck // a process that is gone is what is wanted
}
