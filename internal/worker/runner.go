package worker

import (
	"context"
	"errors"
	"io"

	"github.com/fermata-hq/fermata"
)

// Runner drives one kind of agent. One Runner serves many runs at the same time.
//
// The packages of runners import only the root, so they name the same types as here: each repeats [RunHandle] as an alias,
// and its tests assert that its type is a Runner.
type Runner interface {
	// Name is the value of a task's field runner, and the name under which the worker claims tasks for it.
	Name() string
	// Run starts the agent in handle.Dir(), and hands over the task and the resume context. It returns when the agent and
	// all programs that it started have ended.
	//
	// The returned Finish is the report of the agent; the worker fills in the token. An empty result means that the
	// agent ended well without a report: it completed, or it waits for a question that it asked by the API. The session
	// is what the next run needs to resume the conversation.
	//
	// An agent that failed is a result, not an error. An error means that the agent could not be run, or that ctx
	// ended. In that case, the agent is asked to stop and is killed after a grace, which a process.Halt as the cause
	// may shorten. The error wraps context.Cause(ctx). The worker then reads only the details of the Finish: they hold what
	// a command has printed so far.
	Run(ctx context.Context, claim *fermata.Claim, handle RunHandle) (fermata.Finish, error)
}

// RunHandle is the worker's side of a run. All its methods may be used concurrently, and none waits long for the server. It
// is an alias, so that the packages of runners can name it without importing the worker.
type RunHandle = interface {
	// Dir returns the working directory, an absolute path.
	Dir() string
	// Log returns the writer for the output of the agent: any bytes, in any pieces. It never fails.
	Log() io.Writer
	// Progress reports how far the agent is.
	Progress(p fermata.Progress)
	// Inbox delivers the messages and answers of people while the agent runs. A runner hands them to the agent at the
	// next chance, or interrupts the agent for them.
	Inbox() <-chan *fermata.ResumeContext
	// KeepSession records the agent's session as soon as it is known, so that it can be resumed even if this worker
	// dies.
	KeepSession(s fermata.Session)
}

// A runner may find further methods on its [RunHandle]. It checks for them by asserting an interface of its own:
//
//	// History returns all questions, answers and messages of people, for an agent
//	// whose conversation is lost.
//	History(ctx context.Context) (*fermata.ResumeContext, error)
//	// MarkTold records that the agent was told something: the context of the claim, as
//	// soon as the agent has it, or a context from the inbox. Everything that was never
//	// passed to MarkTold is handed to the next run.
//	MarkTold(rc *fermata.ResumeContext)

// Causes for which the context of a run ends.
var (
	// ErrStale means that the task went on without this run: it was cancelled, or another run took it over.
	ErrStale = errors.New("the run is over: the task went on without it")
	// ErrPaused means that a person paused the task, and may open its session.
	ErrPaused = errors.New("a person paused the task")
	// ErrCutOff means that the lease could not be renewed in time.
	ErrCutOff = errors.New("the server could not be reached before the lease ended")
	// ErrStopping means that the worker shuts down.
	ErrStopping = errors.New("the worker stops")
	// ErrTimeout means that the run took longer than it may.
	ErrTimeout = errors.New("the run took too long")
)
