package api

import (
	"context"

	"github.com/fermata-hq/fermata"
)

// answerBatch answers many questions in one call.
type answerBatch struct {
	Items []answerPart `json:"items" minItems:"1" maxItems:"100"`
}

// answerPart is the answer to one question of a batch.
type answerPart struct {
	QuestionID string `json:"question_id" minLength:"1" maxLength:"64"`
	fermata.Answer
}

// answerResults holds the result of each part of a batch.
type answerResults struct {
	Items []answerResult `json:"items" doc:"in the order of the request"`
}

// answerResult is the reply that the part would get as a separate call.
type answerResult struct {
	QuestionID string            `json:"question_id"`
	Status     int               `json:"status" doc:"HTTP status of this part"`
	Question   *fermata.Question `json:"question,omitempty"`
	Problem    *ProblemDetails   `json:"problem,omitempty"`
}

func (s *Server) registerAnswers() {
	addOperation(s, operation("POST /answers", "answer-many", "Answer many questions; each part succeeds or fails alone"), s.answers)
}

// answers answers the questions one after the other. A part that fails does not
// stop the others.
func (s *Server) answers(ctx context.Context, c fermata.Caller, in *bodyInput[answerBatch]) (*reply[answerResults], error) {
	if err := c.CheckPermission(fermata.ToAnswer, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	results := make([]answerResult, 0, len(in.Body.Items))
	for i, part := range in.Body.Items {
		r := answerResult{QuestionID: part.QuestionID, Status: 200}
		q, err := s.answerPart(withPartKey(ctx, i), c, part)
		if err != nil {
			r.Problem = s.problem(ctx, err)
			r.Status = r.Problem.Status
		} else {
			r.Question = q
		}
		results = append(results, r)
	}
	return replyOf(answerResults{results}, nil)
}

func (s *Server) answerPart(ctx context.Context, c fermata.Caller, part answerPart) (*fermata.Question, error) {
	if err := s.limits.limitQuestion(c, part.QuestionID); err != nil {
		return nil, err
	}
	return s.answerSigned(ctx, c, part.QuestionID, part.Answer)
}
