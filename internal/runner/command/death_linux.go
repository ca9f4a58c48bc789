package command

import (
	"os/exec"
	"syscall"
)

// dieWithWorker kills the program when the worker dies without a chance to stop
// it: another run may then take the working copy. The system watches the thread that
// starts the program, so that thread has to last as long as the run.
func dieWithWorker(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }
