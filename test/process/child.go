package process

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/fermata-hq/fermata/test/patience"
)

// Child is a running process of the program.
type Child struct {
	tb   testing.TB
	cmd  *exec.Cmd
	name string

	mu    sync.Mutex
	lines []string
	// begun is a line that has no end yet.
	begun string
	// ended is closed when the process is gone and err is set.
	ended chan struct{}
	err   error
}

// Start starts the program with the arguments. Whatever the test does, the
// process ends with it; its log is shown when the test fails.
func Start(tb testing.TB, binary string, env []string, args ...string) *Child {
	tb.Helper()
	c := &Child{tb: tb, name: strings.Join(args[:min(1, len(args))], " "), ended: make(chan struct{})}
	c.cmd = exec.Command(binary, args...) //nolint:noctx // it ends by a signal that the test chooses
	home := tb.TempDir()
	c.cmd.Env = append(clean(os.Environ()), "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home)
	c.cmd.Env = append(c.cmd.Env, env...)
	pipe, err := NewPipe(c)
	if err != nil {
		tb.Fatal(err)
	}
	c.cmd.Stdout, c.cmd.Stderr = pipe.File, pipe.File
	if err := c.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		c.err = c.cmd.Wait()
		pipe.End()
		close(c.ended)
	}()
	tb.Cleanup(func() {
		c.Kill()
		if tb.Failed() {
			tb.Logf("%s %d wrote:\n%s", c.name, c.PID(), c.tail(60))
		}
	})
	return c
}

// Write stores output line by line. A reader that sees the first line of a write sees all its lines.
func (c *Child) Write(data []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := strings.Split(c.begun+string(data), "\n")
	c.begun = lines[len(lines)-1]
	c.lines = append(c.lines, lines[:len(lines)-1]...)
	return len(data), nil
}

// written returns the lines, and the one that has only begun.
func (c *Child) written() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := slices.Clone(c.lines)
	if c.begun != "" {
		lines = append(lines, c.begun)
	}
	return lines
}

// clean drops variables that would configure the program behind a test's back.
func clean(env []string) []string {
	var kept []string
	for _, v := range env {
		if !strings.HasPrefix(v, "FERMATA_") {
			kept = append(kept, v)
		}
	}
	return kept
}

// PID returns the number of the process.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Kill is kill -9, and waits until the process is gone.
func (c *Child) Kill() {
	_ = c.cmd.Process.Kill()
	<-c.ended
}

// Signal sends the process a signal.
func (c *Child) Signal(s syscall.Signal) {
	c.tb.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.tb.Fatal(err)
	}
}

// Freeze stops the process until a SIGCONT, and waits until each of its threads stands still. The signal alone is not enough: on a busy
// machine threads run on after it was sent, long enough for a commit.
func (c *Child) Freeze() {
	c.tb.Helper()
	c.Signal(syscall.SIGSTOP)
	patience.Await(c.tb, c.name+" stands still", func() bool { return standsStill(c.PID()) })
}

// Stop is SIGTERM, waits until the process is gone, and fails the test when
// that takes long or is not clean.
func (c *Child) Stop() {
	c.tb.Helper()
	c.Signal(syscall.SIGTERM)
	if err := c.Wait(); err != nil {
		c.tb.Errorf("%s did not end well: %v\n%s", c.name, err, c.tail(20))
	}
}

// HasEnded reports whether the process is gone.
func (c *Child) HasEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// Wait waits until the process has ended and returns how. It ends the test when the process runs on.
func (c *Child) Wait() error {
	c.tb.Helper()
	patience.Receive(c.tb, c.name+" ends", c.ended)
	return c.err
}

// line returns what follows the prefix in a line of the output, and false when
// there is none yet.
func (c *Child) line(prefix string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, line := range c.lines {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
			return rest, true
		}
	}
	return "", false
}

// Output returns what the process wrote till now.
func (c *Child) Output() string { return strings.Join(c.written(), "\n") }

func (c *Child) tail(n int) string {
	lines := c.written()
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// Wrote reports whether a line of the output holds the text.
func (c *Child) Wrote(text string) bool { return strings.Contains(c.Output(), text) }
