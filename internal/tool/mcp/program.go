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

// endTime is how long a program may take to end when its input does.
const endTime = 2 * time.Second

// program is a server that was started here.
type program struct {
	stdin  *os.File
	stdout *io.PipeReader
	errs   lastWords
	kill   context.CancelFunc
	// ended is closed when it is gone; failed is why it could not be started.
	ended  chan struct{}
	failed error
}

// start starts a program. It lives until it is stopped: ctx is that of the one
// who asked first, and others use it later.
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

// transport talks with the program over its input and output.
func (p *program) transport() mcp.Transport {
	return &mcp.IOTransport{Reader: p.stdout, Writer: p.stdin}
}

// stop ends the program: its input ends, then it is told to, then it is made to.
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

// words say why there is no talking with the program.
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

// patient takes output that nobody reads any more.
type patient struct{ to io.Writer }

// Write implements [io.Writer].
func (w patient) Write(b []byte) (int, error) {
	_, _ = w.to.Write(b)
	return len(b), nil
}

// lastWords keeps the end of what a program says on its error output.
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

// String returns it as text.
func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.ReplaceAll(strings.ToValidUTF8(string(l.kept), "\uFFFD"), "\x00", "\uFFFD")
	return strings.TrimSpace(text)
}
