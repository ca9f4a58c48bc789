package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// userQuestions is the tool with which Claude Code asks at the desk.
const userQuestions = "AskUserQuestion"

// mirrorQuestions puts what Claude Code asks at the desk into the inbox as
// well. An answer there is given to Claude Code as the person's own; without
// one in time the dialog at the desk decides.
func (h *gateHook) mirrorQuestions(ctx context.Context) error {
	var asked struct {
		Questions []fermata.UserQuestion `json:"questions"`
	}
	if err := json.Unmarshal(h.in.Input, &asked); err != nil || len(asked.Questions) == 0 {
		return fmt.Errorf("the questions cannot be read")
	}
	key := deskCall + rand.Text()
	q, err := h.server.AskOutside(ctx, client.Outside{
		Session: h.runner + ":" + h.in.SessionID,
		Ask:     fermata.Ask{Questions: asked.Questions, Metadata: map[string]string{fermata.GateCallKey: key}},
	})
	if err != nil {
		return err
	}
	id := q.ID
	if q, err = h.server.WaitQuestion(ctx, id, h.Wait); err != nil || q.Status == fermata.Pending {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), gateWithin)
		defer cancel()
		if _, lost := h.server.CancelQuestion(late, id, "left to the dialog at the desk"); err == nil {
			err = lost
		}
		return err
	}
	if q.Status != fermata.Answered {
		return nil
	}
	input, err := withAnswers(h.in.Input, q)
	if err != nil {
		return err
	}
	return h.say(h.permit(&fermata.GateVerdict{Decision: fermata.GateAllow, Input: input}))
}

// withAnswers adds the answers to the questions, by the text of each, as
// Claude Code reads them.
func withAnswers(input json.RawMessage, q *fermata.Question) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(input, &fields); err != nil {
		return nil, err
	}
	answers := map[string]string{}
	for i := range q.Items {
		switch v := q.Resolution.Answers[q.Items[i].Key].(type) {
		case nil:
		case []any:
			parts := make([]string, 0, len(v))
			for _, part := range v {
				parts = append(parts, fmt.Sprint(part))
			}
			answers[q.Items[i].Prompt] = strings.Join(parts, ", ")
		default:
			answers[q.Items[i].Prompt] = fmt.Sprint(v)
		}
	}
	data, err := json.Marshal(answers)
	if err != nil {
		return nil, err
	}
	fields["answers"] = data
	return json.Marshal(fields)
}
