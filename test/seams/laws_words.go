package seams

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// wordsReachAgents looks for the words of every person in what the agents were told.
func wordsReachAgents(c *Case) (how []string) {
	for _, w := range c.Words {
		if w.Undone || c.isRead(w) {
			continue
		}
		if why := c.unreadProblem(w); why != "" {
			how = append(how, fmt.Sprintf("%s said %s to task %c (%s), no agent read it, and %s", w.Who, w.Kind, c.Letters[w.Task], w.label(), why))
		}
	}
	return how
}

// isRead reports whether an agent was told the word in a run that was not lost or released later. It is also true if the
// agent exited just when it was handed the word.
func (c *Case) isRead(w *Word) bool {
	for _, l := range c.Processes[w.Task] {
		if c.isHandedAtExit(w, l) {
			return true
		}
		if state := c.runState(w.Task, l.Run); state == fermata.RunLost || state == fermata.RunReleased {
			continue
		}
		for _, t := range l.Handovers() {
			if w.Question != "" && slices.Contains(t.Questions, w.Question) || w.Text != "" && strings.Contains(t.Raw, w.Text) || t.isAbout(w) {
				return true
			}
		}
	}
	return false
}

// isAbout reports whether the handover tells the agent about the decision w, which may have no text of its own. The text
// for a program such as Claude Code names the person who closed the question, but not the question.
func (t Handover) isAbout(w *Word) bool {
	return w.Kind == wordDecision && t.At.After(w.Began) && strings.Contains(t.Raw, w.Who+" (human) closed the question")
}

// isHandedAtExit reports whether the word was handed to the agent when it exited: no worker knows whether a program has
// read a line in its last moment. No event tells when an answer was handed over, so the time of the answer counts.
func (c *Case) isHandedAtExit(w *Word, l *AgentProcess) bool {
	if w.Question != "" {
		return w.Run == l.Run && w.Acked.Sub(l.listenedUntil()).Abs() < lastMoment
	}
	message := c.messageOf(w)
	return message != "" && c.isHandedNear(w.Task, l.Run, message, l.listenedUntil())
}

// isHandedNear reports whether the message was handed to the run at about the given time.
func (c *Case) isHandedNear(task, run, message string, at time.Time) bool {
	return slices.ContainsFunc(c.Events[task], func(e *fermata.Event) bool {
		return e.Type == eventHanded && e.RunID == run && strings.Contains(string(e.Data), message) && e.At.Sub(at).Abs() < lastMoment
	})
}

// eventHanded is the event that lists the messages that a run was handed.
const eventHanded fermata.EventType = "message.handed"

// messageOf returns the id of the word's message, or "" if the word is no message.
func (c *Case) messageOf(w *Word) string {
	if w.Kind != wordMessage || c.Final[w.Task] == nil {
		return ""
	}
	for _, m := range c.Final[w.Task].Messages {
		if strings.Contains(m.Body, w.Text) {
			return m.ID
		}
	}
	return ""
}

// unreadProblem returns why a word should have been read, or "" if the task's state explains that it was not.
func (c *Case) unreadProblem(w *Word) string {
	said, final := c.saidAt(w), c.Final[w.Task]
	if said == 0 || final == nil || w.Kind == wordDecision && c.isDeferredDuring(w) {
		return "" // another decision closed the question before the word, or the task cannot be read
	}
	for i, e := range c.Events[w.Task] {
		if e.Seq > said && e.Type == fermata.EventTaskEnded && c.isEndedByRun(w.Task, i) {
			return fmt.Sprintf("a run ended the task as %s afterwards (event %d)", stateChangeOf(e).To, e.Seq)
		}
	}
	switch t := final.Task; {
	case t.State.IsSuspended():
		return "the task waits as " + string(t.State)
	case t.State == fermata.TaskInProgress && w.Run != "" && c.hasBegun(w.Task, t.RunID):
		return "its agent is at work"
	default:
		return ""
	}
}

// hasBegun reports whether the agent of the run was told anything.
func (c *Case) hasBegun(task, run string) bool {
	return slices.ContainsFunc(c.Processes[task], func(l *AgentProcess) bool { return l.Run == run && len(l.Handovers()) > 0 })
}

// saidAt returns the number of the event that records the word, or 0 if the word has no event of its own.
func (c *Case) saidAt(w *Word) int64 {
	message := c.messageOf(w)
	for _, e := range c.Events[w.Task] {
		switch {
		case message != "" && e.Type == fermata.EventMessagePosted && strings.Contains(string(e.Data), message):
			return e.Seq
		case w.Kind != wordMessage && e.QuestionID == w.Question && strings.Contains(string(e.Data), w.Text) &&
			(e.Type == fermata.EventQuestionAnswered || e.Type == fermata.EventQuestionCancelled):
			return e.Seq
		case w.Kind == wordAnswer && e.QuestionID == w.Question && e.Type == fermata.EventQuestionAnsweredLate && strings.Contains(string(e.Data), `"restarted":true`):
			return e.Seq
		}
	}
	return 0
}

// isEndedByRun reports whether the event that ended a task came from the result of a run, and not from a person, a
// deadline or a lost lease.
func (c *Case) isEndedByRun(task string, at int) bool {
	events := c.Events[task]
	if events[at].Actor.Kind == fermata.ActorHuman {
		return false
	}
	for i := at - 1; i >= 0 && events[i].At.Equal(events[at].At); i-- {
		if e := events[i]; e.Type == fermata.EventRunFinished {
			return strings.Contains(string(e.Data), `"result":"completed"`) || strings.Contains(string(e.Data), `"result":"failed"`)
		}
	}
	return false
}

func (w *Word) label() string {
	if w.Text != "" {
		return w.Text
	}
	return w.Question
}

