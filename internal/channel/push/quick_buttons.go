package push

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// quickButtons returns the buttons that decide, and the text that the person must see to decide. There are none unless
// the risk is low and the notification can show the whole text exactly.
func quickButtons(n *notice.Notice, words *words) (buttons []action, shown string) {
	q := n.Question
	if !n.Decide || q.Status != fermata.Pending || q.Risk != fermata.RiskLow || q.HeldAnswer != nil || len(q.Items) != 1 || !isOnePressEnough(q) {
		return nil, ""
	}
	buttons = buttonsOf(&q.Items[0], words)
	shown, whole := decisionText(q)
	if !whole {
		return nil, ""
	}
	return buttons, shown
}

// isOnePressEnough reports whether one press of one signed-in person is enough.
func isOnePressEnough(q *fermata.Question) bool {
	return (q.Approvals == nil || q.Approvals.Required <= 1) && q.LeastAssurance != fermata.AssurancePasskey
}

func buttonsOf(it *fermata.Item, words *words) []action {
	for _, option := range it.Options {
		if option.Danger {
			return nil
		}
	}
	switch it.ResponseType {
	case fermata.ResponseApproval:
		return []action{{"approve", words.approve, fermata.Approve}, {"reject", words.reject, fermata.Reject}}
	case fermata.ResponseBoolean:
		return []action{{"yes", words.yes, true}, {"no", words.no, false}}
	default:
		return nil
	}
}

// decisionText returns the text that the person decides on, besides the title. whole reports whether the notification can
// show all of it.
func decisionText(q *fermata.Question) (text string, whole bool) {
	if q.Context != nil && (q.Context.Preview != nil || q.Context.Error != "" || q.Context.Text != "") {
		return "", false
	}
	var parts []string
	if prompt := q.Items[0].Prompt; prompt != q.Title {
		parts = append(parts, prompt)
	}
	if len(q.Action) > 0 {
		// An action that was redacted is not the action that will run.
		sum := sha256.Sum256(q.Action)
		if hex.EncodeToString(sum[:]) != q.ActionHash {
			return "", false
		}
		parts = append(parts, string(q.Action))
	} else if q.Body != "" {
		parts = append(parts, q.Body)
	}
	text = strings.Join(parts, "\n")
	for _, part := range append(parts, q.Title) {
		if plainText(part) != part {
			return "", false
		}
	}
	return text, utf8.RuneCountInString(text) <= longestBody && utf8.RuneCountInString(q.Title) <= longestTitle
}
