package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// entry is one event in a task's thread, with the objects that the event refers to.
type entry struct {
	Event    *fermata.Event    `json:"event"`
	Message  *fermata.Message  `json:"message,omitempty"`
	Question *fermata.Question `json:"question,omitempty"`
	Run      *fermata.Run      `json:"run,omitempty"`
}

// thread converts the events of a task to the lines of a conversation.
type thread struct {
	s        *session.Session
	taskID   string
	messages map[string]*fermata.Message
	// cursor is the cursor of the last page of messages that was read.
	cursor string
}

func newThread(s *session.Session, taskID string) *thread {
	return &thread{s: s, taskID: taskID, messages: map[string]*fermata.Message{}}
}

// loadEntry loads the objects that an event refers to. It returns nil for an event that does not belong to a
// conversation.
func (t *thread) loadEntry(ctx context.Context, e *fermata.Event) (*entry, error) {
	x := &entry{Event: e}
	var err error
	switch e.Type {
	case fermata.EventMessagePosted:
		x.Message, err = t.findMessage(ctx, e)
	case fermata.EventQuestionAsked, fermata.EventQuestionAnswered, fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled:
		x.Question, err = t.s.Client.Question(ctx, e.QuestionID)
	case fermata.EventRunFinished:
		// No event holds the result of a run that ends with a question.
		x.Run, err = t.s.Client.Run(ctx, e.RunID)
	case fermata.EventTaskUpdated, fermata.EventRunReleased:
		return nil, nil //nolint:nilnil // it is no part of the thread
	default:
		// The event holds everything.
	}
	return x, err
}

// findMessage returns the message of an event. It reads further pages until it finds the message.
func (t *thread) findMessage(ctx context.Context, e *fermata.Event) (*fermata.Message, error) {
	var data struct {
		ID string `json:"message_id"`
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return nil, fermata.Internal("read an event", err)
	}
	for t.messages[data.ID] == nil {
		page, next, err := t.s.Client.Messages(ctx, t.taskID, t.cursor, session.MaxPageSize)
		if err != nil {
			return nil, err
		}
		for _, m := range page {
			t.messages[m.ID] = m
		}
		if next == "" {
			break
		}
		t.cursor = next
	}
	m := t.messages[data.ID]
	if m == nil {
		return nil, fermata.NotFound("message", data.ID)
	}
	delete(t.messages, data.ID)
	return m, nil
}

// entryText returns an entry for people, or "" if they need not see it.
func (t *thread) entryText(x *entry, p terminal.Printer) string {
	var buf bytes.Buffer
	p.Out = &buf
	e := x.Event
	at := p.Dim(e.At.In(t.s.Now().Location()).Format("15:04"))
	head := func(format string, args ...any) { p.Line("%s  %s", at, fmt.Sprintf(format, args...)) }
	who := p.Bold(render.ActorName(e.Actor))
	switch {
	case x.Message != nil && x.Message.Kind == fermata.MessageClarification:
		head("%s asks back:", who)
		p.PrintQuoted("  ", x.Message.Body)
	case x.Message != nil && x.Message.Cancels:
		head("%s cancelled the task:", who)
		p.PrintQuoted("  ", x.Message.Body)
	case x.Message != nil:
		head("%s:", who)
		p.PrintQuoted("  ", x.Message.Body)
	case e.Type == fermata.EventQuestionAsked:
		head("%s asks (%s):", who, terminal.ShortID(e.QuestionID))
		inner := p
		inner.Out, inner.Width = &prefixWriter{w: &buf, prefix: "       "}, p.Width-7
		render.PrintQuestion(inner, withoutResult(x.Question), t.s.Now())
	case x.Question != nil:
		head("%s: %s", p.Green(terminal.ShortID(e.QuestionID)), terminal.OneLine(t.closingText(x)))
	case x.Run != nil:
		head("%s ended a run: %s", who, x.Run.Result)
		p.PrintQuoted("  ", x.Run.Summary)
	case e.Type == fermata.EventProgressReported:
		head("%s %s", p.Dim("…"), progressText(e))
	default:
		if text := otherEventText(e); text != "" {
			head("%s", p.Dim(text))
		}
	}
	return buf.String()
}

// withoutResult returns the question without its votes and its end, because the thread shows these at their own time.
func withoutResult(q *fermata.Question) *fermata.Question {
	asked := *q
	asked.Votes, asked.HeldAnswer = nil, nil
	if q.Resolution != nil {
		asked.Status, asked.Resolution, asked.Deadline = fermata.Pending, nil, nil
	}
	return &asked
}

