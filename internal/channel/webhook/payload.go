package webhook

import (
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// payload is the body that receivers get.
type payload struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      any       `json:"data"`
}

// noticeData is the data of a message that a route or a question sends. Events to
// which the address subscribed have their own data.
type noticeData struct {
	DeliveryID string              `json:"delivery_id"`
	Purpose    notice.Purpose      `json:"purpose"`
	Title      string              `json:"title,omitempty"`
	Body       string              `json:"body,omitempty"`
	TaskTitle  string              `json:"task_title,omitempty"`
	Open       string              `json:"open,omitempty"`
	Question   *fermata.Question   `json:"question,omitempty"`
	Questions  []*fermata.Question `json:"questions,omitempty"`
	Outcome    string              `json:"outcome,omitempty"`
}

// encode returns the body of a notice. An event is sent unchanged, byte by
// byte, so that every attempt sends the same bytes.
func encode(n *notice.Notice) ([]byte, error) {
	if len(n.Raw) > 0 {
		return n.Raw, nil
	}
	data := noticeData{
		DeliveryID: n.Delivery, Purpose: n.Purpose, Title: n.Title, Body: n.Body, TaskTitle: n.TaskTitle, Open: n.Open,
		Question: n.Question, Questions: n.Questions,
	}
	kind := "notice." + string(n.Purpose)
	if n.Outcome != nil {
		kind, data.Outcome = "notice.closed", n.Outcome.Words
	}
	return fermata.ExactJSON(payload{Type: kind, Timestamp: n.At.UTC(), Data: data})
}
