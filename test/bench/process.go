package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// process is a server that the bench started.
type process struct {
	cmd *exec.Cmd
	url string
	// firstToken gets the first admin's token, on an empty database.
	firstToken chan string
	ended      chan error
}

// serve starts the real server on a database.
func (b *bench) serve(ctx context.Context, d *database, more ...string) (*process, error) {
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--log-level", "warn"}, append(d.flags(), more...)...)
	if b.profile != "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		return launch(ctx, self, profiledCommand, b.profile, d.kind, d.folder, d.url, d.keyFile())
	}
	return launch(ctx, b.program, args...)
}

// runOnEach runs a part on every kind of database, each time with an empty database and its own server.
func (b *bench) runOnEach(ctx context.Context, name string, part func(d *database, server *process) error) error {
	for _, kind := range b.kinds {
		if err := b.runOn(ctx, kind, name+"_"+kind, part); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) runOn(ctx context.Context, kind, name string, part func(d *database, server *process) error) (err error) {
	d, err := b.newDatabase(ctx, kind, name)
	if err != nil {
		return err
	}
	server, err := b.serve(ctx, d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop(), d.drop(ctx)) }()
	return part(d, server)
}

// startTimeout is how long a server may take to report its address.
const startTimeout = 20 * time.Second

// launch starts a program that reports its address on standard error, and waits for the report.
func launch(ctx context.Context, program string, args ...string) (*process, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 15 * time.Second
	output, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, firstToken: make(chan string, 1), ended: make(chan error, 1)}
	url := make(chan string, 1)
	go func() {
		p.listen(output, url)
		p.ended <- cmd.Wait()
	}()
	select {
	case p.url = <-url:
		return p, nil
	case err := <-p.ended:
		return nil, fmt.Errorf("the server ended at once: %w", err)
	case <-time.After(startTimeout):
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("the server did not say within %s where it serves", startTimeout)
	}
}

// listen reads the address and the first token from the server's output, and passes its warnings on.
func (p *process) listen(output io.Reader, url chan<- string) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		_, rest, serves := strings.Cut(line, "serves on ")
		switch {
		case serves:
			address, _, _ := strings.Cut(rest, " ")
			url <- address
		case strings.HasPrefix(line, "fmt_"):
			p.firstToken <- line
		case strings.Contains(line, "level=") || strings.HasPrefix(line, "fermata:"):
			fmt.Fprintln(os.Stderr, line)
		}
	}
}

// stop ends the server as an operator does, and returns when it has ended.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-p.ended:
		return err
	case <-time.After(20 * time.Second):
		_ = p.cmd.Process.Kill()
		return fmt.Errorf("the server did not stop: %w", <-p.ended)
	}
}

// memory returns the resident memory of the process in bytes.
func (p *process) memory() int64 {
	var kilobytes int64
	_, _ = fmt.Sscan(field(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid), "VmRSS"), &kilobytes)
	return kilobytes << 10
}

// tick is the kernel's unit of CPU time for programs (USER_HZ).
const tick = 10 * time.Millisecond

// cpuTime returns the CPU time of the process.
func (p *process) cpuTime() (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	// The fields follow the name in parentheses. User and system time are fields 14 and 15.
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/stat has %d fields", len(fields))
	}
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		return 0, err
	}
	return time.Duration(user+system) * tick, nil
}

// filesNeeded is how many open files the streams need in each process.
const filesNeeded = 8192

// raiseFileLimit allows this process, and the processes that it starts, many connections.
func raiseFileLimit() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if limit.Cur >= filesNeeded {
		return nil
	}
	limit.Cur = max(limit.Cur, min(filesNeeded, limit.Max))
	if limit.Cur < filesNeeded {
		limit.Cur, limit.Max = filesNeeded, filesNeeded
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("raise the limit of open files to %d (ulimit -n): %w", filesNeeded, err)
	}
	return nil
}
