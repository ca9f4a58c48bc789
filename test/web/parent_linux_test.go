package web

import (
	"os/exec"
	"syscall"
)

// endWithParent ends the program when the tests die, for example at their own time limit. The program gets SIGTERM and
// is not killed, so that it can end its servers.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM }
