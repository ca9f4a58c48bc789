package cli

import (
	"fmt"

	"github.com/fermata-hq/fermata"
)

// messageReceiptText returns what happens with a message to an agent, or "" if the message is for no agent.
func messageReceiptText(m *fermata.Message) string {
	switch m.Handoff {
	case fermata.HandoffHanded:
		if m.HandedAt == nil {
			return "handed to " + m.HandedTo
		}
		return fmt.Sprintf("handed to %s at %s", m.HandedTo, m.HandedAt.UTC().Format("2006-01-02 15:04:05Z"))
	case fermata.HandoffWaits:
		return "waits: the agent is handed it at its next contact, or by the next run"
	case fermata.HandoffPaused:
		return "the task is paused: the agent is handed this when somebody resumes it: fermata resume " + shortID(m.TaskID)
	case fermata.HandoffEnded:
		return "the task has ended: no agent reads this until it is reopened: fermata reopen " + shortID(m.TaskID)
	case fermata.HandoffMaker:
		return "whoever made the task reads its thread; no worker is handed this"
	case fermata.HandoffUnread:
		return "a workflow reads no messages: write to the task of its step"
	default:
		return ""
	}
}

// printMessageReceipt prints what happens with a new message if no agent gets it soon.
func (s *session) printMessageReceipt(m *fermata.Message) {
	switch m.Handoff {
	case fermata.HandoffPaused, fermata.HandoffEnded, fermata.HandoffUnread, fermata.HandoffMaker:
		s.stderr().line("%s", messageReceiptText(m))
	default:
		// An agent or a person gets the message.
	}
}
