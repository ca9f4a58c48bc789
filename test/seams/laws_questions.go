package seams

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

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
