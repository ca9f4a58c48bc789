package mcpserver_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
)

// forms returns client options that fill in forms as a person would. Each form
// that was shown is sent to shown.
func forms(shown chan *mcp.ElicitParams, reply *mcp.ElicitResult) *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		shown <- r.Params
		return reply, nil
	}}
}

// TestAnAgentCannotAnswerThroughItsClient checks that the client of an agent
// does not even get the form.
func TestAnAgentCannotAnswerThroughItsClient(t *testing.T) {
	t.Parallel()
	overTransports(t, func(w *world, connect connect) {
		shown := make(chan *mcp.ElicitParams, 10)
		a := connect(w.agent, forms(shown, &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "yes"}}))
		r := a.must("ask_user", `{"question":"A?","wait_seconds":1}`)
		a.equalJSON([]any{"pending", 0}, []any{r.Status, len(shown)})
	})
}

func TestAPersonAnswersThroughTheClient(t *testing.T) {
	t.Parallel()
	overTransports(t, func(w *world, connect connect) {
		shown := make(chan *mcp.ElicitParams, 10)
		a := connect(w.human, forms(shown, &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "b"}}))
		r := a.must("ask_user", `{"question":"Which?","options":["a","b"],"other":false,"wait_seconds":60}`)
		a.equalJSON([]any{"answered", "b", "ann", "mcp", 1}, []any{r.Status, r.Answer, r.AnsweredBy, r.Channel, len(shown)})
		data, err := json.Marshal(patience.Receive(a, "the form is shown", shown).RequestedSchema)
		a.OK(err)
		a.equalJSON(`{"properties":{"answer":{"enum":["a","b"],"title":"Which?","type":"string"}},"required":["answer"],"type":"object"}`, string(data))
		// A call without a wait shows no form, and an approval never shows one.
		a.must("ask_user", `{"question":"Which?","idempotency_key":"k"}`)
		a.must("cancel_question", `{"question_id":"`+a.last().ID+`"}`)
		a.must("request_approval", `{"command":"rm","wait_seconds":1}`)
		a.equalJSON(0, len(shown))
	})
}

func TestDismissingTheFormIsNoAnswer(t *testing.T) {
	t.Parallel()
	overTransports(t, func(w *world, connect connect) {
		shown := make(chan *mcp.ElicitParams, 10)
		a := connect(w.human, forms(shown, &mcp.ElicitResult{Action: "decline"}))
		r := a.must("ask_user", `{"question":"A?","wait_seconds":1}`)
		a.equalJSON([]any{"pending", 1}, []any{r.Status, len(shown)})
		a.equalJSON(fermata.Pending, a.question(r.QuestionID).Status)
	})
}

func (w *world) last() *fermata.Question {
	w.Helper()
	list, _, err := w.Engine.Questions(w.Context(), w.person, pendingOnly)
	w.OK(err)
	if len(list) == 0 {
		w.Fatal("no pending question")
	}
	return list[0]
}
