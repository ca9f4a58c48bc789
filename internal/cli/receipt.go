package cli

import (
	"fmt"

	"github.com/fermata-hq/fermata"
)

// receiptText says what becomes of a message to an agent; "" for one that is for none.
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

// printFate says what becomes of a message that was just written, where nobody hears it for now.
func (s *session) printFate(m *fermata.Message) {
	switch m.Receipt {
	case fermata.ReceiptPaused, fermata.ReceiptEnded, fermata.ReceiptUnread, fermata.ReceiptMaker:
		s.talk().line("%s", receiptText(m))
	default:
		// It reaches somebody.
	}
}
