package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/fermata-hq/fermata/test/script"
)

// onSmallDisk returns a script that runs the binary with a small disk mounted at the folder. It needs no root, because
// the disk is mounted in a namespace of the process.
func onSmallDisk(t *testing.T, binary, folder string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "fermata")
	script.Write(t, program, fmt.Sprintf("exec unshare --user --map-root-user --mount "+
		"sh -c 'mount -t tmpfs -o size=24m none \"$0\" && exec \"$@\"' '%s' '%s' \"$@\"", folder, binary))
	return program
}

// fillDisk fills the disk of the process until no block of 64 KiB fits, and returns the file to remove.
func fillDisk(t *testing.T, pid int, folder string) string {
	t.Helper()
	path := filepath.Join(fmt.Sprintf("/proc/%d/root", pid), folder, "ballast")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 64<<10)
	for err == nil {
		_, err = file.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
