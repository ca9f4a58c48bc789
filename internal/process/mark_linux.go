package process

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// killTries is how often the system is searched for processes that keep starting others. killRetryDelay is how long
// killed processes get to end before the next search.
const (
	killTries      = 100
	killRetryDelay = 5 * time.Millisecond
)

// KillMarked kills every process whose mark is the given one or one derived from it, and returns when none is left. It
// finds the processes by the environment with which they were started.
func KillMarked(mark string) {
	killAll(func(pid string) (bool, bool) { return isMarked(pid, mark) })
}

// killProgram kills the rest of a program: the processes with the mark, and those in the program's session.
func killProgram(mark string, leader int) {
	killPrograms(mark, map[string]bool{strconv.Itoa(leader): true})
}

// killPrograms kills the rest of programs: the processes with the mark, and those in the sessions of the leaders. A
// process that clears its environment stays in the session.
func killPrograms(mark string, leaders map[string]bool) {
	killAll(func(pid string) (matched, unknown bool) {
		if matched, unknown = isMarked(pid, mark); !matched && leaders[sessionOf(pid)] {
			return true, false
		}
		return matched, unknown
	})
}

// sessionOf returns the session of a process, or "" if the process is gone or is a zombie.
func sessionOf(pid string) string {
	fields, err := statOf(pid)
	if err != nil || len(fields) <= statSession || bytes.ContainsAny(fields[statState], "ZX") {
		return ""
	}
	return string(fields[statSession])
}

// killAll kills every process for which matches is true, and returns when none is left.
func killAll(matches func(pid string) (matched, unknown bool)) {
	for range killTries {
		if !killMatchesOnce(matches) {
			return
		}
		time.Sleep(killRetryDelay)
	}
}

// killMatchesOnce kills the matching processes once, and reports whether there were any, or may have been.
func killMatchesOnce(matches func(pid string) (matched, unknown bool)) (found bool) {
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
		// Read the start before the environment. If another process gets the number meanwhile, it has a later start.
		startTime := startTimeOf(name)
		matched, unknown := matches(name)
		if matched {
			kill(pid, startTime)
		}
		found = found || matched || unknown
	}
	return found
}

// kill kills the process with the number if it has the given start. Another process may have the number by now, but no
// process gets it while held refers to the old one.
func kill(pid int, startTime string) {
	held, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	defer held.Release() //nolint:errcheck // nothing hangs on it
	if startTime != "" && startTimeOf(strconv.Itoa(pid)) == startTime {
		held.Kill() //nolint:errcheck // a process that is gone is what is wanted
	}
}

// startTimeOf returns the start of a process in ticks of the kernel's clock, or "" if the process is gone. A process
// that executes another program keeps its start.
func startTimeOf(pid string) string {
	fields, err := statOf(pid)
	if err != nil || len(fields) <= statBeginning {
		return ""
	}
	return string(fields[statBeginning])
}

// isMarked reports whether the process has the mark, or whether this is unknown.
func isMarked(pid, mark string) (marked, unknown bool) {
	environ, unknown := environOf(pid)
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if rest, ok := bytes.CutPrefix(entry, []byte(MarkEnv+"="+mark)); ok && (len(rest) == 0 || rest[0] == '.') {
			return true, false
		}
	}
	return false, unknown
}

// environTries is how often environOf reads an environment that seems to be empty.
const environTries = 10

// environOf returns the environment of a process. It is unknown while the process executes another program (execve(2)):
// the old environment is gone and the new one is not there yet. It is also unknown while a process ends, because its
// memory disappears before the process does.
func environOf(pid string) (environ []byte, unknown bool) {
	for range environTries {
		environ, err := readAtOnce(filepath.Join("/proc", pid, "environ"))
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			return nil, false // it is gone, or another user's
		}
		if len(environ) > 0 || hasNoEnvironment(pid) {
			return environ, false
		}
	}
	return nil, true
}

// readAtOnce reads a file with one call of read(2). If an environment were read in parts and the process executed
// another program in between, the later parts would be missing.
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

// hasNoEnvironment reports whether the process certainly has no environment: it is gone, it is a zombie or a kernel
// thread, or its program was executed without one.
func hasNoEnvironment(pid string) bool {
	fields, err := statOf(pid)
	if err != nil || len(fields) <= statEnvironmentEnd || bytes.ContainsAny(fields[statState], "ZX") {
		return true
	}
	flags, err := strconv.ParseUint(string(fields[statFlags]), 10, 64)
	if err != nil || flags&kernelThread != 0 {
		return true
	}
	// The kernel sets the address of the code last. Before that, both ends of the environment may be equal although the
	// new program has one.
	code, begin, end := string(fields[statCode]), string(fields[statEnvironmentBegin]), string(fields[statEnvironmentEnd])
	return code != "0" && begin == end
}
