package hook

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/agent"
)

// askUserQuestionTool is the name of the tool with which Claude Code asks at the
// desk.
const askUserQuestionTool = "AskUserQuestion"

// mirrorQuestions also puts the questions of Claude Code at the desk into the
// inbox. Claude Code gets an answer from the inbox as the person's own. If none
// comes in time, the dialog at the desk decides.
func (h *gateHook) mirrorQuestions(ctx context.Context) error {
	var asked struct {
		Questions []fermata.UserQuestion `json:"questions"`
	}
	if err := json.Unmarshal(h.event.Input, &asked); err != nil || len(asked.Questions) == 0 {
		return fmt.Errorf("the questions cannot be read")
	}
	key := deskCallPrefix + rand.Text()
	q, err := h.server.AskOutside(ctx, client.OutsideQuestion{
		Session: h.runner + ":" + h.event.SessionID,
		Ask:     fermata.Ask{Questions: asked.Questions, Metadata: map[string]string{fermata.GateCallKey: key}},
	})
	if err != nil {
		return err
	}
	h.recordTask(q.TaskID)
	id := q.ID
	if q, err = h.server.WaitQuestion(ctx, id, h.Wait); err != nil || q.Status == fermata.Pending {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), gateTimeout)
		defer cancel()
		if _, withdrawErr := h.server.CancelQuestion(late, id, "left to the dialog at the desk"); err == nil {
			err = withdrawErr
		}
		return err
	}
	if q.Status != fermata.Answered {
		return nil
	}
	input, err := agent.AddUserAnswers(h.event.Input, q)
	if err != nil {
		return err
	}
	return h.writeReply(h.permissionReply(&fermata.GateReply{Decision: fermata.GateAllow, Input: input}))
}
