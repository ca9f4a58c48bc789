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
	// stdin is where it is written to; wire carries what it writes.
	stdin *os.File
	wire  *wire
	errs  agent.Tail
	stop  context.CancelFunc
	// ended is closed when nothing of the program is left; state and err are set then.
	ended chan struct{}
	state *os.ProcessState
	err   error
}

// launch starts the program in a goroutine of its own. The reader is its end.
func launch(ctx context.Context, p process.Program, w *wire, log io.Writer, stdin, stdinEnd *os.File) *program {
	// The program outlives ctx by the time that it takes to stop it gently.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	a := &program{stdin: stdinEnd, wire: w, errs: agent.NewTail(log), stop: stop, ended: make(chan struct{})}
	p.Stdin, p.Stdout, p.Stderr = stdin, w, a.errs
	go func() {
		a.state, a.err = p.Run(ctx)
		w.close()
		close(a.ended)
		// A write that nobody reads any more ends as well.
		stdin.Close()    //nolint:errcheck // a pipe
		stdinEnd.Close() //nolint:errcheck // a pipe
	}()
	return a
}

// leave lets the program end by itself for a while, and then ends it with all
// that it started; at once when there is a hurry.
func (a *program) leave(patience time.Duration, hurry <-chan struct{}) {
	a.stdin.Close() //nolint:errcheck // a pipe
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-a.ended:
	case <-hurry:
	case <-timer.C:
	}
	a.stop()
	<-a.ended
}

// words are why the program ended.
func (a *program) words() string { return a.errs.Words() }
