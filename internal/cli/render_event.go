package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
)

// shownEventKeys lists the keys of an event's data that a line shows, in this order.
var shownEventKeys = []string{"workflow", "trigger", "step", "state", "error", "repository", "issue", "label", "title", "task_title", "project", "risk", "items", "approvals", "votes", "required", "from", "to", "reason", "value", "answers", "outcome", "message", "summary", "result", "worker", "name", "handle", "comment"}

// printEventLine writes an event on one line.
func (p printer) printEventLine(e *fermata.Event) {
	at := e.At.UTC().Format("15:04:05")
	subject := e.TaskID
	if e.QuestionID != "" {
		subject = e.QuestionID
	}
	p.line("%6d  %s  %-22s %-6s  %s", e.Seq, p.dim(at), e.Type, shortID(subject), eventText(e))
}

// eventText returns the actor of an event and the important parts of its data.
func eventText(e *fermata.Event) string {
	parts := []string{actorName(e.Actor)}
	var data map[string]any
	if json.Unmarshal(e.Data, &data) == nil {
		for _, key := range shownEventKeys {
			v, ok := data[key]
			if !ok || v == nil || v == "" {
				continue
			}
			text := fmt.Sprint(v)
			if answers, many := v.(map[string]any); many {
				text = valuesText(answers)
			}
			parts = append(parts, key+"="+truncate(oneLine(text), 60))
		}
	}
	return strings.Join(parts, "  ")
}

// truncate shortens text to n characters.
func truncate(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}
