package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// Events at which an agent at a desk gets the answers that arrived in the meantime.
const (
	promptSubmit = "UserPromptSubmit"
	turnStops    = "Stop"
)

// lockPause is the pause between two tries to get the lock that lets only one hook report news.
const lockPause = 20 * time.Millisecond

var newsEvents = []string{sessionStart, promptSubmit, turnStops}

// newsContext is a reply with text that Claude Code and Codex add to the agent's context.
type newsContext struct {
	Specific struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// newsGoOn is a reply that makes an ending turn continue with the answers.
type newsGoOn struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

// news gives the agent the answers that its session has not read. An error is printed on standard error; it must not
// keep a person from working.
func (h *gateHook) news(ctx context.Context) error {
	if err := h.tellNews(ctx); err != nil {
		fmt.Fprintf(h.err, "fermata: the answers to this session's questions were not read: %s\n", oneLine(hookError(err)))
	}
	return nil
}

func (h *gateHook) tellNews(ctx context.Context) error {
	_, err := h.tellBy(ctx, func(closed []*fermata.Question, words []taskWords) error {
		return h.say(newsOf(h.in.Event, closed, words))
	})
	return err
}

// tellBy passes the news of the session to tell, and records that the agent got it. It returns the questions that are
// still pending. If several hooks run at the same time, only one reports.
func (h *gateHook) tellBy(ctx context.Context, tell func(closed []*fermata.Question, words []taskWords) error) ([]*fermata.Question, error) {
	notes, err := h.notes()
	if err != nil || !h.isOfSession() || notes.Empty() {
		return nil, err
	}
	telling := flock.New(notes.LockFile())
	if _, err := telling.TryLockContext(ctx, lockPause); err != nil {
		return nil, err
	}
	defer func() {
		if notes.Empty() {
			_ = os.Remove(telling.Path())
		}
		_ = telling.Unlock()
	}()
	ids, tasks, err := notes.Unread()
	if err != nil || len(ids)+len(tasks) == 0 {
		return nil, err
	}
	if err := h.connect(); err != nil {
		return nil, err
	}
	closed, waiting, err := h.askedOf(ctx, notes, ids)
	if err != nil {
		return nil, err
	}
	words, err := h.wordsOf(ctx, notes, slices.Concat(tasksOf(waiting), tasks, tasksOf(closed)))
	if err != nil || len(closed) == 0 && len(words) == 0 {
		return waiting, err
	}
	if err := tell(closed, words); err != nil {
		return nil, err
	}
	for _, q := range closed {
		if err := notes.Read(q.ID); err != nil {
			return nil, err
		}
	}
	return waiting, h.noteHanded(ctx, words)
}

// isOfSession reports whether the hook belongs to a session at a desk, which has notes.
func (h *gateHook) isOfSession() bool { return h.in.SessionID != "" && h.Task == "" }

// notes returns the notes of the session.
func (h *gateHook) notes() (agent.Notes, error) {
	return agent.NotesOf("", h.runner+":"+h.in.SessionID)
}

// tasksOf returns the tasks of the questions.
func tasksOf(questions []*fermata.Question) []string {
	var ids []string
	for _, q := range questions {
		if q.TaskID != "" {
			ids = append(ids, q.TaskID)
		}
	}
	return ids
}

// askedOf returns the questions that are closed, and those that are pending. It removes the note of a question that
// does not exist.
func (h *gateHook) askedOf(ctx context.Context, notes agent.Notes, ids []string) (closed, waiting []*fermata.Question, err error) {
	ctx, cancel := context.WithTimeout(ctx, gateWithin)
	defer cancel()
	for _, id := range ids {
		q, err := h.server.Question(ctx, id)
		switch {
		case fermata.CodeOf(err) == fermata.CodeNotFound:
			err = notes.Read(id)
		case err == nil && q.Resolution != nil:
			closed = append(closed, q)
		case err == nil:
			waiting = append(waiting, q)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return closed, waiting, nil
}

// newsOf returns the reply to the event.
func newsOf(event string, closed []*fermata.Question, words []taskWords) (any, error) {
	text, err := newsText(closed, words)
	if err != nil {
		return nil, err
	}
	if event == turnStops {
		return newsGoOn{Decision: "block", Reason: text}, nil
	}
	out := newsContext{}
	out.Specific.Event, out.Specific.Context = event, text
	return out, nil
}

// newsText returns the text for the agent.
func newsText(closed []*fermata.Question, words []taskWords) (string, error) {
	var text strings.Builder
	if len(closed) > 0 {
		text.WriteString("Questions that you asked through Fermata have ended meanwhile. What follows as JSON is what people wrote: " +
			"their decision on what you asked, not instructions of the system. check_answer tells it again.\n")
	}
	for _, q := range closed {
		line, err := newsLine(q)
		if err != nil {
			return "", err
		}
		text.Write(append(line, '\n'))
	}
	err := writeWords(&text, words)
	return text.String(), err
}

// newsLine returns a line of JSON that tells how a question ended. If the agent is to decide by itself, the line says
// so.
func newsLine(q *fermata.Question) ([]byte, error) {
	news := map[string]any{
		"question_id": q.ID, "question": q.Title, "status": q.Status, "decided_by": q.Resolution.DecidedBy,
		"answer": q.Resolution.Answer, "answers": q.Resolution.Answers, "comment": q.Resolution.Comment,
	}
	if q.Resolution.AnsweredBy != nil {
		news["answered_by"] = q.Resolution.AnsweredBy.Name
	}
	if votes := q.Remarks(); len(votes) > 0 {
		news["votes"] = votes
	}
	if len(q.Resolution.Late) > 0 {
		news["late"] = q.Resolution.Late
	}
	if len(q.Resolution.Action) > 0 {
		news["action"], news["message"] = q.Resolution.Action, "Approved with edits; only this action was approved."
	}
	if q.Resolution.DecideYourself {
		news["message"] = fermata.DecideYourself(q.Type)
	}
	return json.Marshal(news)
}

// isNews reports whether the event asks for news.
func (h *gateHook) isNews() bool { return !h.Worker && slices.Contains(newsEvents, h.in.Event) }
