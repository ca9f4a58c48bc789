package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// How often processes are looked for that go on starting others, and the pause
// that those which were killed get to end.
const (
	endTries = 100
	endPause = 5 * time.Millisecond
)

// EndAll kills every process that has the mark, or one that begins with it, and
// returns when none is left. They are known by the environment that they were
// started with.
func EndAll(mark string) {
	for range endTries {
		if !killMarked(mark) {
			return
		}
		time.Sleep(endPause)
	}
}

// killMarked kills those that are there, and reports whether any was, or may have been.
func killMarked(mark string) (found bool) {
	proc, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer proc.Close() //nolint:errcheck // it was only read
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return false
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		marked, unknown := isMarked(name, mark)
		if marked {
			kill(pid, mark)
		}
		found = found || marked || unknown
	}
	return found
}

// kill kills the process if it still is the one with the mark: its number may
// be another one's by now, but not while it is held.
func kill(pid int, mark string) {
	held, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	defer held.Release() //nolint:errcheck // nothing hangs on it
	if marked, _ := isMarked(strconv.Itoa(pid), mark); marked {
		held.Kill() //nolint:errcheck // a process that is gone is what is wanted
	}
}

// isMarked reports whether the process has the mark, or that this cannot be known now.
func isMarked(pid, mark string) (marked, unknown bool) {
	environ, unknown := environOf(pid)
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if rest, ok := bytes.CutPrefix(entry, []byte(MarkEnv+"="+mark)); ok && (len(rest) == 0 || rest[0] == '.') {
			return true, false
		}
	}
	return false, unknown
}

// environTries is how often an environment is read that seems to be empty.
const environTries = 10

// environOf returns the environment with which a process was started. It is unknown while the process goes over to
// another program (execve(2)): the old environment is gone then, and the new one is not there.
func environOf(pid string) (environ []byte, unknown bool) {
	for range environTries {
		environ, err := os.ReadFile(filepath.Join("/proc", pid, "environ"))
		if err != nil {
			return nil, false // it is gone, or another user's
		}
		if len(environ) > 0 || !hasProgram(pid) {
			return environ, false
		}
	}
	// A program that was started without an environment has arguments.
	arguments, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	return nil, err == nil && len(arguments) == 0
}

// kernelThread is PF_KTHREAD of the kernel's include/linux/sched.h.
const kernelThread = 0x00200000

// hasProgram reports whether the process runs a program, which a zombie and a thread of the kernel do not.
func hasProgram(pid string) bool {
	// The state is the first field, and the flags are the seventh.
	fields, err := statOf(pid)
	if err != nil || len(fields) < 7 || bytes.ContainsAny(fields[0], "ZX") {
		return false
	}
	flags, err := strconv.ParseUint(string(fields[6]), 10, 64)
	return err == nil && flags&kernelThread == 0
}
