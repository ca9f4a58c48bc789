package render

import (
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// MessageReceiptText returns what happens with a message to an agent, or "" if the message is for no agent.
func MessageReceiptText(m *fermata.Message) string {
	switch m.Handoff {
	case fermata.HandoffHanded:
		if m.HandedAt == nil {
			return "handed to " + m.HandedTo
		}
		return fmt.Sprintf("handed to %s at %s", m.HandedTo, m.HandedAt.UTC().Format("2006-01-02 15:04:05Z"))
	case fermata.HandoffWaits:
		return "waits: the agent is handed it at its next contact, or by the next run"
	case fermata.HandoffPaused:
		return "the task is paused: the agent is handed this when somebody resumes it: fermata resume " + terminal.ShortID(m.TaskID)
	case fermata.HandoffEnded:
		return "the task has ended: no agent reads this until it is reopened: fermata reopen " + terminal.ShortID(m.TaskID)
	case fermata.HandoffMaker:
		return "the creator of the task reads its thread; no worker is handed this"
	case fermata.HandoffUnread:
		return "a workflow reads no messages: write to the task of its step"
	default:
		return ""
	}
}
