package mcpserver

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
)

// Desk is what the tools need of Fermata, in the name of one caller.
type Desk interface {
	asker
	gatekeeper
	threads
	// Name tells callers apart.
	Name() string
	// Person reports whether the caller showed a person's token that may
	// answer. Only then is an answer taken through the agent's own client.
	Person(ctx context.Context) bool
	// Answer answers a question; an agent is refused.
	Answer(ctx context.Context, id string, a fermata.Answer) (*fermata.Question, error)
}

// asker asks questions and follows them.
type asker interface {
	// Ask asks a question in a task.
	Ask(ctx context.Context, taskID string, a fermata.Ask) (*fermata.Question, error)
	// AskOutside asks outside any task; questions of one session share one.
	AskOutside(ctx context.Context, project, session string, a fermata.Ask) (*fermata.Question, error)
	// Question reads a question.
	Question(ctx context.Context, id string) (*fermata.Question, error)
	// WaitQuestion reads a question as soon as it is closed, or as it is when
	// the wait is over.
	WaitQuestion(ctx context.Context, id string, wait time.Duration) (*fermata.Question, error)
	// WaitWords is WaitQuestion, and returns also when a person wrote something that the
	// agent of an external task was not handed.
	WaitWords(ctx context.Context, id string, wait time.Duration) (*fermata.Question, error)
	// Planned lists what is sent for a question, as soon as that is planned or
	// the wait is over.
	Planned(ctx context.Context, id string, wait time.Duration) ([]*fermata.Delivery, error)
	// CancelQuestion withdraws a question.
	CancelQuestion(ctx context.Context, id, reason string) (*fermata.Question, error)
}

// gatekeeper decides about tool calls.
type gatekeeper interface {
	// Gate decides whether a tool call may run.
	Gate(ctx context.Context, call fermata.GateCall) (*fermata.GateVerdict, error)
}

// threads reads and writes what goes on in a task.
type threads interface {
	// CreateTask makes a task, or joins the one of its session.
	CreateTask(ctx context.Context, n fermata.NewTask) (*fermata.Task, error)
	// Context tells what reached a task since its last run.
	Context(ctx context.Context, taskID string) (*fermata.ResumeContext, error)
	// HandMessages notes that the agent of an external task was handed messages.
	HandMessages(ctx context.Context, taskID string, ids []string) error
	// Progress reports an update that asks for nothing.
	Progress(ctx context.Context, taskID string, p fermata.Progress) error
}