// runState returns the final state of a run according to the events.
func (c *Case) runState(task, run string) fermata.RunState {
	return c.replay(task).Runs[run]
}

// replay builds the task from its events.
func (c *Case) replay(task string) *entry {
	t := newEntry()
	for _, e := range c.Events[task] {
		t.apply(e)
	}
	return t
}

// wordsComeFirst checks the first context of the run that began after the word, unless an earlier run had been told the
// word.
func wordsComeFirst(c *Case) (how []string) {
	for _, w := range c.Words {
		said := c.saidAt(w)
		if said == 0 || w.Kind != wordMessage || w.Text == "" {
			continue
		}
		run := c.nextRun(w.Task, said)
		for _, l := range c.Processes[w.Task] {
			told := l.Handovers()
			if l.Run != run || len(told) == 0 {
				continue
			}
			if !hasHeard(told[:1], w.Text) && !c.isReadBefore(w, run) {
				how = append(how, fmt.Sprintf("%s was said before run %s of task %c began, and its agent began with:\n%s", w.Text, run, c.Letters[w.Task], told[0].Raw))
			}
			break
		}
	}
	return how
}

// nextRun returns the first run that began after an event, or "".
func (c *Case) nextRun(task string, seq int64) string {
	for _, e := range c.Events[task] {
		if e.Seq > seq && e.Type == fermata.EventTaskClaimed {
			return e.RunID
		}
	}
	return ""
}

// isReadBefore reports whether an agent of another run was told the word.
func (c *Case) isReadBefore(w *Word, run string) bool {
	for _, l := range c.Processes[w.Task] {
		if l.Run != run && (!l.heardAt(w).IsZero() || c.isHandedAtExit(w, l)) {
			return true
		}
	}
	return false
}

// wordsArriveAtOnce measures how long words took to reach agents that listened. After a fault, leases decide when an
// agent can be reached again.
func wordsArriveAtOnce(c *Case) (how []string) {
	if c.Disturbed {
		return nil
	}
	allowed := maxDelay + c.Busy
	if c.Real {
		allowed += claudeTurnTime
	}
	for _, w := range c.Words {
		l := c.listener(w)
		if l == nil {
			continue
		}
		at := l.heardAt(w)
		silent := c.listenedUntil(w.Task, l).Sub(w.Acked)
		switch waited := at.Sub(w.Acked); {
		case !at.IsZero() && waited > allowed:
			how = append(how, fmt.Sprintf("%s reached the agent of run %s after %s", w.label(), w.Run, waited.Round(time.Millisecond)))
		case at.IsZero() && silent > allowed:
			how = append(how, fmt.Sprintf("%s did not reach the agent of run %s in %s", w.label(), w.Run, silent.Round(time.Millisecond)))
		}
	}
	return how
}

// listenedUntil returns the time after which no word had to reach the agent: the end of the agent or of its run,
// the earlier one. An agent that ignores SIGTERM outlives its run.
func (c *Case) listenedUntil(task string, l *AgentProcess) time.Time {
	until := l.listenedUntil()
	if ended, _ := c.endOfRun(task, l.Run); !ended.IsZero() && ended.Before(until) {
		return ended
	}
	return until
}

// listener returns the agent that listened when the word was said, or nil.
func (c *Case) listener(w *Word) *AgentProcess {
	if w.Run == "" || w.Kind == wordDecision {
		return nil
	}
	for _, l := range c.Processes[w.Task] {
		if l.Run == w.Run {
			return l
		}
	}
	return nil
}

// heardAt returns when the agent was told the word.
func (l *AgentProcess) heardAt(w *Word) time.Time {
	for _, t := range l.Handovers() {
		if w.Question != "" && slices.Contains(t.Questions, w.Question) || w.Text != "" && strings.Contains(t.Raw, w.Text) {
			return t.At
		}
	}
	return time.Time{}
}

// listenedUntil returns when the agent stopped listening: when it was told to end, or when it ended. If it still listens,
// this is the present time.
func (l *AgentProcess) listenedUntil() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.toldToEnd.IsZero():
		return l.toldToEnd
	case !l.goneAt.IsZero():
		return l.goneAt
	default:
		return time.Now()
	}
}

// receiptsAreTrue compares the receipts of messages with what the agents were told.
func receiptsAreTrue(c *Case) (how []string) {
	for _, id := range c.Tasks {
		final := c.Final[id]
		if final == nil {
			continue
		}
		for _, m := range final.Messages {
			if m.Author.Kind != fermata.ActorHuman || m.HandedTo == "" {
				continue
			}
			if problem := c.receiptProblem(id, m); problem != "" {
				how = append(how, fmt.Sprintf("message %s of task %c is marked as handed to run %s, %s", m.Body, c.Letters[id], m.HandedTo, problem))
			}
		}
	}
	return how
}

func (c *Case) receiptProblem(task string, m *fermata.Message) string {
	known := false
	for _, l := range c.Processes[task] {
		if l.Run != m.HandedTo {
			continue
		}
		known = true
		if hasHeard(l.Handovers(), m.ID) || hasHeard(l.Handovers(), m.Body) || c.isHandedNear(task, l.Run, m.ID, l.listenedUntil()) {
			return ""
		}
	}
	switch state, ok := c.replay(task).Runs[m.HandedTo]; {
	case !ok:
		return "which the events do not know"
	case state != fermata.RunFinished && state != fermata.RunRunning:
		return "which is " + string(state)
	case !known && (state == fermata.RunRunning || c.isRunStopped(task, m.HandedTo)):
		return "" // its agent has not begun: it was stopped before, or the run is lost when its lease ends
	case c.Disturbed && c.isRunStopped(task, m.HandedTo):
		return "" // the reply was lost with the server, and a person stopped the run before the next reply
	default:
		return "whose agent never read it"
	}
}
