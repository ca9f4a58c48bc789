package process_test

import (
	"syscall"
	"testing"

	"github.com/fermata-hq/fermata/internal/process"
)

// prGetDumpable is the number of an operation of prctl(2).
const prGetDumpable = 3

func TestShield(t *testing.T) {
	t.Parallel()
	if err := process.Shield(); err != nil {
		t.Fatal(err)
	}
	if dumpable, _, errno := syscall.Syscall(syscall.SYS_PRCTL, prGetDumpable, 0, 0); dumpable != 0 || errno != 0 {
		t.Errorf("the process can be read by others: %d, %v", dumpable, errno)
	}
}
