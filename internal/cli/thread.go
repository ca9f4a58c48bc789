package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/fermata-hq/fermata"
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
	s        *session
	taskID   string
	messages map[string]*fermata.Message
	// cursor is the cursor of the last page of messages that was read.
	cursor string
}

func (s *session) newThread(taskID string) *thread {
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
		x.Question, err = t.s.client.Question(ctx, e.QuestionID)
	case fermata.EventRunFinished:
		// No event holds the result of a run that ends with a question.
		x.Run, err = t.s.client.Run(ctx, e.RunID)
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
		page, next, err := t.s.client.Messages(ctx, t.taskID, t.cursor, maxPageSize)
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
func (t *thread) entryText(x *entry, p printer) string {
	var buf bytes.Buffer
	p.w = &buf
	e := x.Event
	at := p.dim(e.At.In(t.s.now().Location()).Format("15:04"))
	head := func(format string, args ...any) { p.line("%s  %s", at, fmt.Sprintf(format, args...)) }
	who := p.bold(actorName(e.Actor))
	switch {
	case x.Message != nil && x.Message.Kind == fermata.MessageClarification:
		head("%s asks back:", who)
		p.printQuoted("  ", x.Message.Body)
	case x.Message != nil && x.Message.Cancels:
		head("%s cancelled the task:", who)
		p.printQuoted("  ", x.Message.Body)
	case x.Message != nil:
		head("%s:", who)
		p.printQuoted("  ", x.Message.Body)
	case e.Type == fermata.EventQuestionAsked:
		head("%s asks (%s):", who, shortID(e.QuestionID))
		inner := p
		inner.w, inner.width = &prefixWriter{w: &buf, prefix: "       "}, p.width-7
		inner.printQuestion(withoutResult(x.Question), t.s.now())
	case x.Question != nil:
		head("%s: %s", p.green(shortID(e.QuestionID)), oneLine(t.closingText(x)))
	case x.Run != nil:
		head("%s ended a run: %s", who, x.Run.Result)
		p.printQuoted("  ", x.Run.Summary)
	case e.Type == fermata.EventProgressReported:
		head("%s %s", p.dim("…"), progressText(e))
	default:
		if text := otherEventText(e); text != "" {
			head("%s", p.dim(text))
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
	text := oneLine(pr.Message)
	if pr.Step != "" {
		text = oneLine(pr.Step) + ": " + text
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
		Step, Feedback, Hash            string
	}
	_ = json.Unmarshal(e.Data, &data) // fields that cannot be read are left out
	who := actorName(e.Actor)
	switch e.Type {
	case fermata.EventTaskCreated:
		return who + " made the task"
	case fermata.EventTaskClaimed:
		return oneLine(data.Worker) + " works on it"
	case fermata.EventTaskStateChanged, fermata.EventTaskEnded:
		text := "the task is " + oneLine(data.To)
		if data.Reason != "" {
			text += " (" + oneLine(data.Reason) + ")"
		}
		return text
	case fermata.EventRunRewound:
		text := who + " sent the run back to the step " + oneLine(data.Step)
		if data.Feedback != "" {
			text += ": " + oneLine(data.Feedback)
		}
		return text
	case fermata.EventRunMoved:
		return who + " moved the run to the definition " + shortHash(oneLine(data.Hash))
	case fermata.EventQuestionVoteCast:
		return fmt.Sprintf("%s voted %s on %s: %d of %d", who, oneLine(data.Value), shortID(e.QuestionID), data.Votes, data.Required)
	case fermata.EventQuestionExtended:
		return fmt.Sprintf("%s put the deadline of %s off until %s", who, shortID(e.QuestionID), oneLine(data.Deadline))
	case fermata.EventQuestionHeld:
		return fmt.Sprintf("%s answered %s, and may take it back for some seconds", who, shortID(e.QuestionID))
	case fermata.EventQuestionUndone:
		return fmt.Sprintf("%s took the answer to %s back", who, shortID(e.QuestionID))
	case fermata.EventQuestionAssigned:
		whom := "anybody who may answer"
		if len(data.Assignees) > 0 {
			whom = oneLine(strings.Join(data.Assignees, ", "))
		}
		return fmt.Sprintf("%s gave %s to %s", who, shortID(e.QuestionID), whom)
	case fermata.EventQuestionEscalated:
		return fmt.Sprintf("%s goes on to the next level", shortID(e.QuestionID))
	case fermata.EventQuestionAskedAgain:
		return fmt.Sprintf("%s asks %s once more", who, shortID(e.QuestionID))
	case fermata.EventQuestionAnsweredLate:
		return fmt.Sprintf("%s answered %s after the deadline", who, shortID(e.QuestionID))
	case fermata.EventMessageHanded:
		whom := "the agent at the desk"
		if e.RunID != "" {
			whom = shortID(e.RunID)
		}
		return fmt.Sprintf("%s was handed %s", whom, messagesText(len(data.MessageIDs)))
	case fermata.EventRunLost:
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
