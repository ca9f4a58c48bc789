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

// endTime is how long a program may take to exit after its input ended.
const endTime = 2 * time.Second

// program is an MCP server that this process started.
type program struct {
	stdin  *os.File
	stdout *io.PipeReader
	errs   lastWords
	kill   context.CancelFunc
	// ended is closed when the program has exited. failed is the reason if it
	// could not be started.
	ended  chan struct{}
	failed error
}

// start starts a program. The program lives until stop, not until ctx ends,
// because later callers use it, too.
func start(ctx context.Context, argv, env []string) (*program, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, in := io.Pipe()
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	p := &program{stdin: write, stdout: out, kill: kill, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		_, p.failed = process.Program{
			Argv: argv, Env: env, Stdin: read, Stdout: patient{in}, Stderr: &p.errs, Grace: endTime,
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

// stop ends the program. It first closes the input, and after endTime asks the
// program to exit, and then kills it.
func (p *program) stop() {
	if p == nil {
		return
	}
	_ = p.stdin.Close()
	_ = p.stdout.Close()
	timer := time.NewTimer(endTime)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
	}
	p.kill()
	<-p.ended
}

// words stops the program and returns the reason why it cannot be reached.
func (p *program) words(err error) string {
	p.stop()
	if p.failed != nil {
		return p.failed.Error()
	}
	if said := p.errs.String(); said != "" {
		return clip(err.Error()) + "; it said: " + said
	}
	return clip(err.Error())
}

// patient is a writer that never fails, so that a program can write after
// nobody reads its output.
type patient struct{ to io.Writer }

// Write implements [io.Writer].
func (w patient) Write(b []byte) (int, error) {
	_, _ = w.to.Write(b)
	return len(b), nil
}

// lastWords keeps the end of a program's error output.
type lastWords struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements [io.Writer].
func (l *lastWords) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, b...)
	l.kept = l.kept[max(0, len(l.kept)-longestWords):]
	return len(b), nil
}

// String returns the kept output as text.
func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.ReplaceAll(strings.ToValidUTF8(string(l.kept), "\uFFFD"), "\x00", "\uFFFD")
	return strings.TrimSpace(text)
}
