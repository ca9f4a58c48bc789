package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// minMemory is the free space, in bytes, that a folder in memory must have for the data of tests.
const minMemory = 6 << 30

// scratchPrefix is short, because tests create sockets below it, and the path of a socket holds about 100 bytes.
const scratchPrefix = "fermata-"

// makeScratch creates the folder for the data of tests. It is in memory if there is enough room and programs may run
// there. Otherwise it is beside other temporary files. Memory is faster and proves the same, because tests kill
// processes but never the machine.
func makeScratch(memory string) (string, error) {
	removeAbandoned(memory)
	folder := filepath.Join(memory, fmt.Sprint(scratchPrefix, os.Getpid()))
	if hasRoom(memory) && os.Mkdir(folder, 0o750) == nil {
		if letOwnersEnter(folder) == nil && canRunPrograms(folder) {
			return folder, nil
		}
		_ = os.RemoveAll(folder)
	}
	folder, err := os.MkdirTemp("", scratchPrefix)
	if err != nil {
		return "", err
	}
	return folder, letOwnersEnter(folder)
}

// letOwnersEnter lets other users enter the folder but not list it. The user of PostgreSQL needs that.
func letOwnersEnter(folder string) error { return os.Chmod(folder, 0o711) } //nolint:gosec // see above

// removeAbandoned removes folders of killed gates. The name of a folder ends with the process id of its gate.
func removeAbandoned(memory string) {
	folders, _ := filepath.Glob(filepath.Join(memory, scratchPrefix+"*"))
	for _, folder := range folders {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(folder), scratchPrefix))
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(folder)
		}
	}
}

func hasRoom(folder string) bool {
	var room syscall.Statfs_t
	return syscall.Statfs(folder, &room) == nil && room.Bavail*uint64(room.Bsize) >= minMemory
}

// canRunPrograms reports whether a program in the folder can be started. Some systems forbid it for folders in memory.
func canRunPrograms(folder string) bool {
	program := filepath.Join(folder, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // it must run
		return false
	}
	defer func() { _ = os.Remove(program) }()
	return exec.Command(program).Run() == nil //nolint:noctx // it does nothing
}
