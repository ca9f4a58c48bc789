package seams

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

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
