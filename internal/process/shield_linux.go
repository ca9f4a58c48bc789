package process

import (
	"os"
	"syscall"
)

// prSetDumpable is the number of an operation of prctl(2), from linux/prctl.h.
const prSetDumpable = 4

// Shield keeps other processes of the same user, such as agents, from reading the environment and the memory of this
// process. Both hold its tokens.
func Shield() error {
	if _, _, errno := syscall.Syscall(syscall.SYS_PRCTL, prSetDumpable, 0, 0); errno != 0 {
		return os.NewSyscallError("prctl", errno)
	}
	return nil
}
