package process

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// DefaultGrace is how long a program may take to stop.
const DefaultGrace = 10 * time.Second

// After the program has ended, a process that left its process group may keep its output open. The output is read until
// none comes for drainTime, and for maxDrain at most.
const (
	drainTime = 3 * time.Second
	maxDrain  = 30 * time.Second
)

// Program is a program to run, with all processes that it starts.
type Program struct {
	// Argv is the program and its arguments. Env is its whole environment.
	Argv, Env []string
	// Dir is the working directory. Folder, if not empty, holds files that the program shares with its caller.
	Dir, Folder string
	// Stdin is the standard input. nil means no input.
	Stdin *os.File
	// Stdout and Stderr take the output. They must not fail.
	Stdout, Stderr io.Writer
	// Grace is how long the program may take to stop. 0 means [DefaultGrace].
	Grace time.Duration
	// Life, if not nil, may end while the program is stopping because ctx of Run ended. The cause of either can shorten
	// the grace.
	Life context.Context //nolint:containedctx // it is watched beside the one of the call
	// OnEnded, if not nil, is called once the program itself has ended.
	OnEnded func()
}

// Run runs the program until it and all processes that it started have ended, and all output was passed on. When ctx
// ends, the process group gets SIGTERM, and SIGKILL after the grace. A [Halt] as the cause shortens the grace. On
// Linux, processes that left the group are killed as well. The program dies with this process. The processes that it
// started die if the watchdog is enabled: see [EnableWatchdog] and [KillMarked]. If ctx comes from [WithSandbox], the
// program runs in that sandbox. The error says why the program could not be started.
func (p Program) Run(ctx context.Context) (*os.ProcessState, error) {
	argv := p.Argv
	if s := sandboxOf(ctx); s != nil {
		lockFile, err := makeLockFile(p)
		if err != nil {
			return nil, err
		}
		argv = s.command(p, lockFile)
	}
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // the whole group is stopped, and gently first
	mark := nextMark()
	cmd.Dir, cmd.Env = p.Dir, append(slices.Clip(p.Env), MarkEnv+"="+mark)
	if p.Stdin != nil {
		cmd.Stdin = p.Stdin
	}
	setOwnGroup(cmd)
	// The thread that starts the program must not end before it: see dieWithParent.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var err error
	stdout, stderr := &output{to: p.Stdout}, &output{to: p.Stderr}
	defer stdout.close()
	defer stderr.close()
	for _, o := range []struct {
		out  *output
		into *io.Writer
	}{{stdout, &cmd.Stdout}, {stderr, &cmd.Stderr}} {
		if *o.into, err = o.out.open(); err != nil {
			return nil, err
		}
	}
	ensureWatchdog()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	endWatching := watchProgram(cmd.Process.Pid)
	stdout.copy()
	stderr.copy()
	p.await(ctx, cmd)
	if p.OnEnded != nil {
		p.OnEnded()
	}
	killProgram(mark, cmd.Process.Pid)
	endWatching()
	stdout.drain()
	stderr.drain()
	return cmd.ProcessState, nil
}

// await waits for the program and stops it when ctx ends. Then it kills the processes that are left in the group.
func (p Program) await(ctx context.Context, cmd *exec.Cmd) {
	ended := make(chan struct{})
	go func() {
		cmd.Wait() //nolint:errcheck // the state says how it ended
		close(ended)
	}()
	defer killGroup(cmd)
	select {
	case <-ended:
		return
	case <-ctx.Done():
		stopGroup(cmd)
	}
	p.awaitStop(ctx, ended)
	killGroup(cmd)
	<-ended
}

// output carries one stream of a program.
type output struct {
	to io.Writer
	// drainDeadline is when draining ends at the latest. It is nil while the program runs.
	drainDeadline atomic.Pointer[time.Time]
	read, write   *os.File
	copied        chan struct{}
}

func (o *output) open() (io.Writer, error) {
	var err error
	o.read, o.write, err = os.Pipe()
	return o.write, err
}

// copy passes the stream on until every process has closed it.
func (o *output) copy() {
	o.write.Close() //nolint:errcheck // the program has its own
	o.write = nil
	o.copied = make(chan struct{})
	go func() {
		io.Copy(o, o.read) //nolint:errcheck // ends with the stream
		close(o.copied)
	}()
}

// Write passes a piece on. While draining, each piece extends the time for the next one.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	o.extend()
	return n, err
}

// extend extends the time for draining, up to its last instant.
func (o *output) extend() {
	if last := o.drainDeadline.Load(); last != nil {
		next := time.Now().Add(drainTime)
		if next.After(*last) {
			next = *last
		}
		o.read.SetReadDeadline(next) //nolint:errcheck // a pipe has deadlines
	}
}

// drain waits for the end of the stream, for maxDrain at most.
func (o *output) drain() {
	last := time.Now().Add(maxDrain)
	o.drainDeadline.Store(&last)
	o.extend()
	<-o.copied
}

func (o *output) close() {
	for _, file := range []*os.File{o.read, o.write} {
		if file != nil {
			file.Close() //nolint:errcheck // a pipe
		}
	}
}
