package mcpserver

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
)

// Desk is what the tools need of Fermata, in the name of one caller.
type Desk interface {
	// Ask asks a question in a task.
	Ask(ctx context.Context, taskID string, a fermata.Ask) (*fermata.Question, error)
	// AskOutside asks outside any task; questions of one session share one.
	AskOutside(ctx context.Context, project, session string, a fermata.Ask) (*fermata.Question, error)
	// Question reads a question.
	Question(ctx context.Context, id string) (*fermata.Question, error)
	// WaitQuestion reads a question as soon as it is closed, or as it is when
	// the wait is over.
	WaitQuestion(ctx context.Context, id string, wait time.Duration) (*fermata.Question, error)
	// CancelQuestion withdraws a question.
	CancelQuestion(ctx context.Context, id, reason string) (*fermata.Question, error)
}
