package web

import (
	"os/exec"
	"syscall"
)

// endWithParent ends the program when the tests die, as at their own time limit. It is told, and not killed: it ends
// its servers then.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM }
