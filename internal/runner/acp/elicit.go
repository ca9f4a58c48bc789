package acp

import (
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
)

// elicitation is a form that the agent wants people to fill in.
type elicitation struct {
	Mode    string          `json:"mode"`
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"requestedSchema"`
}

// reply is the reply to the agent: accept with the content, decline or cancel.
type reply struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content,omitempty"`
}

// cancelReply means that there is no answer. The agent also gets it after a timeout, because no person declined.
var cancelReply = reply{Action: "cancel"}

// elicitationState is the state of a question that came from an elicitation. It comes back with the answer.
type elicitationState struct {
	Elicitation string `json:"acp_elicitation"`
}

// elicitationDigest returns the digest of the elicitation that a question came from, or "" for other questions.
func elicitationDigest(state json.RawMessage) string {
	var m elicitationState
	if len(state) == 0 || json.Unmarshal(state, &m) != nil {
		return ""
	}
	return m.Elicitation
}

// elicit asks people to fill in the form.
func (c *conversation) elicit(ctx context.Context, e *elicitation) reply {
	if e.Mode != "" && e.Mode != "form" {
		return reply{Action: "decline"}
	}
	end, ok := c.awaitTurnToAsk(ctx)
	if !ok {
		return cancelReply
	}
	defer end()
	f, err := readForm(e)
	if err != nil {
		c.logf("the agent asks in a way that nobody can answer: %v", err)
		return cancelReply
	}
	digest := fermata.Digest([]string{e.Message, string(e.Schema)})
	if r := c.mail.takeAnswer(digest); r != nil {
		return f.reply(r)
	}
	if c.r.opts.Asker == nil {
		c.logf("nobody can be asked: %s", e.Message)
		return cancelReply
	}
	return c.fillIn(ctx, f, digest)
}

// fillIn asks the question and waits for the answer.
func (c *conversation) fillIn(ctx context.Context, f *form, digest string) reply {
	ask := f.question()
	ask.DedupeKey, ask.RunID = "acp:"+digest, c.claim.Run.ID
	if state, err := json.Marshal(elicitationState{digest}); err == nil {
		ask.State = state
	}
	q, err := c.r.opts.Asker.Ask(ctx, c.claim.Task.ID, ask)
	if err == nil {
		c.logf("asks (%s): %s", q.ID, q.Title)
		q, err = c.awaitAnswer(ctx, q.ID, c.deadline())
	}
	switch {
	case ctx.Err() != nil:
		return cancelReply
	case fermata.CodeOf(err) == fermata.CodePendingQuestionExists:
		c.logf("this question has to wait: %v", err)
		c.suspend(ctx, "another question")
		return cancelReply
	case err != nil:
		c.logf("nobody could be asked: %v", err)
		return cancelReply
	case q == nil:
		return cancelReply
	}
	c.mail.markAnswered(q.ID)
	return f.reply(q.Resolution)
}
