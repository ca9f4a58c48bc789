package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
	"github.com/fermata-hq/fermata/internal/notice"
)

// PrintTask writes a task with its whole pending question.
func PrintTask(p terminal.Printer, t *fermata.Task, now time.Time) {
	p.PrintTitle(t.Title)
	state := StateText(t)
	facts := []string{state, fmt.Sprintf("priority %d", t.Priority), "project " + terminal.OneLine(t.Project)}
	for name, text := range map[string]string{"agent ": t.Agent, "runner ": t.Runner} {
		if text != "" {
			facts = append(facts, name+terminal.OneLine(text))
		}
	}
	if t.Isolated {
		facts = append(facts, "isolated")
	}
	p.Line("%s", p.Dim(strings.Join(facts, " · ")))
	p.Line("%s", p.Dim(fmt.Sprintf("%s · made by %s %s ago", t.ID, ActorName(t.CreatedBy), terminal.FormatDuration(now.Sub(t.CreatedAt)))))
	if len(t.Labels) > 0 {
		p.PrintText("Labels: " + terminal.OneLine(strings.Join(t.Labels, ", ")))
	}
	if t.Body != "" {
		p.Line("")
		p.PrintQuoted("", t.Body)
	}
	if t.Summary != "" {
		p.Line("")
		p.PrintLabelled("Last report:", t.Summary)
	}
	if t.DeferUntil != nil {
		p.Line("Put off until %s", t.DeferUntil.UTC().Format(time.RFC3339))
	}
	printNoWorker(p, t.NoWorker)
	PrintTakeOver(p, t)
	if t.Unread > 0 {
		p.Line("Answers and messages for the next run: %d", t.Unread)
	}
	if t.PendingQuestion != nil {
		p.Line("")
		p.Line("%s", p.Yellow("Waits for an answer to:"))
		p.Line("")
		PrintQuestion(p, t.PendingQuestion, now)
	}
}

// PrintActivity writes the progress of the present run.
func PrintActivity(p terminal.Printer, e *fermata.TimelineEntry, now time.Time) {
	if e == nil {
		return
	}
	p.Line("")
	ago := terminal.FormatDuration(now.Sub(e.At)) + " ago"
	if e.Progress == nil {
		p.Line("A run began %s, and has reported nothing yet.", ago)
		return
	}
	text := terminal.OneLine(e.Progress.Message)
	if e.Progress.Step != "" {
		text = terminal.OneLine(e.Progress.Step) + ": " + text
	}
	if e.Progress.Total > 0 {
		text += fmt.Sprintf(" (%v of %v)", e.Progress.Current, e.Progress.Total)
	}
	p.PrintLabelled("Now, "+ago+":", text)
}

// PrintWork writes where the work of the task is, even if it is not finished.
func PrintWork(p terminal.Printer, t *fermata.Task) {
	if t.Session == nil {
		return
	}
	p.Line("")
	p.Line("%s", p.Bold("The work"))
	// A path that is broken into lines cannot be copied or found.
	if t.Session.Dir != "" {
		note := ""
		if t.State == fermata.TaskDone && t.Session.Branch != "" {
			note = "  (removed once the work was committed, unless the worker keeps it)"
		}
		p.Line("  folder: %s%s", terminal.OneLine(t.Session.Dir), note)
	}
	for _, f := range [][2]string{
		{"on worker", t.Session.Worker}, {"branch", t.Session.Branch}, {"session", t.Session.ID}, {"runner", t.Session.Runner},
	} {
		if f[1] != "" {
			p.PrintLabelled("  "+f[0]+":", f[1])
		}
	}
}

