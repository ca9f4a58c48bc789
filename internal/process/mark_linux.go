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

// killMarked kills those that are there, and reports whether any was.
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
		if err == nil && pid != os.Getpid() && isMarked(name, mark) {
			found = true
			kill(pid, mark)
		}
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
	if isMarked(strconv.Itoa(pid), mark) {
		held.Kill() //nolint:errcheck // a process that is gone is what is wanted
	}
}

func isMarked(pid, mark string) bool {
	environ, err := os.ReadFile(filepath.Join("/proc", pid, "environ"))
	if err != nil {
		return false // it is gone, or another user's
	}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if rest, ok := bytes.CutPrefix(entry, []byte(MarkEnv+"="+mark)); ok && (len(rest) == 0 || rest[0] == '.') {
			return true
		}
	}
	return false
}
