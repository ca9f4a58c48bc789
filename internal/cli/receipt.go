package cli

import (
	"fmt"

	"github.com/fermata-hq/fermata"
)

// receiptText returns what happens with a message to an agent, or "" if the message is for no agent.
func receiptText(m *fermata.Message) string {
	switch m.Receipt {
	case fermata.ReceiptHanded:
		if m.HandedAt == nil {
			return "handed to " + m.HandedTo
		}
		return fmt.Sprintf("handed to %s at %s", m.HandedTo, m.HandedAt.UTC().Format("2006-01-02 15:04:05Z"))
	case fermata.ReceiptWaits:
		return "waits: the agent is handed it at its next contact, or by the next run"
	case fermata.ReceiptPaused:
		return "the task is paused: the agent is handed this when somebody resumes it: fermata resume " + shortID(m.TaskID)
	case fermata.ReceiptEnded:
		return "the task has ended: no agent reads this until it is reopened: fermata reopen " + shortID(m.TaskID)
	case fermata.ReceiptMaker:
		return "whoever made the task reads its thread; no worker is handed this"
	case fermata.ReceiptUnread:
		return "a workflow reads no messages: write to the task of its step"
	default:
		return ""
	}
}

// printFate prints what happens with a new message if no agent gets it soon.
func (s *session) printFate(m *fermata.Message) {
	switch m.Receipt {
	case fermata.ReceiptPaused, fermata.ReceiptEnded, fermata.ReceiptUnread, fermata.ReceiptMaker:
		s.talk().line("%s", receiptText(m))
	default:
		// An agent or a person gets the message.
	}
}
