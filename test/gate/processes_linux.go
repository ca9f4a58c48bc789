package main

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// endTimeout is how long a process may take to end by itself after its group has ended.
	endTimeout   = 5 * time.Second
	pollInterval = 50 * time.Millisecond
)

// adoptOrphans makes the gate the parent of every descendant whose own parent ends (prctl(2), PR_SET_CHILD_SUBREAPER).
func adoptOrphans() (*processes, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("adopt orphans: %w", err)
	}
	p := &processes{own: map[int]bool{}}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	go func() {
		for range ended {
			p.reap()
		}
	}()
	return p, nil
}

// reap collects adopted processes that have ended.
func (p *processes) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for pid, s := range readStats() {
		if s.parent == os.Getpid() && s.state == "Z" && !p.own[pid] {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// endAll waits for all descendants except PostgreSQL, kills those that do not end, and describes what it killed.
func (p *processes) endAll(postgres *postgres) []string {
	spared := postgres.pids()
	left := p.waitForEnd(spared, endTimeout)
	var described []string
	for pid := range left {
		described = append(described, describe(pid))
	}
	for len(left) > 0 {
		for pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		left = p.waitForEnd(spared, endTimeout)
	}
	return described
}

// waitForEnd waits until no descendant is left. It returns those that still run after the given time.
func (p *processes) waitForEnd(spared map[int]bool, timeout time.Duration) map[int]bool {
	for end := time.Now().Add(timeout); ; time.Sleep(pollInterval) {
		p.reap()
		if left := descendants(spared); len(left) == 0 || time.Now().After(end) {
			return left
		}
	}
}

// descendants returns the running descendants of the gate, except the spared processes and their descendants.
func descendants(spared map[int]bool) map[int]bool {
	children := map[int][]int{}
	for pid, s := range readStats() {
		if s.state != "Z" {
			children[s.parent] = append(children[s.parent], pid)
		}
	}
	found, parents := map[int]bool{}, []int{os.Getpid()}
	for len(parents) > 0 {
		parent := parents[0]
		parents = parents[1:]
		for _, pid := range children[parent] {
			if !spared[pid] {
				found[pid] = true
				parents = append(parents, pid)
			}
		}
	}
	return found
}

type stat struct {
	state  string
	parent int
}

// readStats reads /proc/PID/stat of every process (proc_pid_stat(5)). A process that ends meanwhile is left out.
func readStats() map[int]stat {
	stats := map[int]stat{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		// The name of the program is in parentheses and may contain any character.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if len(fields) > 1 {
			parent, _ := strconv.Atoi(fields[1])
			stats[pid] = stat{state: fields[0], parent: parent}
		}
	}
	return stats
}

// describe returns the number and the command line of a process.
func describe(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	line := shorten(strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " ")), 200)
	folder, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		return fmt.Sprintf("%d %s", pid, line)
	}
	return fmt.Sprintf("%d %s (in %s)", pid, line, folder)
}
