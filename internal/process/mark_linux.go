package process

import (
	"bytes"
	"errors"
	"io"
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
		// Read before the environment: a process that has this number later began later.
		began := beginningOf(name)
		marked, unknown := isMarked(name, mark)
		if marked {
			kill(pid, began)
		}
		found = found || marked || unknown
	}
	return found
}

// kill kills the process if it is the one that began then: its number may be another one's by now, but not while it is
// held.
func kill(pid int, began string) {
	held, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	defer held.Release() //nolint:errcheck // nothing hangs on it
	if began != "" && beginningOf(strconv.Itoa(pid)) == began {
		held.Kill() //nolint:errcheck // a process that is gone is what is wanted
	}
}

// beginningOf returns when a process began, in ticks of the kernel's clock, or "" if it is gone. It stays the same when
// the process goes over to another program.
func beginningOf(pid string) string {
	fields, err := statOf(pid)
	if err != nil || len(fields) <= statBeginning {
		return ""
	}
	return string(fields[statBeginning])
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
		environ, err := readAtOnce(filepath.Join("/proc", pid, "environ"))
		if err != nil {
			return nil, false // it is gone, or another user's
		}
		if len(environ) > 0 || hasNoEnvironment(pid) {
			return environ, false
		}
	}
	return nil, true
}

// readAtOnce reads a file with one call of read(2). An environment that is read in parts ends early when the process goes
// over to another program meanwhile.
func readAtOnce(path string) ([]byte, error) {
	for size := 16 << 10; ; size *= 4 {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		content := make([]byte, size)
		n, err := file.Read(content)
		_ = file.Close()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if n < size {
			return content[:n], nil
		}
	}
}

// kernelThread is PF_KTHREAD of the kernel's include/linux/sched.h.
const kernelThread = 0x00200000

// hasNoEnvironment reports whether the process cannot have one: it is gone, a zombie or a thread of the kernel, or its
// program was started without.
func hasNoEnvironment(pid string) bool {
	fields, err := statOf(pid)
	if err != nil || len(fields) <= statEnvironmentEnd || bytes.ContainsAny(fields[statState], "ZX") {
		return true
	}
	flags, err := strconv.ParseUint(string(fields[statFlags]), 10, 64)
	if err != nil || flags&kernelThread != 0 {
		return true
	}
	// The kernel notes where the code is when all of the new program is there. Before, the ends of its environment may be
	// equal although it has one.
	code, begin, end := string(fields[statCode]), string(fields[statEnvironmentBegin]), string(fields[statEnvironmentEnd])
	return code != "0" && begin == end
}
