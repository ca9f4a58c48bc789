package mcp

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata/internal/process"
)

// exitTimeout is how long a program may take to exit after its input ended.
const exitTimeout = 2 * time.Second

// program is an MCP server that this process started.
type program struct {
	stdin  *os.File
	stdout *io.PipeReader
	errs   outputTail
	kill   context.CancelFunc
	// ended is closed when the program has exited. startErr is the reason if
	// it could not be started.
	ended    chan struct{}
	startErr error
}

// startProgram starts a program. The program lives until stop, not until ctx ends,
// because later callers use it, too.
func startProgram(ctx context.Context, argv, env []string) (*program, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, in := io.Pipe()
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	p := &program{stdin: write, stdout: out, kill: kill, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		_, p.startErr = process.Program{
			Argv: argv, Env: env, Stdin: read, Stdout: tolerantWriter{in}, Stderr: &p.errs, Grace: exitTimeout,
		}.Run(life)
		_ = read.Close()
		_ = in.Close()
	}()
	return p, nil
}

// transport returns the transport over the program's input and output.
func (p *program) transport() mcp.Transport {
	return &mcp.IOTransport{Reader: p.stdout, Writer: p.stdin}
}

// stop ends the program. It first closes the input, and after exitTimeout asks the
// program to exit, and then kills it.
func (p *program) stop() {
	if p == nil {
		return
	}
	_ = p.stdin.Close()
	_ = p.stdout.Close()
	timer := time.NewTimer(exitTimeout)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
	}
	p.kill()
	<-p.ended
}

// stopReason stops the program and returns the reason why it cannot be reached.
func (p *program) stopReason(err error) string {
	p.stop()
	if p.startErr != nil {
		return p.startErr.Error()
	}
	if said := p.errs.String(); said != "" {
		return clipError(err.Error()) + "; it said: " + said
	}
	return clipError(err.Error())
}

// tolerantWriter is a writer that never fails, so that a program does not fail
// when nobody reads its output.
type tolerantWriter struct{ out io.Writer }

// Write implements [io.Writer].
func (w tolerantWriter) Write(b []byte) (int, error) {
	_, _ = w.out.Write(b)
	return len(b), nil
}

// outputTail keeps the end of a program's error output.
type outputTail struct {
	mu   sync.Mutex
	tail []byte
}

// Write implements [io.Writer].
func (l *outputTail) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail = append(l.tail, b...)
	l.tail = l.tail[max(0, len(l.tail)-maxErrorText):]
	return len(b), nil
}

// String returns the kept output as text.
func (l *outputTail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.ReplaceAll(strings.ToValidUTF8(string(l.tail), "\uFFFD"), "\x00", "\uFFFD")
	return strings.TrimSpace(text)
}
