package process

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the system kill the program when this process dies without stopping it. Otherwise another worker
// could do the same work at the same time. The system watches the thread that starts the program, so that thread has to
// last as long as the run.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }
