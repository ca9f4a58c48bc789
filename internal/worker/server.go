package worker

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// Server is the part of the client that a worker needs.
type Server interface {
	Claim(ctx context.Context, r fermata.ClaimRequest) (*fermata.Claim, error)
	StopClaiming(ctx context.Context, r fermata.ClaimRequest) error
	Heartbeat(ctx context.Context, runID string, h fermata.Heartbeat) (*fermata.HeartbeatReply, error)
	Attention(ctx context.Context, r fermata.AttentionRequest) (*fermata.Attention, error)
	AppendLog(ctx context.Context, runID string, token int64, text string) (int64, error)
	ReportRunProgress(ctx context.Context, runID string, p fermata.Progress) error
	Finish(ctx context.Context, runID string, f fermata.Finish) (*fermata.FinishReply, error)
	Release(ctx context.Context, runID string, token int64) (*fermata.Task, error)
	Task(ctx context.Context, id string) (*fermata.Task, error)
	Questions(ctx context.Context, q client.QuestionQuery) ([]*fermata.Question, string, error)
	Messages(ctx context.Context, taskID, cursor string, limit int) ([]*fermata.Message, string, error)
}

// isStale reports whether the server refused a call because the task went on without this run.
func isStale(err error) bool {
	switch fermata.CodeOf(err) {
	case fermata.CodeStaleRun, fermata.CodeNotFound, fermata.CodeIllegalTransition:
		return true
	default:
		return false
	}
}

// isFinal reports whether a retry cannot help.
func isFinal(err error) bool {
	switch fermata.CodeOf(err) {
	case fermata.CodeInvalidRequest, fermata.CodeUnauthenticated, fermata.CodeForbidden:
		return true
	default:
		return false
	}
}
