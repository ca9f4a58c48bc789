package process

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
)

// watched is what this process tells its watchdog.
var watched struct {
	mu      sync.Mutex
	enabled bool
	// leaders are the programs that are running.
	leaders map[int]bool
	// pipe leads to the watchdog; nil if there is none.
	pipe io.WriteCloser
}

// EnableWatchdog makes [Program.Run] start a watchdog of this process. If this process is killed, the watchdog kills its
// programs with all processes that they started. The main function must call [RunWatchdog] for the command line of a
// watchdog.
func EnableWatchdog() {
	watched.mu.Lock()
	defer watched.mu.Unlock()
	watched.enabled, watched.leaders = true, map[int]bool{}
}

// ensureWatchdog starts a watchdog if it is enabled and none is running. Call it before a program starts, because a
// watchdog finds most processes by their mark. If no watchdog can be started, the program runs all the same: the next
// worker with the same folder ends what is left.
func ensureWatchdog() {
	watched.mu.Lock()
	defer watched.mu.Unlock()
	if !watched.enabled || watched.pipe != nil {
		return
	}
	pipe, err := startWatchdog()
	if err != nil {
		return
	}
	watched.pipe = pipe
	for running := range watched.leaders {
		tellWatchdog(programStarted, running)
	}
}

// watchProgram tells the watchdog of a running program. When the returned function is called, the program has ended.
func watchProgram(leader int) (end func()) {
	watched.mu.Lock()
	defer watched.mu.Unlock()
	if !watched.enabled {
		return func() {}
	}
	watched.leaders[leader] = true
	tellWatchdog(programStarted, leader)
	return func() {
		watched.mu.Lock()
		defer watched.mu.Unlock()
		delete(watched.leaders, leader)
		tellWatchdog(programEnded, leader)
	}
}

// tellWatchdog writes a line to the watchdog. If the watchdog is gone, the next program starts another one.
func tellWatchdog(sign string, leader int) {
	if watched.pipe == nil {
		return
	}
	if _, err := io.WriteString(watched.pipe, sign+strconv.Itoa(leader)+"\n"); err != nil {
		watched.pipe.Close() //nolint:errcheck // a pipe to a process that is gone
		watched.pipe = nil
	}
}

// startWatchdog starts a watchdog and returns the pipe to it. The watchdog is in a session of its own, so that a signal to
// the group of this process does not reach it. It gets no environment, because other processes of the user could read it.
func startWatchdog() (io.WriteCloser, error) {
	cmd := exec.Command("/proc/self/exe") //nolint:noctx // it must outlive this process
	cmd.Args = []string{os.Args[0], watchdogCommand, Mark}
	cmd.Dir, cmd.Env = "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go cmd.Wait() //nolint:errcheck // only so that no zombie is left
	return pipe, nil
}
