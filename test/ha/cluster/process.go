//go:build linux

package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	// restartAfter is how long a process that ended by itself is left alone, as systemd does with Restart=always.
	restartAfter = time.Second
	// stopWithin is how long a process may take to end after SIGTERM.
	stopWithin = 30 * time.Second
)

// Process is a program that is started again whenever it ends by itself.
type Process struct {
	Name string

	program string
	args    []string
	env     []string
	logFile string
	// namespace is the file of the network namespace that it runs in, or empty for the one of this process.
	namespace string
	// owner is the user that it runs as, or nil for the user of this process.
	owner *syscall.Credential

	mu      sync.Mutex
	running *exec.Cmd
	// stop is closed when the process must not be started again. ended is closed when that is so, and it has ended.
	stop, ended chan struct{}
}

// Start starts the process, unless it is started already. It returns an error if the program cannot be executed.
func (p *Process) Start() error {
	p.mu.Lock()
	if p.ended != nil {
		p.mu.Unlock()
		return nil
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	p.stop, p.ended = stop, ended
	p.mu.Unlock()
	started := make(chan error, 1)
	go p.supervise(stop, ended, started)
	if err := <-started; err != nil {
		p.halt(syscall.SIGTERM)
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	return nil
}

// supervise runs the program until stop is closed, and reports whether the first start succeeded.
func (p *Process) supervise(stop, ended chan struct{}, started chan<- error) {
	defer close(ended)
	// The system tells a process that its parent died when the thread ends that started it.
	runtime.LockOSThread()
	if p.namespace != "" {
		// The thread is not used for anything else: it ends with this goroutine.
		if err := enterNamespace(p.namespace); err != nil {
			started <- err
			return
		}
	}
	for {
		cmd, err := p.launch(stop)
		if started != nil {
			started <- err
			started = nil
		}
		if err == nil && cmd != nil {
			_ = cmd.Wait()
		}
		p.mu.Lock()
		p.running = nil
		p.mu.Unlock()
		select {
		case <-stop:
			return
		case <-time.After(restartAfter):
		}
	}
}

// launch starts the program once. It returns nil if the process must not run any more.
func (p *Process) launch(stop chan struct{}) (*exec.Cmd, error) {
	output, err := os.OpenFile(p.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644) //nolint:gosec // other users may read it
	if err != nil {
		return nil, err
	}
	defer func() { _ = output.Close() }()
	cmd := exec.Command(p.program, p.args...) //nolint:noctx // it ends by a signal
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "/", p.env, output, output
	// A group of its own keeps the interrupt of the terminal away from it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM, Credential: p.owner}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-stop:
		return nil, nil //nolint:nilnil // there is neither a process nor an error
	default:
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.running = cmd
	return cmd, nil
}

// PID returns the process id, or 0 if the process does not run at the moment.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil {
		return 0
	}
	return p.running.Process.Pid
}

// Signal sends a signal. A process that is not running gets none.
func (p *Process) Signal(signal syscall.Signal) {
	if pid := p.PID(); pid != 0 {
		_ = syscall.Kill(pid, signal)
	}
}

// Crash kills the process. It starts again by itself.
func (p *Process) Crash() { p.Signal(syscall.SIGKILL) }

// Kill kills the process and waits until it has ended. It stays down until Start.
func (p *Process) Kill() { p.halt(syscall.SIGKILL) }

// Stop asks the process to end, and waits for it. It stays down until Start. Stop returns an error if the process has
// to be killed.
func (p *Process) Stop() error {
	if !p.halt(syscall.SIGTERM) {
		return errors.New(p.Name + " did not end after SIGTERM and was killed")
	}
	return nil
}

// halt ends the process for good, and reports whether the signal was enough.
func (p *Process) halt(signal syscall.Signal) bool {
	p.mu.Lock()
	stop, ended := p.stop, p.ended
	if ended == nil {
		p.mu.Unlock()
		return true
	}
	select {
	case <-stop:
	default:
		close(stop)
	}
	p.mu.Unlock()
	p.Signal(signal)
	enough := true
	select {
	case <-ended:
	case <-time.After(stopWithin):
		enough = false
		p.Signal(syscall.SIGKILL)
		<-ended
	}
	p.mu.Lock()
	p.stop, p.ended = nil, nil
	p.mu.Unlock()
	return enough
}

// Freeze stops the process until Thaw.
func (p *Process) Freeze() { p.Signal(syscall.SIGSTOP) }

// Thaw lets a frozen process go on.
func (p *Process) Thaw() { p.Signal(syscall.SIGCONT) }