// PrintAnswers writes the closed questions of a task, each with its answer and its author.
func PrintAnswers(p terminal.Printer, list []*fermata.Question) {
	if len(list) == 0 {
		return
	}
	p.Line("")
	p.Line("%s", p.Bold("What was asked"))
	for _, q := range list {
		p.Line("")
		p.PrintTitle(q.Title)
		facts := []string{q.ID, string(q.Type)}
		p.Line("%s", p.Dim(strings.Join(append(facts, notice.Facts(q)...), " · ")))
		for _, v := range q.Votes {
			p.PrintLabelled(fmt.Sprintf("%s voted %s.", ActorName(v.By), v.Value), v.Comment)
		}
		printResolution(p, q.Resolution)
	}
}

// StateText returns the state of a task, with the reason if there is one.
func StateText(t *fermata.Task) string {
	if t.NoWorker != nil {
		return string(t.State) + " (no worker)"
	}
	if t.Reason == "" {
		return string(t.State)
	}
	return fmt.Sprintf("%s (%s)", t.State, terminal.OneLine(t.Reason))
}

// PrintMessages writes the messages of a task's thread. If the task has ended, it also marks a clarification that the
// agent never answered.
func PrintMessages(p terminal.Printer, list []*fermata.Message, ended bool, now time.Time) {
	for i, m := range list {
		p.Line("")
		kind := ""
		switch {
		case m.Kind == fermata.MessageClarification:
			kind = " asks back"
		case m.Cancels:
			kind = " cancelled the task"
		}
		p.Line("%s", p.Dim(fmt.Sprintf("%s%s, %s ago:", ActorName(m.Author), kind, terminal.FormatDuration(now.Sub(m.CreatedAt)))))
		p.PrintQuoted("", m.Body)
		if text := MessageReceiptText(m); text != "" {
			p.Line("%s", p.Dim("→ "+text))
		}
		if ended && m.Kind == fermata.MessageClarification && !slices.ContainsFunc(list[i+1:], isByAgent) {
			p.Line("%s", p.Dim("→ the task ended without a reply to this"))
		}
	}
}

func isByAgent(m *fermata.Message) bool { return m.Author.Kind == fermata.ActorAgent }

// printNoWorker writes why no running worker takes the task, and the command that starts one.
func printNoWorker(p terminal.Printer, n *fermata.NoWorker) {
	if n == nil {
		return
	}
	p.PrintLabelled("Waits for a worker:", n.Text)
	p.Line("Start one: %s", terminal.OneLine(n.Start))
}

// PrintBlockers writes the tasks that a task waits for or has waited for, with the state of each known one. A task that
// only holds a question is written as the question.
func PrintBlockers(p terminal.Printer, t *fermata.Task, known map[string]*fermata.Task) {
	for _, id := range t.BlockedBy {
		other := known[id]
		words := "Blocked by "
		if t.State.IsEnded() || other != nil && t.IsUnblockedBy(other) {
			words = "Waited for "
		}
		if other == nil {
			p.PrintText(words + id)
			continue
		}
		if q := other.PendingQuestion; q != nil && other.EndsWithAnswer && !t.State.IsEnded() {
			p.PrintText(fmt.Sprintf("Waits for the answer to %s  %s", q.ID, terminal.OneLine(q.Title)))
			p.Line("Answer it: fermata respond %s", terminal.ShortID(q.ID))
			continue
		}
		p.PrintText(fmt.Sprintf("%s%s  %s  %s", words, id, StateText(other), terminal.OneLine(other.Title)))
		printNoWorker(p, other.NoWorker)
	}
}

// PrintTakeOver writes how a person opens the session of a paused task, and how to give it back.
func PrintTakeOver(p terminal.Printer, t *fermata.Task) {
	if !t.IsPaused() {
		return
	}
	if t.TakeOverCommand != "" {
		where := ""
		if t.Session.Worker != "" {
			where = " at the worker " + terminal.OneLine(t.Session.Worker)
		}
		p.Line("An agent that still runs has a few seconds to end. Open its session by hand%s after that:", where)
		p.Line("    %s", terminal.OneLine(t.TakeOverCommand))
	}
	p.Line("Hand it back: fermata resume %s --message \"what you did\"", t.ID)
}
