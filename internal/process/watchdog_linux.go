package process

import (
	"bufio"
	"io"
	"os/signal"
	"syscall"
)

// The system ends a program together with the process that started it, but not the processes that the program started.
// A watchdog ends these. It is a second process of the same executable, which reads from a pipe until the first one is
// gone.

// watchdogCommand is the argument that makes the executable a watchdog. The mark of the watched process follows it.
const watchdogCommand = "watch-programs"

// watchdogArgs is the length of the command line of a watchdog.
const watchdogArgs = 3

// Each line that a watchdog reads is one of these signs and the process id of a program.
const (
	programStarted = "+"
	programEnded   = "-"
)

// IsWatchdog reports whether the command line args starts a watchdog.
func IsWatchdog(args []string) bool { return len(args) == watchdogArgs && args[1] == watchdogCommand }

// RunWatchdog is the whole work of a watchdog. It waits until the watched process is gone, and kills what is left of
// its programs.
func RunWatchdog(args []string, input io.Reader) {
	// A signal to all processes of a service must not end the watchdog before the process that it watches.
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	leaders := map[string]bool{}
	for lines := bufio.NewScanner(input); lines.Scan(); {
		line := lines.Text()
		if pid := line[min(1, len(line)):]; line == programStarted+pid {
			leaders[pid] = true
		} else {
			delete(leaders, pid)
		}
	}
	killPrograms(args[watchdogArgs-1], leaders)
}
