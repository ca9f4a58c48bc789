package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/agent"
)

// userQuestions is the name of the tool with which Claude Code asks at the
// desk.
const userQuestions = "AskUserQuestion"

// mirrorQuestions also puts the questions of Claude Code at the desk into the
// inbox. Claude Code gets an answer from the inbox as the person's own. If none
// comes in time, the dialog at the desk decides.
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
	h.works(q.TaskID)
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
	input, err := agent.UserAnswers(h.in.Input, q)
	if err != nil {
		return err
	}
	return h.say(h.permit(&fermata.GateVerdict{Decision: fermata.GateAllow, Input: input}))
}