// closingText returns how a question closed.
func (*thread) closingText(x *entry) string {
	if r := x.Question.Resolution; r != nil {
		text := r.Sentence()
		if r.Comment != "" {
			text += " – " + r.Comment
		}
		return text
	}
	return string(x.Question.Status)
}

// progressText returns a progress report as text.
func progressText(e *fermata.Event) string {
	var pr fermata.Progress
	_ = json.Unmarshal(e.Data, &pr) // an update that cannot be read is empty
	text := terminal.OneLine(pr.Message)
	if pr.Step != "" {
		text = terminal.OneLine(pr.Step) + ": " + text
	}
	if pr.Total > 0 {
		text += fmt.Sprintf(" (%v of %v)", pr.Current, pr.Total)
	}
	return text
}

// otherEventText returns the text of an event that is neither a message nor a question.
func otherEventText(e *fermata.Event) string {
	var data struct {
		From, To, Reason, Worker, Value string
		Required, Votes                 int
		Deadline                        string
		Assignees                       []string
		MessageIDs                      []string `json:"message_ids"`
		Step, Feedback, Hash, Summary   string
	}
	_ = json.Unmarshal(e.Data, &data) // fields that cannot be read are left out
	who := render.ActorName(e.Actor)
	switch e.Type {
	case fermata.EventTaskCreated:
		return who + " made the task"
	case fermata.EventTaskClaimed:
		return terminal.OneLine(data.Worker) + " works on it"
	case fermata.EventTaskStateChanged, fermata.EventTaskEnded:
		text := "the task is " + terminal.OneLine(data.To)
		if data.Reason != "" {
			text += " (" + terminal.OneLine(data.Reason) + ")"
		}
		return text
	case fermata.EventRunRewound:
		text := who + " sent the run back to the step " + terminal.OneLine(data.Step)
		if data.Feedback != "" {
			text += ": " + terminal.OneLine(data.Feedback)
		}
		return text
	case fermata.EventRunMoved:
		return who + " moved the run to the definition " + terminal.ShortHash(terminal.OneLine(data.Hash))
	case fermata.EventQuestionVoteCast:
		return fmt.Sprintf("%s voted %s on %s: %d of %d", who, terminal.OneLine(data.Value), terminal.ShortID(e.QuestionID), data.Votes, data.Required)
	case fermata.EventQuestionExtended:
		return fmt.Sprintf("%s put the deadline of %s off until %s", who, terminal.ShortID(e.QuestionID), terminal.OneLine(data.Deadline))
	case fermata.EventQuestionHeld:
		return fmt.Sprintf("%s answered %s, and may take it back for some seconds", who, terminal.ShortID(e.QuestionID))
	case fermata.EventQuestionUndone:
		return fmt.Sprintf("%s took the answer to %s back", who, terminal.ShortID(e.QuestionID))
	case fermata.EventQuestionAssigned:
		whom := "anybody who may answer"
		if len(data.Assignees) > 0 {
			whom = terminal.OneLine(strings.Join(data.Assignees, ", "))
		}
		return fmt.Sprintf("%s gave %s to %s", who, terminal.ShortID(e.QuestionID), whom)
	case fermata.EventQuestionEscalated:
		return fmt.Sprintf("%s goes on to the next level", terminal.ShortID(e.QuestionID))
	case fermata.EventQuestionAskedAgain:
		return fmt.Sprintf("%s asks %s once more", who, terminal.ShortID(e.QuestionID))
	case fermata.EventQuestionAnsweredLate:
		return fmt.Sprintf("%s answered %s after the deadline", who, terminal.ShortID(e.QuestionID))
	case fermata.EventMessageHanded:
		whom := "the agent at the desk"
		if e.RunID != "" {
			whom = terminal.ShortID(e.RunID)
		}
		return fmt.Sprintf("%s was handed %s", whom, messagesText(len(data.MessageIDs)))
	case fermata.EventRunLost:
		if data.Summary != "" {
			return "the run was lost: " + terminal.OneLine(data.Summary)
		}
		return "the worker was lost"
	default:
		return ""
	}
}

// prefixWriter writes a prefix before every line.
type prefixWriter struct {
	w      io.Writer
	prefix string
	inLine bool
}

func (w *prefixWriter) Write(data []byte) (int, error) {
	var sb strings.Builder
	for line := range strings.SplitAfterSeq(string(data), "\n") {
		if line == "" {
			continue
		}
		if !w.inLine && line != "\n" {
			sb.WriteString(w.prefix)
		}
		sb.WriteString(line)
		w.inLine = !strings.HasSuffix(line, "\n")
	}
	_, err := io.WriteString(w.w, sb.String())
	return len(data), err
}

func messagesText(n int) string {
	if n == 1 {
		return "a message"
	}
	return fmt.Sprintf("%d messages", n)
}
