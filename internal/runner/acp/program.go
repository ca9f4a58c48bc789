package acp

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/process"
)

// program is the agent while it runs.
type program struct {
	// stdin is the pipe to the program. wire takes the program's output.
	stdin  *os.File
	wire   *wire
	stderr agent.Tail
	stop   context.CancelFunc
	// ended is closed when no process of the program is left. state and err are set before that.
	ended chan struct{}
	state *os.ProcessState
	err   error
}

// launch starts the program in a goroutine of its own. The program reads from stdin; stdinEnd is the end for writing to
// it.
func launch(ctx context.Context, p process.Program, w *wire, log io.Writer, stdin, stdinEnd *os.File) *program {
	// The program outlives ctx for as long as it takes to stop it.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	a := &program{stdin: stdinEnd, wire: w, stderr: agent.NewTail(log), stop: stop, ended: make(chan struct{})}
	p.Stdin, p.Stdout, p.Stderr = stdin, w, a.stderr
	go func() {
		a.state, a.err = p.Run(ctx)
		w.close()
		close(a.ended)
		// This also ends a write that has no reader.
		stdin.Close()    //nolint:errcheck // a pipe
		stdinEnd.Close() //nolint:errcheck // a pipe
	}()
	return a
}

// endGracefully gives the program the timeout to end by itself. After that, or when hurry is closed, it ends the
// program with all processes that the program started.
func (a *program) endGracefully(timeout time.Duration, hurry <-chan struct{}) {
	a.stdin.Close() //nolint:errcheck // a pipe
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-a.ended:
	case <-hurry:
	case <-timer.C:
	}
	a.stop()
	<-a.ended
}

// lastLines returns the end of the program's error output.
func (a *program) lastLines() string { return a.stderr.LastLines() }
