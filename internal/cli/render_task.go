package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// task writes a task, and its pending question whole.
func (p printer) task(t *fermata.Task, now time.Time) {
	p.title(t.Title)
	state := stateText(t)
	facts := []string{state, fmt.Sprintf("priority %d", t.Priority), "project " + oneLine(t.Project)}
	for name, text := range map[string]string{"agent ": t.Agent, "runner ": t.Runner} {
		if text != "" {
			facts = append(facts, name+oneLine(text))
		}
	}
	p.line("%s", p.dim(strings.Join(facts, " · ")))
	p.line("%s", p.dim(fmt.Sprintf("%s · made by %s %s ago", t.ID, actor(t.CreatedBy), span(now.Sub(t.CreatedAt)))))
	if len(t.Labels) > 0 {
		p.text("Labels: " + oneLine(strings.Join(t.Labels, ", ")))
	}
	if t.Body != "" {
		p.line("")
		p.quote("", t.Body)
	}
	if t.Summary != "" {
		p.line("")
		p.labelled("Last report:", t.Summary)
	}
	if len(t.BlockedBy) > 0 {
		p.text("Blocked by " + strings.Join(t.BlockedBy, ", "))
	}
	if t.DeferUntil != nil {
		p.line("Put off until %s", t.DeferUntil.UTC().Format(time.RFC3339))
	}
	if t.Unread > 0 {
		p.line("Answers and messages for the next run: %d", t.Unread)
	}
	if t.PendingQuestion != nil {
		p.line("")
		p.line("%s", p.yellow("Waits for an answer to:"))
		p.line("")
		p.question(t.PendingQuestion, now)
	}
}

// stateText is a task's state, and why where that is not plain.
func stateText(t *fermata.Task) string {
	if t.Reason == "" {
		return string(t.State)
	}
	return fmt.Sprintf("%s (%s)", t.State, oneLine(t.Reason))
}

// messages writes the lines of a thread.
func (p printer) messages(list []*fermata.Message, now time.Time) {
	for _, m := range list {
		p.line("")
		kind := ""
		if m.Kind == fermata.MessageClarification {
			kind = " asks back"
		}
		p.line("%s", p.dim(fmt.Sprintf("%s%s, %s ago:", actor(m.Author), kind, span(now.Sub(m.CreatedAt)))))
		p.quote("", m.Body)
	}
}
