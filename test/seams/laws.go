package seams

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// Law is a condition that must hold after every sequence.
type Law struct {
	// Name is short. Sentence is the law in one sentence.
	Name, Sentence string
	// findBreaches returns how the case breaks the law.
	findBreaches func(c *Case) []string
}

// Laws are the laws of the system.
var Laws = []Law{
	{"words-reach-agents", "Every word of a person is handed to an agent that reads it, or the task's state says why not.", wordsReachAgents},
	{"words-come-first", "What a person said before a run began is in the first thing that its agent is told.", wordsComeFirst},
	{"words-arrive-at-once", "A word to an agent that works arrives within a second.", wordsArriveAtOnce},
	{"receipts-are-true", "What is marked as handed to a run was read by the agent of this run.", receiptsAreTrue},
	{"no-effect-after-stop", "An agent has no effect after the end of its run: its processes are gone within a second.", noEffectAfterStop},
	{"no-leave-after-stop", "No gate lets a call of a stopped task through.", noLeaveAfterStop},
	{"leave-is-used-once", "One approval lets one call through.", leaveIsUsedOnce},
	{"paused-stays-paused", "Nothing but a person's resume or cancel moves a paused task on.", pausedStaysPaused},
	{"one-end-a-question", "A question has one resolution, and an answer that was acknowledged is it.", oneEndAQuestion},
	{"votes-count-once", "Each vote is kept once, and as many people decide a question as it asks for.", votesCountOnce},
	{"one-resume-an-answer", "An answer reaches exactly one run, unless that run was lost, released or stopped; one that was taken back reaches none.", oneResumeAnAnswer},
	{"deciding-yourself-closes", "A resume closes the pending question as cancelled by the person who resumed.", decidingYourselfCloses},
	{"cancelling-names-who", "A question that a person's cancellation closes says that this person cancelled it.", cancellingNamesWho},
	{"nobody-trespasses", "Nobody acts who may not.", nobodyTrespasses},
	{"nothing-fails-inside", "A call succeeds or is refused by a rule; it never fails inside.", nothingFailsInside},
	{"events-tell-the-same", "What the API says of a task, its runs and its questions equals what its events say.", eventsTellTheSame},
	{"waiting-is-actionable", "A task that has not ended has exactly one thing that moves it on.", waitingIsActionable},
	{"work-goes-on", "A task that can go on goes on.", workGoesOn},
}

// Time limits.
const (
	// maxDelay is the longest time in which a word must reach an agent, and in which a stop must end it.
	maxDelay = time.Second
	// claudeTurnTime is how long Claude Code takes on a slow machine from an interrupt to its next turn.
	claudeTurnTime = 5 * time.Second
	// pauseGrace is how long a paused program may take to save its session.
	pauseGrace = 5 * time.Second
	// lastMoment is the time just before its exit in which an agent may miss a word.
	lastMoment = 100 * time.Millisecond
)

// Breach is a law that a case breaks.
type Breach struct {
	Law
	How []string
}

// Check returns the laws that the case breaks.
func (c *Case) Check() []Breach {
	var all []Breach
	for _, l := range Laws {
		if how := l.findBreaches(c); len(how) > 0 {
			all = append(all, Breach{l, how})
		}
	}
	return all
}

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
// whichever came first. An agent that ignores SIGTERM outlives its run.
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

// isRunStopped reports whether something other than its worker ended the run.
func (c *Case) isRunStopped(task, run string) bool {
	for _, e := range c.Events[task] {
		if e.RunID == run && e.Type == fermata.EventRunFinished {
			return strings.Contains(string(e.Data), `"result":""`)
		}
	}
	return false
}

