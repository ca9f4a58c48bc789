package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// endsWithin is how long a process may take to end that was told to.
const endsWithin = 30 * time.Second

// Child is a running process of the program.
type Child struct {
	tb   testing.TB
	cmd  *exec.Cmd
	name string

	mu    sync.Mutex
	lines []string
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
	read, write, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	c.cmd.Stdout, c.cmd.Stderr = write, write
	if err := c.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	_ = write.Close()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		defer func() { _ = read.Close() }()
		c.read(read)
	}()
	go func() {
		c.err = c.cmd.Wait()
		// What the process started may hold the pipe open: do not wait for that.
		select {
		case <-drained:
		case <-time.After(100 * time.Millisecond):
		}
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

// read keeps the output, line by line. What was written at once is there at once, so that
// who sees its first line sees all of it.
func (c *Child) read(from io.Reader) {
	buffer, begun := make([]byte, 64<<10), ""
	for {
		n, err := from.Read(buffer)
		lines := strings.Split(begun+string(buffer[:n]), "\n")
		begun = lines[len(lines)-1]
		c.mu.Lock()
		c.lines = append(c.lines, lines[:len(lines)-1]...)
		if err != nil && begun != "" {
			c.lines = append(c.lines, begun)
		}
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
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

// Stop is SIGTERM, waits until the process is gone, and fails the test when
// that takes long or is not clean.
func (c *Child) Stop() {
	c.tb.Helper()
	c.Signal(syscall.SIGTERM)
	if err := c.Wait(endsWithin); err != nil {
		c.tb.Errorf("%s did not end well: %v\n%s", c.name, err, c.tail(20))
	}
}

// Wait waits until the process has ended and returns how.
func (c *Child) Wait(within time.Duration) error {
	select {
	case <-c.ended:
		return c.err
	case <-time.After(within):
		return fmt.Errorf("it runs on after %s", within)
	}
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
func (c *Child) Output() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.lines, "\n")
}

func (c *Child) tail(n int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.lines[max(0, len(c.lines)-n):], "\n")
}

// Wrote reports whether a line of the output holds the text.
func (c *Child) Wrote(text string) bool { return strings.Contains(c.Output(), text) }
