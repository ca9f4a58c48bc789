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
	// partialLine is the beginning of a line that has no end yet.
	partialLine string
	// ended is closed when the process has ended. err is set before that.
	ended chan struct{}
	err   error
}

// Start starts the program with the arguments. Whatever the test does, the process ends with the test. If the test
// fails, the log of the process is shown.
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
	lines := strings.Split(c.partialLine+string(data), "\n")
	c.partialLine = lines[len(lines)-1]
	c.lines = append(c.lines, lines[:len(lines)-1]...)
	return len(data), nil
}

// writtenLines returns the lines, including a line that has no end yet.
func (c *Child) writtenLines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := slices.Clone(c.lines)
	if c.partialLine != "" {
		lines = append(lines, c.partialLine)
	}
	return lines
}

// clean drops variables that would configure the program without the test's knowledge.
func clean(env []string) []string {
	var kept []string
	for _, v := range env {
		if !strings.HasPrefix(v, "FERMATA_") {
			kept = append(kept, v)
		}
	}
	return kept
}

// PID returns the process id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Kill kills the process with SIGKILL, and waits until it has ended.
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

// Freeze stops the process until a SIGCONT, and waits until each of its threads is stopped. The signal alone is not
// enough: on a busy machine, threads run on after it was sent, long enough for a commit.
func (c *Child) Freeze() {
	c.tb.Helper()
	c.Signal(syscall.SIGSTOP)
	patience.Await(c.tb, c.name+" stands still", func() bool { return isFrozen(c.PID()) })
}

// Stop sends SIGTERM and waits until the process has ended. The test fails if that takes long or is not clean.
func (c *Child) Stop() {
	c.tb.Helper()
	c.Signal(syscall.SIGTERM)
	if err := c.Wait(); err != nil {
		c.tb.Errorf("%s did not end well: %v\n%s", c.name, err, c.tail(20))
	}
}

// HasEnded reports whether the process has ended.
func (c *Child) HasEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// Wait waits until the process has ended and returns its error. The test fails if the process does not end in time.
func (c *Child) Wait() error {
	c.tb.Helper()
	patience.Receive(c.tb, c.name+" ends", c.ended)
	return c.err
}

// findLine returns the text after the prefix in a line of the output, and false if there is no such line yet.
func (c *Child) findLine(prefix string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, line := range c.lines {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
			return rest, true
		}
	}
	return "", false
}

// Output returns the output of the process so far.
func (c *Child) Output() string { return strings.Join(c.writtenLines(), "\n") }

func (c *Child) tail(n int) string {
	lines := c.writtenLines()
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// HasWritten reports whether a line of the output contains the text.
func (c *Child) HasWritten(text string) bool { return strings.Contains(c.Output(), text) }
