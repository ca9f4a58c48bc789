// Package script writes programs that tests run.
package script

import (
	"os"
	"syscall"
	"testing"
)

// Write writes a shell script that can be run at once, also while other tests start processes. A process that is
// started while the file is open for writing would hold it open, and running the script would fail with ETXTBSY
// (golang.org/issue/22315). Therefore this process starts no other one until
// the file is closed.
func Write(tb testing.TB, path, text string) {
	tb.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700) //nolint:gosec // it must run
	syscall.ForkLock.RUnlock()
	if err != nil {
		tb.Fatal(err)
	}
}
