package client

import (
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
)

// BatchAnswer is one answer of a batch.
type BatchAnswer struct {
	QuestionID string `json:"question_id"`
	fermata.Answer
}

// BatchResult is the result of one answer of a batch.
type BatchResult struct {
	QuestionID string
	// Status is the HTTP status that the answer would have had in a call of its own.
	Status   int
	Question *fermata.Question
	// Err is why the server refused the answer. It is nil if the server accepted it.
	Err *fermata.Error
}

// UnmarshalJSON reads a result, and turns the problem of a refused answer into Err.
func (r *BatchResult) UnmarshalJSON(data []byte) error {
	var wire struct {
		QuestionID string            `json:"question_id"`
		Status     int               `json:"status"`
		Question   *fermata.Question `json:"question"`
		Problem    *problem          `json:"problem"`
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	*r = BatchResult{QuestionID: wire.QuestionID, Status: wire.Status, Question: wire.Question}
	if wire.Problem != nil {
		r.Err = wire.Problem.asError()
	}
	return nil
}

// AnswerMany answers up to 100 questions in one call. The server accepts or refuses each answer by itself. The error is
// about the call as a whole.
func (c *Client) AnswerMany(ctx context.Context, batch []BatchAnswer) ([]BatchResult, error) {
	body := struct {
		Items []BatchAnswer `json:"items"`
	}{batch}
	reply, err := post[struct {
		Items []BatchResult `json:"items"`
	}](ctx, c, path("answers"), body)
	return reply.Items, err
}
