package mcpserver

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
)

// Backend is the part of Fermata that the tools use, in the name of one caller.
type Backend interface {
	asker
	gatekeeper
	threads
	// Name returns a text that differs between callers.
	Name() string
	// IsPerson reports whether the caller has a person's token that may answer.
	// Only then may an answer come through the agent's own client.
	IsPerson(ctx context.Context) bool
	// Answer answers a question. It refuses an agent.
	Answer(ctx context.Context, id string, a fermata.Answer) (*fermata.Question, error)
}

// asker asks questions and reads their state.
type asker interface {
	// Ask asks a question in a task.
	Ask(ctx context.Context, taskID string, a fermata.Ask) (*fermata.Question, error)
	// AskOutside asks a question outside any given task. All questions of one
	// session share a task.
	AskOutside(ctx context.Context, project, session string, a fermata.Ask) (*fermata.Question, error)
	// Question returns a question.
	Question(ctx context.Context, id string) (*fermata.Question, error)
	// WaitQuestion returns a question as soon as it is closed. If the wait ends first, it returns the question with its
	// current state.
	WaitQuestion(ctx context.Context, id string, wait time.Duration) (*fermata.Question, error)
	// WaitQuestionOrMessage waits like WaitQuestion. It also returns when a person wrote a
	// message that the agent of an external task was not handed yet.
	WaitQuestionOrMessage(ctx context.Context, id string, wait time.Duration) (*fermata.Question, error)
	// PlannedDeliveries returns the deliveries of a question as soon as they are planned
	// or the wait ends.
	PlannedDeliveries(ctx context.Context, id string, wait time.Duration) ([]*fermata.Delivery, error)
	// CancelQuestion withdraws a question.
	CancelQuestion(ctx context.Context, id, reason string) (*fermata.Question, error)
}

// gatekeeper decides about tool calls.
type gatekeeper interface {
	// Gate decides whether a tool call may run.
	Gate(ctx context.Context, call fermata.GateCall) (*fermata.GateReply, error)
}

// threads reads and writes the thread of a task.
type threads interface {
	// CreateTask creates a task, or returns the one of its session.
	CreateTask(ctx context.Context, n fermata.NewTask) (*fermata.Task, error)
	// ResumeContext returns the answers and messages that reached a task since its
	// last run.
	ResumeContext(ctx context.Context, taskID string) (*fermata.ResumeContext, error)
	// HandMessages records that the agent of an external task was handed
	// messages.
	HandMessages(ctx context.Context, taskID string, ids []string) error
	// ReportProgress reports an update that asks for nothing.
	ReportProgress(ctx context.Context, taskID string, p fermata.Progress) error
}
