package stories

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"time"

	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// program is a program that runs beside the story.
type program struct {
	cmd         *exec.Cmd
	out, errors *output
	ended       chan struct{}
}

// launch starts a program. Its standard error also goes to log.
func launch(cmd *exec.Cmd, log io.Writer) (*program, error) {
	p := &program{cmd: cmd, out: newOutput(nil), errors: newOutput(log), ended: make(chan struct{})}
	out, err := process.NewPipe(p.out)
	if err != nil {
		return nil, err
	}
	failures, err := process.NewPipe(p.errors)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = out.File, failures.File
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		// ProcessState has the way in which it ended.
		_ = cmd.Wait()
		out.End()
		failures.End()
		close(p.ended)
		p.out.close()
		p.errors.close()
	}()
	return p, nil
}

// finish sends a signal and waits for the end. It returns the exit code.
func (p *program) finish(signal os.Signal) (int, error) {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return 0, err
	}
	return p.wait()
}

// wait waits for the end and returns the exit code, or -1 after a signal.
func (p *program) wait() (int, error) {
	late := time.NewTimer(patience.Limit())
	defer late.Stop()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-late.C:
		_ = p.cmd.Process.Signal(syscall.SIGKILL)
		return 0, errors.New("it does not end")
	}
}

// running reports whether the process has not ended.
func (p *program) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// output stores the output of a program and signals when there is more.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
	log  io.Writer
	done bool
}

func newOutput(log io.Writer) *output { return &output{more: make(chan struct{}), log: log} }

func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.log != nil {
		if _, err := o.log.Write(data); err != nil {
			return 0, err
		}
	}
	close(o.more)
	o.more = make(chan struct{})
	return o.text.Write(data)
}

func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done = true
	close(o.more)
	o.more = make(chan struct{})
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// match waits until the output matches, and returns the submatches. It returns nil if the output ends without a match,
// or if it takes too long.
func (o *output) match(pattern *regexp.Regexp) []string {
	late := time.NewTimer(patience.Limit())
	defer late.Stop()
	for {
		o.mu.Lock()
		found, more, done := pattern.FindStringSubmatch(o.text.String()), o.more, o.done
		o.mu.Unlock()
		if found != nil || done {
			return found
		}
		select {
		case <-more:
		case <-late.C:
			return nil
		}
	}
}
