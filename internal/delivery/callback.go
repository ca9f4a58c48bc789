package delivery

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
)

// planCallback plans the callback to the asker with the outcome of the question, if
// the question names an address for it.
func (b *batch) planCallback(q *fermata.Question, e *fermata.Event) {
	if q == nil || q.CallbackURL == "" {
		return
	}
	for _, ch := range b.channels {
		if ch.kind.Audience != ToAsker {
			continue
		}
		// One callback is enough, however many channels of this kind there are.
		d := b.newDelivery(ch, address{}, notice.Event, b.now, "callback/"+q.ID)
		d.QuestionID, d.TaskID, d.EventSeq = q.ID, q.TaskID, e.Seq
		b.rows = append(b.rows, d)
		return
	}
}

// callbackBody is the body of the callback to the asker. It contains the whole
// answer, as the API returns it, without redaction: the asker could not use a
// redacted answer.
type callbackBody struct {
	Type      string       `json:"type"`
	Timestamp time.Time    `json:"timestamp"`
	Data      callbackData `json:"data"`
}

type callbackData struct {
	QuestionID string                 `json:"question_id"`
	TaskID     string                 `json:"task_id"`
	Project    string                 `json:"project"`
	Title      string                 `json:"title"`
	AskedBy    fermata.Actor          `json:"asked_by"`
	Status     fermata.QuestionStatus `json:"status"`
	Resolution *fermata.Resolution    `json:"resolution"`
	State      json.RawMessage        `json:"state,omitempty"`
	Metadata   map[string]string      `json:"metadata,omitempty"`
}

// fillOutcome fills in the outcome of the delivery's question, and the address of
// the callback.
func fillOutcome(r store.Reader, c *claim, n *notice.Notice) error {
	q, err := r.Question(c.QuestionID)
	if err != nil {
		return err
	}
	if q.Resolution == nil {
		return fmt.Errorf("the question %s has not ended", q.ID)
	}
	n.To.Target = q.CallbackURL
	n.Raw, err = fermata.ExactJSON(callbackBody{
		Type: "question." + string(q.Status), Timestamp: q.Resolution.At,
		Data: callbackData{
			QuestionID: q.ID, TaskID: q.TaskID, Project: q.Project, Title: q.Title, AskedBy: q.AskedBy,
			Status: q.Status, Resolution: q.Resolution, State: q.State, Metadata: q.Metadata,
		},
	})
	return err
}
