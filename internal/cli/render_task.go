package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// printTask writes a task with its whole pending question.
func (p printer) printTask(t *fermata.Task, now time.Time) {
	p.printTitle(t.Title)
	state := stateText(t)
	facts := []string{state, fmt.Sprintf("priority %d", t.Priority), "project " + oneLine(t.Project)}
	for name, text := range map[string]string{"agent ": t.Agent, "runner ": t.Runner} {
		if text != "" {
			facts = append(facts, name+oneLine(text))
		}
	}
	if t.Isolated {
		facts = append(facts, "isolated")
	}
	p.line("%s", p.dim(strings.Join(facts, " · ")))
	p.line("%s", p.dim(fmt.Sprintf("%s · made by %s %s ago", t.ID, actorName(t.CreatedBy), formatDuration(now.Sub(t.CreatedAt)))))
	if len(t.Labels) > 0 {
		p.printText("Labels: " + oneLine(strings.Join(t.Labels, ", ")))
	}
	if t.Body != "" {
		p.line("")
		p.printQuoted("", t.Body)
	}
	if t.Summary != "" {
		p.line("")
		p.printLabelled("Last report:", t.Summary)
	}
	if t.DeferUntil != nil {
		p.line("Put off until %s", t.DeferUntil.UTC().Format(time.RFC3339))
	}
	p.printNoWorker(t.NoWorker)
	p.printTakeOver(t)
	if t.Unread > 0 {
		p.line("Answers and messages for the next run: %d", t.Unread)
	}
	if t.PendingQuestion != nil {
		p.line("")
		p.line("%s", p.yellow("Waits for an answer to:"))
		p.line("")
		p.printQuestion(t.PendingQuestion, now)
	}
}

// printActivity writes the progress of the present run.
func (p printer) printActivity(e *fermata.TimelineEntry, now time.Time) {
	if e == nil {
		return
	}
	p.line("")
	ago := formatDuration(now.Sub(e.At)) + " ago"
	if e.Progress == nil {
		p.line("A run began %s, and has reported nothing yet.", ago)
		return
	}
	text := oneLine(e.Progress.Message)
	if e.Progress.Step != "" {
		text = oneLine(e.Progress.Step) + ": " + text
	}
	if e.Progress.Total > 0 {
		text += fmt.Sprintf(" (%v of %v)", e.Progress.Current, e.Progress.Total)
	}
	p.printLabelled("Now, "+ago+":", text)
}

// printWork writes where the work of the task is, even if it is not finished.
func (p printer) printWork(t *fermata.Task) {
	if t.Session == nil {
		return
	}
	p.line("")
	p.line("%s", p.bold("The work"))
	// A path that is broken into lines cannot be copied or found.
	if t.Session.Dir != "" {
		note := ""
		if t.State == fermata.TaskDone && t.Session.Branch != "" {
			note = "  (removed once the work was committed, unless the worker keeps it)"
		}
		p.line("  folder: %s%s", oneLine(t.Session.Dir), note)
	}
	for _, f := range [][2]string{
		{"on worker", t.Session.Worker}, {"branch", t.Session.Branch}, {"session", t.Session.ID}, {"runner", t.Session.Runner},
	} {
		if f[1] != "" {
			p.printLabelled("  "+f[0]+":", f[1])
		}
	}
}

// printAnswers writes the closed questions of a task, each with its answer and its author.
func (p printer) printAnswers(list []*fermata.Question) {
	if len(list) == 0 {
		return
	}
	p.line("")
	p.line("%s", p.bold("What was asked"))
	for _, q := range list {
		p.line("")
		p.printTitle(q.Title)
		facts := []string{q.ID, string(q.Type)}
		p.line("%s", p.dim(strings.Join(append(facts, notice.Facts(q)...), " · ")))
		for _, v := range q.Votes {
			p.printLabelled(fmt.Sprintf("%s voted %s.", actorName(v.By), v.Value), v.Comment)
		}
		p.printResolution(q.Resolution)
	}
}

// stateText returns the state of a task, with the reason if there is one.
func stateText(t *fermata.Task) string {
	if t.NoWorker != nil {
		return string(t.State) + " (no worker)"
	}
	if t.Reason == "" {
		return string(t.State)
	}
	return fmt.Sprintf("%s (%s)", t.State, oneLine(t.Reason))
}

// printMessages writes the messages of a task's thread. If the task has ended, it also marks a clarification that the
// agent never answered.
func (p printer) printMessages(list []*fermata.Message, ended bool, now time.Time) {
	for i, m := range list {
		p.line("")
		kind := ""
		switch {
		case m.Kind == fermata.MessageClarification:
			kind = " asks back"
		case m.Cancels:
			kind = " cancelled the task"
		}
		p.line("%s", p.dim(fmt.Sprintf("%s%s, %s ago:", actorName(m.Author), kind, formatDuration(now.Sub(m.CreatedAt)))))
		p.printQuoted("", m.Body)
		if text := messageReceiptText(m); text != "" {
			p.line("%s", p.dim("→ "+text))
		}
		if ended && m.Kind == fermata.MessageClarification && !slices.ContainsFunc(list[i+1:], isByAgent) {
			p.line("%s", p.dim("→ the task ended without a reply to this"))
		}
	}
}

func isByAgent(m *fermata.Message) bool { return m.Author.Kind == fermata.ActorAgent }

// printNoWorker writes why no running worker takes the task, and the command that starts one.
func (p printer) printNoWorker(n *fermata.NoWorker) {
	if n == nil {
		return
	}
	p.printLabelled("Waits for a worker:", n.Text)
	p.line("Start one: %s", oneLine(n.Start))
}

// printBlockers writes the tasks that a task waits for, with the state of each known one.
func (p printer) printBlockers(ids []string, known map[string]*fermata.Task) {
	for _, id := range ids {
		t := known[id]
		if t == nil {
			p.printText("Blocked by " + id)
			continue
		}
		p.printText(fmt.Sprintf("Blocked by %s  %s  %s", id, stateText(t), oneLine(t.Title)))
		p.printNoWorker(t.NoWorker)
	}
}

// printTakeOver writes how a person opens the session of a paused task, and how to give it back.
func (p printer) printTakeOver(t *fermata.Task) {
	if !t.IsPaused() {
		return
	}
	if t.TakeOverCommand != "" {
		where := ""
		if t.Session.Worker != "" {
			where = " at the worker " + oneLine(t.Session.Worker)
		}
		p.line("An agent that still runs has a few seconds to end. Open its session by hand%s after that:", where)
		p.line("    %s", oneLine(t.TakeOverCommand))
	}
	p.line("Hand it back: fermata resume %s --message \"what you did\"", t.ID)
}
