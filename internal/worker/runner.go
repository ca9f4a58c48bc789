package worker

import (
	"context"
	"errors"
	"io"

	"github.com/fermata-hq/fermata"
)

// Runner drives one kind of agent. One Runner serves many runs at the same
// time.
//
// Its rooms import the root only, so they name the same types as here: a room
// repeats [Desk] as an alias, and a test asserts that it is a Runner.
type Runner interface {
	// Name is what tasks call it in their field runner, and what it is claimed by.
	Name() string
	// Run starts the agent in desk.Dir(), hands over the task and the resume
	// context, and returns when the agent and everything it started has ended.
	//
	// The returned Finish is what the agent reported; its token is filled in by
	// the worker. An empty result means that the agent ended well without a
	// word: it completed, or it waits for a question that it asked by the API.
	// Its session is what the next run needs to resume the conversation.
	//
	// An agent that failed is a result, not an error. An error means that
	// the agent could not be run, or that ctx ended: the agent is then asked to
	// stop, killed after a grace – a process.Halt as the cause may shorten it –, and
	// the error wraps context.Cause(ctx).
	Run(ctx context.Context, claim *fermata.Claim, desk Desk) (fermata.Finish, error)
}

// Desk is the worker's side of a run. All of it may be used concurrently, and
// nothing of it waits for long on the server. It is an alias, so that rooms of
// runners can name it without importing the worker.
type Desk = interface {
	// Dir is the working directory, an absolute path.
	Dir() string
	// Log takes the output of the agent: any bytes, in any pieces. It never fails.
	Log() io.Writer
	// Progress reports how far the agent is.
	Progress(p fermata.Progress)
	// Inbox delivers what people wrote or answered while the agent runs. A
	// runner hands it to the agent at the next chance, or interrupts the agent for it.
	Inbox() <-chan *fermata.ResumeContext
	// KeepSession records the agent's session as soon as it is known, so that
	// it can be resumed even if this worker dies.
	KeepSession(s fermata.Session)
}

// Beyond the [Desk], a runner may find these on it; it looks for them by
// asserting an interface of its own:
//
//	// History returns all that people were asked, answered and wrote, for an
//	// agent whose conversation is lost.
//	History(ctx context.Context) (*fermata.ResumeContext, error)
//	// Heard says that the agent was told of something: what the claim brought, as soon
//	// as the agent has it, or what came by the inbox. What a runner never calls it for
//	// is handed to the next run.
//	Heard(rc *fermata.ResumeContext)

// Causes for which the context of a run ends.
var (
	// ErrStale says that the task went on without this run: it was cancelled,
	// or another run took it over.
	ErrStale = errors.New("the run is over: the task went on without it")
	// ErrPaused says that a person halted the task, and may open its session.
	ErrPaused = errors.New("a person paused the task")
	// ErrCutOff says that the lease could not be renewed in time.
	ErrCutOff = errors.New("the server could not be reached before the lease ended")
	// ErrStopping says that the worker shuts down.
	ErrStopping = errors.New("the worker stops")
	// ErrTimeout says that the run took longer than it may.
	ErrTimeout = errors.New("the run took too long")
)
