//go:build linux

package cluster

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// postgresTree returns the ids of the processes of PostgreSQL on a database machine, the postmaster first. Patroni
// starts it in a session of its own, so it is no child of Patroni when Patroni dies.
func (m *Machine) postgresTree() []int {
	text, err := os.ReadFile(filepath.Join(m.data, "postgres", "postmaster.pid"))
	if err != nil {
		return nil
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || !isPostgres(pid) {
		return nil
	}
	return append([]int{pid}, childrenOf(pid)...)
}

// isPostgres reports whether a process is a PostgreSQL. After a crash, another program may have the id in the file.
func isPostgres(pid int) bool {
	name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
	return err == nil && strings.TrimSpace(string(name)) == "postgres"
}

// childrenOf returns the ids of the children of a process.
func childrenOf(pid int) []int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var children []int
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		// The name in parentheses may contain anything. The state and the parent follow it.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) < 2 || fields[1] != strconv.Itoa(pid) {
			continue
		}
		if child, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			children = append(children, child)
		}
	}
	return children
}

// signalPostgres sends a signal to every process of PostgreSQL. The postmaster is first, so that it starts no more.
func (m *Machine) signalPostgres(signal syscall.Signal) {
	for range 2 {
		for _, pid := range m.postgresTree() {
			_ = syscall.Kill(pid, signal)
		}
	}
}

// FreezeReceiver freezes the process of a standby that receives from the leader, so that the standby falls behind until
// PostgreSQL is killed there. It reports whether there was one.
func (m *Machine) FreezeReceiver() bool {
	found := false
	for _, pid := range m.postgresTree() {
		title, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
		if err == nil && strings.Contains(string(title), "walreceiver") {
			found = syscall.Kill(pid, syscall.SIGSTOP) == nil
		}
	}
	return found
}