// noEffectAfterStop compares the end of each run with the last sign of life of its processes.
func noEffectAfterStop(c *Case) (how []string) {
	for _, id := range c.Tasks {
		for _, l := range c.Processes[id] {
			ended, why := c.endOfRun(id, l.Run)
			if ended.IsZero() || c.Disturbed && l.hasChild() {
				continue
			}
			allowed := maxDelay + c.Busy
			if strings.Contains(why, fermata.ReasonPaused) {
				allowed += pauseGrace
			}
			if late := l.lastBeat().Sub(ended); late > allowed {
				how = append(how, fmt.Sprintf("the agent of run %s of task %c was alive %s after its run had ended (%s)",
					l.Run, c.Letters[id], late.Round(time.Millisecond), why))
			}
		}
	}
	return how
}

func (l *AgentProcess) hasChild() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leftChild
}

// endOfRun returns when a run ended, and how. Stopping a task ends its run.
func (c *Case) endOfRun(task, run string) (time.Time, string) {
	held := false
	for _, e := range c.Events[task] {
		switch {
		case e.Type == fermata.EventTaskClaimed:
			held = e.RunID == run
		case e.RunID == run && (e.Type == fermata.EventRunFinished || e.Type == fermata.EventRunLost || e.Type == fermata.EventRunReleased):
			return e.At, string(e.Type) + " " + string(e.Data) + c.stopAt(task, e)
		case held && isTaskMove(e.Type) && isStop(stateChangeOf(e)):
			return e.At, string(e.Type) + " " + string(e.Data)
		}
	}
	return time.Time{}, ""
}

func isStop(m stateChange) bool {
	return m.To.IsEnded() || m.To == fermata.TaskDeferred && m.Reason == fermata.ReasonPaused
}

// stopAt returns the stop of the task that was committed together with the end of a run, or "".
func (c *Case) stopAt(task string, end *fermata.Event) string {
	for _, e := range c.Events[task] {
		if e.At.Equal(end.At) && isTaskMove(e.Type) && isStop(stateChangeOf(e)) {
			return " " + string(e.Data)
		}
	}
	return ""
}

// noLeaveAfterStop checks the gate calls that were made after a stop.
func noLeaveAfterStop(c *Case) (how []string) {
	for i := range c.Gates {
		g := &c.Gates[i]
		if g.Stopped != "" && g.Verdict.Decision != fermata.GateDeny && !c.hasMovedOn(g) {
			how = append(how, fmt.Sprintf("a gate of task %c said %s (%s) although %s", c.Letters[g.Task], g.Verdict.Decision, g.Verdict.Reason, g.Stopped))
		}
	}
	return how
}

// hasMovedOn reports whether the task was moved on before the gate replied. The stop is known from the stream of events,
// which may be late.
func (c *Case) hasMovedOn(g *Gate) bool {
	last := stateChange{}
	for _, e := range c.Events[g.Task] {
		if m := stateChangeOf(e); m.To != "" && isTaskMove(e.Type) && !e.At.After(g.End) {
			last = m
		}
	}
	return g.Run == "" && !isStop(last)
}

// leaveIsUsedOnce counts the calls that each approval let through.
func leaveIsUsedOnce(c *Case) (how []string) {
	used := map[string]int{}
	for i := range c.Gates {
		if v := &c.Gates[i].Verdict; v.Decision == fermata.GateAllow && v.QuestionID != "" {
			used[v.QuestionID]++
		}
	}
	for q, n := range used {
		if n > 1 {
			how = append(how, fmt.Sprintf("question %s let %d calls through", q, n))
		}
	}
	return how
}

// pausedStaysPaused follows the events of every task that was paused.
func pausedStaysPaused(c *Case) (how []string) {
	for _, id := range c.Tasks {
		paused := false
		for _, e := range c.Events[id] {
			m := stateChangeOf(e)
			if m.To == "" || !isTaskMove(e.Type) {
				continue
			}
			if paused && !c.isResumedAt(id, e.At) {
				how = append(how, fmt.Sprintf("task %c was paused and became %s by %s (event %d, %s)", c.Letters[id], m.To, e.Actor.Kind, e.Seq, e.Type))
			}
			paused = m.To == fermata.TaskDeferred && m.Reason == fermata.ReasonPaused
		}
	}
	return append(how, c.findLostPauses()...)
}

// isResumedAt reports whether a person was resuming or cancelling the task at the given time. The times of events are cut
// to milliseconds.
func (c *Case) isResumedAt(task string, at time.Time) bool {
	return slices.ContainsFunc(c.Acts, func(a Act) bool {
		return a.Task == task && a.Err == nil && (a.Step == "resume" || a.Step == "cancel") &&
			!at.Before(a.Began.Add(-lastMoment)) && !at.After(a.End)
	})
}

// findLostPauses finds pauses that were acknowledged without effect.
func (c *Case) findLostPauses() (how []string) {
	for _, s := range c.Stops {
		if s.How != "pause" {
			continue
		}
		found := slices.ContainsFunc(c.Events[s.Task], func(e *fermata.Event) bool {
			m := stateChangeOf(e)
			return m.To == fermata.TaskDeferred && m.Reason == fermata.ReasonPaused && !e.At.After(s.Acked)
		})
		if !found {
			how = append(how, fmt.Sprintf("a pause of task %c was acknowledged, and the task was not paused", c.Letters[s.Task]))
		}
	}
	return how
}

// oneEndAQuestion counts the ends of each question.
func oneEndAQuestion(c *Case) (how []string) {
	for _, id := range c.Tasks {
		ends := map[string]int{}
		for _, e := range c.Events[id] {
			switch e.Type {
			case fermata.EventQuestionAnswered, fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled:
				ends[e.QuestionID]++
			default:
			}
		}
		for q, n := range ends {
			if n > 1 {
				how = append(how, fmt.Sprintf("question %s of task %c ended %d times", q, c.Letters[id], n))
			}
		}
	}
	for _, w := range c.Words {
		q := c.questionOf(w)
		if w.Kind != wordAnswer || q == nil || w.Held && c.isUndone(w) || isKept(q, w.Text) {
			continue
		}
		how = append(how, fmt.Sprintf("%s's answer %s to question %s was acknowledged, and the question is %s without it", w.Who, w.Text, q.ID, q.Status))
	}
	return how
}

// isUndone reports whether an answer to the word's question was taken back.
func (c *Case) isUndone(w *Word) bool {
	return slices.ContainsFunc(c.Events[w.Task], func(e *fermata.Event) bool {
		return e.Type == fermata.EventQuestionUndone && e.QuestionID == w.Question
	})
}

// isKept reports whether the text is in the question's resolution or in its held answer.
func isKept(q *fermata.Question, text string) bool {
	kept, err := json.Marshal([]any{q.Resolution, q.HeldAnswer})
	return err == nil && strings.Contains(string(kept), text)
}

// questionOf returns the question that the word answers.
func (c *Case) questionOf(w *Word) *fermata.Question {
	final := c.Final[w.Task]
	if final == nil {
		return nil
	}
	for _, q := range final.Questions {
		if q.ID == w.Question {
			return q
		}
	}
	return nil
}

// oneResumeAnAnswer counts the runs that each answer reached.
func oneResumeAnAnswer(c *Case) (how []string) {
	for _, w := range c.Words {
		if w.Kind != wordAnswer || c.Real && !w.Undone {
			continue // a resumed session of Claude Code repeats its earlier messages to the model
		}
		var runs []string
		for _, l := range c.Processes[w.Task] {
			state := c.runState(w.Task, l.Run)
			again := state == fermata.RunLost || state == fermata.RunReleased || c.isRunStopped(w.Task, l.Run)
			// A line that a program read while it closed its inbox is handed to the next run as well.
			last := !w.Undone && l.listenedUntil().Sub(l.heardAt(w)) < lastMoment
			if hasHeard(l.Handovers(), w.Text) && !again && !last && !slices.Contains(runs, l.Run) {
				runs = append(runs, l.Run)
			}
		}
		switch {
		case w.Undone && len(runs) > 0:
			how = append(how, fmt.Sprintf("the answer %s was taken back and reached run %s", w.Text, runs[0]))
		case len(runs) > 1:
			how = append(how, fmt.Sprintf("the answer %s to question %s reached %d runs: %s", w.Text, w.Question, len(runs), strings.Join(runs, ", ")))
		}
	}
	return how
}

// decidingYourselfCloses checks the questions that a person overruled by resuming the task.
func decidingYourselfCloses(c *Case) (how []string) {
	for _, w := range c.Words {
		q := c.lastReplacement(w.Task, c.questionOf(w))
		if w.Kind != wordDecision || q == nil || c.isDeferredDuring(w) {
			continue
		}
		if r := q.Resolution; r == nil {
			how = append(how, fmt.Sprintf("task %c was resumed and its question %s is pending still", c.Letters[w.Task], q.ID))
		} else if r.Status == fermata.Cancelled && r.DecidedBy != fermata.ActorHuman {
			how = append(how, fmt.Sprintf("task %c was resumed by %s, and its question %s was cancelled by %s", c.Letters[w.Task], w.Who, q.ID, r.DecidedBy))
		}
	}
	return how
}

// cancellingNamesWho checks that questions which the end of a task closed name the person who ended the task.
func cancellingNamesWho(c *Case) (how []string) {
	for _, task := range c.Tasks {
		var end *fermata.Event
		for _, e := range c.Events[task] {
			switch {
			case stateChangeOf(e).To == fermata.TaskCancelled && e.Actor.Kind == fermata.ActorHuman:
				end = e
			case end == nil || e.Type != fermata.EventQuestionCancelled || !e.At.Equal(end.At):
				// The question was closed before the end, or some time after the task was reopened.
			case e.Actor.Kind != fermata.ActorHuman || e.Actor.ID != end.Actor.ID:
				how = append(how, fmt.Sprintf("%s cancelled task %c, and its question %s was cancelled by %s", end.Actor.Name, c.Letters[task], e.QuestionID, e.Actor.Kind))
			}
		}
	}
	return how
}

// lastReplacement returns the last question that replaced q, directly or through others. An agent replaces a pending
// question when it asks another one. If no question replaced q, lastReplacement returns q.
func (c *Case) lastReplacement(task string, q *fermata.Question) *fermata.Question {
	for q != nil && q.Resolution != nil && q.Resolution.DecidedBy == fermata.ActorAgent {
		id, replaced := strings.CutPrefix(q.Resolution.Comment, "replaced by ")
		if !replaced {
			break
		}
		q = c.questionOf(&Word{Task: task, Question: id})
	}
	return q
}

// isDeferredDuring reports whether the task was deferred while the person spoke: a deferred task keeps its question.
func (c *Case) isDeferredDuring(w *Word) bool {
	return slices.ContainsFunc(c.Events[w.Task], func(e *fermata.Event) bool {
		return stateChangeOf(e).To == fermata.TaskDeferred && !e.At.Before(w.Began.Add(-maxDelay)) && !e.At.After(w.Acked)
	})
}

// nobodyTrespasses checks the replies to forbidden acts.
func nobodyTrespasses(c *Case) (how []string) {
	for _, t := range c.Trespasses {
		if t.Err == nil {
			how = append(how, fmt.Sprintf("%s, on task %c, and nobody stopped them", t.What, c.Letters[t.Task]))
		}
	}
	return how
}

// nothingFailsInside checks how calls failed.
func nothingFailsInside(c *Case) (how []string) {
	for _, a := range c.Acts {
		if !isRefusal(a.Err) {
			how = append(how, fmt.Sprintf("%s of task %c by %s: %v", a.Step, c.Letters[a.Task], a.Who, a.Err))
		}
	}
	return how
}

// eventsTellTheSame compares the replayed events with the API's view of the tasks.
func eventsTellTheSame(c *Case) (how []string) {
	for _, id := range c.Tasks {
		how = append(how, c.badMoves(id)...)
		for name, all := range map[string]map[string]*Snapshot{"settled": c.AtRest, "final": c.Final} {
			s := all[id]
			if s == nil {
				continue
			}
			for _, problem := range c.replayUntil(id, s).differences(s) {
				how = append(how, fmt.Sprintf("task %c, %s: %s", c.Letters[id], name, problem))
			}
		}
	}
	return how
}

// badMoves finds moves that do not begin in the state in which the previous move ended.
func (c *Case) badMoves(id string) (how []string) {
	state := fermata.TaskState("")
	for _, e := range c.Events[id] {
		m := stateChangeOf(e)
		if m.To == "" || !isTaskMove(e.Type) {
			continue
		}
		switch {
		case m.From != state:
			how = append(how, fmt.Sprintf("task %c was %q, and event %d moves it from %q", c.Letters[id], state, e.Seq, m.From))
		case m.From != "" && !fermata.CanMove(m.From, m.To):
			how = append(how, fmt.Sprintf("task %c moved from %s to %s (event %d), which no arrow allows", c.Letters[id], m.From, m.To, e.Seq))
		}
		state = m.To
	}
	return how
}

// replayUntil builds the task from the events up to a snapshot.
func (c *Case) replayUntil(id string, s *Snapshot) *entry {
	t := newEntry()
	for _, e := range c.Events[id] {
		if e.Seq <= s.Seq {
			t.apply(e)
		}
	}
	return t
}

// differences compares the state from the events with the state from the API.
func (t *entry) differences(s *Snapshot) (how []string) {
	if t.State != s.Task.State {
		how = append(how, fmt.Sprintf("the API says it is %s, the events say %s", s.Task.State, t.State))
	}
	if t.Suspending != s.Task.PendingQuestionID {
		how = append(how, fmt.Sprintf("the API says it waits for %q, the events say %q", s.Task.PendingQuestionID, t.Suspending))
	}
	for _, q := range s.Questions {
		if t.Questions[q.ID] != q.Status {
			how = append(how, fmt.Sprintf("the API says question %s is %s, the events say %s", q.ID, q.Status, t.Questions[q.ID]))
		}
	}
	for _, r := range s.Runs {
		if t.Runs[r.ID] != r.State {
			how = append(how, fmt.Sprintf("the API says run %s is %s, the events say %s", r.ID, r.State, t.Runs[r.ID]))
		}
	}
	return how
}

// waitingIsActionable checks that there is exactly one thing that moves each task on.
func waitingIsActionable(c *Case) (how []string) {
	for _, all := range []map[string]*Snapshot{c.AtRest, c.Final} {
		for id, s := range all {
			for _, problem := range s.waitProblems() {
				how = append(how, fmt.Sprintf("task %c is %s, and %s", c.Letters[id], s.Task.State, problem))
			}
		}
	}
	return how
}

// waitProblems returns the problems with what the task waits for.
func (s *Snapshot) waitProblems() (how []string) {
	t := s.Task
	running := 0
	for _, r := range s.Runs {
		if r.State == fermata.RunRunning {
			running++
		}
	}
	var suspending []string
	for _, q := range s.Questions {
		if q.Status == fermata.Pending && q.Type.Suspends() {
			suspending = append(suspending, q.ID)
		}
		if q.Status == fermata.Pending && t.State.IsEnded() {
			how = append(how, "question "+q.ID+" is pending")
		}
	}
	switch inProgress := t.State == fermata.TaskInProgress; {
	case inProgress && running != 1, !inProgress && running > 0:
		how = append(how, fmt.Sprintf("%d runs are running", running))
	case t.State.IsSuspended() && len(suspending) != 1:
		how = append(how, fmt.Sprintf("%d questions suspend it", len(suspending)))
	case len(suspending) > 1:
		how = append(how, fmt.Sprintf("%d questions suspend it", len(suspending)))
	case t.State == fermata.TaskBlocked && len(t.BlockedBy) == 0:
		how = append(how, "nothing blocks it")
	case t.State == fermata.TaskInputReceived && t.Unread == 0:
		how = append(how, "it has nothing to hand over")
	}
	return how
}

// workGoesOn returns the descriptions of the tasks and questions that got stuck.
func workGoesOn(c *Case) []string { return c.Stuck }
