package render

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// shownEventKeys lists the keys of an event's data that a line shows, in this order.
var shownEventKeys = []string{"workflow", "trigger", "step", "state", "error", "repository", "issue", "label", "title", "task_title", "project", "risk", "items", "approvals", "votes", "required", "from", "to", "reason", "value", "answers", "outcome", "message", "summary", "result", "worker", "name", "handle", "comment"}

// PrintEventLine writes an event on one line.
func PrintEventLine(p terminal.Printer, e *fermata.Event) {
	at := e.At.UTC().Format("15:04:05")
	subject := e.TaskID
	if e.QuestionID != "" {
		subject = e.QuestionID
	}
	p.Line("%6d  %s  %-22s %-6s  %s", e.Seq, p.Dim(at), e.Type, terminal.ShortID(subject), EventText(e))
}

// EventText returns the actor of an event and the important parts of its data.
func EventText(e *fermata.Event) string {
	parts := []string{ActorName(e.Actor)}
	var data map[string]any
	if json.Unmarshal(e.Data, &data) == nil {
		for _, key := range shownEventKeys {
			v, ok := data[key]
			if !ok || v == nil || v == "" {
				continue
			}
			text := fmt.Sprint(v)
			if answers, many := v.(map[string]any); many {
				text = ValuesText(answers)
			}
			parts = append(parts, key+"="+fermata.Truncate(terminal.OneLine(text), 60))
		}
	}
	return strings.Join(parts, "  ")
}
