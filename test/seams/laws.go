package seams

import (
	"fmt"
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
