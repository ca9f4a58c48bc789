package process

import (
	"os/exec"
	"syscall"
)

// dieWithParent kills the program when this process dies without a chance to
// stop it: another one may then do the same work. The system watches the thread that
// starts the program, so that thread has to last as long as the run.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }
