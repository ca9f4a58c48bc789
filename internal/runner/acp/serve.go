package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/fermata-hq/fermata"
)

// serve answers the agent's requests. The only service on offer is asking people.
func (c *conversation) serve(ctx context.Context, method string, params json.RawMessage) (any, *acp.RequestError) {
	c.mu.Lock()
	turn := c.turn
	c.mu.Unlock()
	if turn == nil {
		return nil, acp.NewInvalidRequest(map[string]string{"error": "there is no turn under way"})
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(turn, stop)() //nolint:contextcheck // the request ends with either
	switch method {
	case acp.ClientMethodSessionRequestPermission:
		var p permission
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, acp.NewInvalidParams(map[string]string{"error": err.Error()})
		}
		return map[string]any{"outcome": c.answerPermission(ctx, &p)}, nil
	case acp.ClientMethodElicitationCreate:
		var e elicitation
		if err := json.Unmarshal(params, &e); err != nil {
			return nil, acp.NewInvalidParams(map[string]string{"error": err.Error()})
		}
		return c.elicit(ctx, &e), nil
	default:
		return nil, acp.NewMethodNotFound(method)
	}
}

// awaitTurnToAsk waits until no other request asks. It reports whether the turn still lasts. Until the caller calls
// end, an answer does not interrupt the agent unless a message comes with it.
func (c *conversation) awaitTurnToAsk(ctx context.Context) (end func(), ok bool) {
	select {
	case <-c.askToken:
		endRequest := c.mail.beginRequest()
		end = func() {
			endRequest()
			c.askToken <- struct{}{}
		}
		if ctx.Err() != nil {
			end()
			return nil, false
		}
		return end, true
	case <-ctx.Done():
		return nil, false
	}
}

// awaitAnswer waits for the answer as long as the agent is kept alive for it. It returns nil if the answer is left to
// another run, or if the turn has ended.
func (c *conversation) awaitAnswer(ctx context.Context, id string, deadline time.Time) (*fermata.Question, error) {
	c.mail.addAwaited(id)
	q, err := c.r.opts.Asker.WaitQuestion(ctx, id, max(0, time.Until(deadline)))
	switch {
	case ctx.Err() != nil:
		return nil, nil //nolint:nilerr // a turn that is over wants no answer
	case err != nil:
		return nil, fmt.Errorf("wait for %s: %w", id, err)
	case q.Status == fermata.Pending:
		c.logf("nobody answered %s (%s) so far: the agent stops, and a later run goes on with the answer.", q.ID, q.Title)
		c.suspend(ctx, id)
		return nil, nil
	default:
		c.mail.recordHasMore(q)
		return q, nil
	}
}

// suspend stops the agent until a question is answered. If the agent forgets cancelled turns, it gets no reply: its
// program ends first.
func (c *conversation) suspend(ctx context.Context, id string) {
	select {
	case c.askedQuestion <- id:
	default:
	}
	if c.forgetsCancelled {
		<-ctx.Done()
	}
}

// deadline returns the time until which the agent is kept alive for an answer.
func (c *conversation) deadline() time.Time { return time.Now().Add(c.r.opts.Wait) }
