package webhook

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/fermata-hq/fermata/test/standin"
)

var _ standin.Remote = (*Receiver)(nil)

// Kind returns the kind of the channel.
func (r *Receiver) Kind() string { return "webhook" }

// Settings returns the settings of a channel that sends every event to the
// receiver.
func (r *Receiver) Settings() map[string]any {
	return map[string]any{"url": r.URL, "events": []string{"*"}, "secret": Secret, "allow_private": true}
}

// AddPerson returns no identity, because programs receive webhooks.
func (r *Receiver) AddPerson(string) (identityID, email string) { return "", "" }

// VisibleMessages returns the questions whose events the receiver got. A question is closed when
// the receiver got the event of its end.
func (r *Receiver) VisibleMessages(string) []standin.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	var seen []standin.Message
	at := map[string]int{}
	for _, e := range r.events {
		question := e.question()
		if question == "" {
			continue
		}
		i, known := at[question]
		if !known {
			i = len(seen)
			at[question] = i
			seen = append(seen, standin.Message{Question: question})
		}
		seen[i].ID, seen[i].Text = e.id, e.Type
		seen[i].Closed = seen[i].Closed || e.closes()
	}
	return seen
}

// question returns the id of the question that the event is about.
func (e event) question() string {
	var q struct {
		ID string `json:"id"`
	}
	if e.Data.QuestionID == "" && len(e.Data.Question) > 0 && json.Unmarshal(e.Data.Question, &q) == nil {
		return q.ID
	}
	return e.Data.QuestionID
}

func (e event) closes() bool {
	switch strings.TrimPrefix(e.Type, "question.") {
	case "answered", "timed_out", "cancelled", "notice.closed":
		return true
	default:
		return false
	}
}

// Reply returns an error, because nobody can answer a webhook.
func (r *Receiver) Reply(string, standin.Message, standin.Reply) error {
	return errors.New("webhooks go out only: there is nothing to reply to")
}

// Feedback returns nothing, because there are no people to tell.
func (r *Receiver) Feedback(string) []string { return nil }

// SetInbound does nothing, because webhooks bring no answers back.
func (r *Receiver) SetInbound(string) {}
