package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
)

// maxWaitSeconds limits how long a call may wait. Clients usually give up
// earlier.
const maxWaitSeconds = 600

func parseWait(seconds int) (time.Duration, error) {
	if seconds < 0 || seconds > maxWaitSeconds {
		return 0, fermata.Invalid(fermata.Problem{
			Field: "wait_seconds", Message: fmt.Sprintf("must be from 0 to %d", maxWaitSeconds),
		}).WithHint("wait again with check_answer, or leave it out and end your turn: the question stays, however long it takes")
	}
	return time.Duration(seconds) * time.Second, nil
}

// wait waits until the question is closed or the wait ends. If a person sits at
// the client, the question is shown there, too. In newer protocol versions, the
// result is then the form for the client to show.
func (s *Server) wait(ctx context.Context, c *call, q *fermata.Question, wait time.Duration) (*fermata.Question, *mcp.CallToolResult, error) {
	if wait <= 0 || q.Status != fermata.Pending {
		return q, nil, nil
	}
	if form := c.elicitForm(ctx, q); form != nil {
		if c.ProtocolVersion() >= formsInResultsVersion {
			return s.waitWithForm(ctx, c, q, form, wait)
		}
		waiting, stop := context.WithCancel(ctx)
		defer stop()
		go s.showForm(waiting, c, q, form)
	}
	q, err := s.waitQuietly(ctx, c, q, wait)
	return q, nil, err
}

// waitQuietly waits, and sends progress so that the client sees that the call
// is alive. The question stays as it is if the call ends early.
func (s *Server) waitQuietly(ctx context.Context, c *call, q *fermata.Question, wait time.Duration) (*fermata.Question, error) {
	if wait <= 0 || q.Status != fermata.Pending {
		return q, nil
	}
	waiting, stop := contextUntilStop(ctx, s.Stopping, 0)
	defer stop()
	go s.sendProgress(waiting, c, q)
	next, err := c.backend.WaitQuestionOrMessage(waiting, q.ID, wait)
	if err != nil && ctx.Err() == nil && waiting.Err() != nil {
		// The server is stopping. The question stays open.
		return c.backend.Question(ctx, q.ID)
	}
	return next, err
}

// contextUntilStop returns a context that ends with ctx, or after the given time
// once the server has begun to stop.
func contextUntilStop(ctx context.Context, stopping <-chan struct{}, after time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-stopping:
		case <-ctx.Done():
			return
		}
		timer := time.NewTimer(after)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// sendProgress sends a progress notification at once and then regularly, because
// some clients give up silent calls.
func (s *Server) sendProgress(ctx context.Context, c *call, q *fermata.Question) {
	token := c.Params.GetProgressToken()
	if token == nil {
		return
	}
	start := time.Now()
	tick := time.NewTicker(s.ProgressEvery)
	defer tick.Stop()
	for {
		err := c.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: time.Since(start).Seconds(), Message: "waiting for a person: " + q.Title,
		})
		if err != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
