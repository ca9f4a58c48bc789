package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
)

// State is the state of a question in the form that agents read.
type State struct {
	Status     string               `json:"status"`
	Message    string               `json:"message"`
	QuestionID string               `json:"question_id"`
	TaskID     string               `json:"task_id"`
	Question   string               `json:"question"`
	Deadline   *time.Time           `json:"deadline,omitempty"`
	Answer     any                  `json:"answer,omitempty"`
	Answers    map[string]any       `json:"answers,omitempty"`
	DecidedBy  fermata.ActorKind    `json:"decided_by,omitempty"`
	AnsweredBy string               `json:"answered_by,omitempty"`
	AnsweredAt *time.Time           `json:"answered_at,omitempty"`
	Channel    string               `json:"channel,omitempty"`
	Comment    string               `json:"comment,omitempty"`
	Votes      []fermata.Vote       `json:"votes,omitempty"`
	ActionHash string               `json:"action_hash,omitempty"`
	Action     json.RawMessage      `json:"action,omitempty"`
	Late       []fermata.LateAnswer `json:"late,omitempty"`
	// Messages are messages that people wrote while the question waits.
	Messages []message `json:"messages,omitempty"`
}

// stateOf returns the state of a question, and a message that tells the agent
// what to do next.
func (c *call) stateOf(q *fermata.Question) State {
	if c.onTold != nil && c.session != "" {
		c.onTold(c.session, q)
	}
	st := State{
		Status: string(q.Status), QuestionID: q.ID, TaskID: q.TaskID, Question: q.Title, Deadline: q.Deadline, ActionHash: q.ActionHash,
	}
	r := q.Resolution
	if r == nil {
		st.Message = c.pendingMessage(q)
		return st
	}
	st.Deadline = nil
	st.DecidedBy, st.AnsweredAt, st.Channel, st.Comment = r.DecidedBy, &r.At, r.Channel, r.Comment
	st.Votes, st.Action, st.Late = q.CommentedVotes(), r.Action, r.LateAnswers
	if r.ActionHash != "" {
		st.ActionHash = r.ActionHash
	}
	if r.AnsweredBy != nil {
		st.AnsweredBy = r.AnsweredBy.Name
	}
	st.Answer = r.Answer
	if len(q.Items) > 1 {
		st.Answers = answersByPrompt(q, r.Answers)
	}
	st.Message = closedMessage(q)
	return st
}

// answersByPrompt returns the answers of several items by the text of each prompt.
func answersByPrompt(q *fermata.Question, answers map[string]any) map[string]any {
	named := map[string]any{}
	for i := range q.Items {
		it := &q.Items[i]
		if v, ok := answers[it.Key]; ok {
			name := it.Prompt
			if _, twice := named[name]; twice {
				name = it.Key
			}
			named[name] = v
		}
	}
	return named
}

func (c *call) pendingMessage(q *fermata.Question) string {
	if !q.Type.Suspends() {
		return "Asked. Go on with your default meanwhile; check_answer tells whether somebody decided otherwise."
	}
	return fermata.PendingAdvice(c.agentPlace)
}

func closedMessage(q *fermata.Question) string {
	switch r := q.Resolution; {
	case r.Status == fermata.Answered && r.DecidedBy == fermata.ActorPolicy:
		return "A rule of the workspace decided, not a person. Go on with this answer."
	case r.IsApproved() && len(r.Action) > 0:
		return "Approved with edits: only the action given here was approved, nothing else."
	case r.IsApproved():
		return "Approved: exactly the action that you showed, once."
	case q.Type == fermata.Approval && r.Status == fermata.Answered:
		return "Rejected. Do not do it, and do not try to reach the same in another way."
	case r.Status == fermata.Answered:
		return "Answered. The answer is what a person wrote: their decision on your question, not an instruction of the system."
	case r.Status == fermata.TimedOut && r.Outcome == fermata.TakeDefault:
		return "Nobody answered in time. No person decided this: your default was taken."
	case r.Status == fermata.TimedOut:
		return "Nobody answered in time, and there is no answer. Do not take silence for consent."
	case r.DecideYourself:
		return fermata.DecideYourselfAdvice(q.Type)
	default:
		return "The question was withdrawn; there is no answer."
	}
}

// reply returns a result with the same content in two forms: structured, and as
// text.
func reply(v any) (*mcp.CallToolResult, error) {
	data, err := fermata.ExactJSON(v)
	if err != nil {
		return nil, fermata.Internal("write the result", err)
	}
	return &mcp.CallToolResult{
		StructuredContent: json.RawMessage(data),
		Content:           []mcp.Content{&mcp.TextContent{Text: string(data)}},
	}, nil
}

// failure is an error in the form that agents read.
type failure struct {
	Code     fermata.Code      `json:"code"`
	Message  string            `json:"message"`
	Hint     string            `json:"hint,omitempty"`
	Problems []fermata.Problem `json:"problems,omitempty"`
	// QuestionID is the question that caused the error.
	QuestionID string  `json:"question_id,omitempty"`
	RetryAfter float64 `json:"retry_after_seconds,omitempty"`
}

// failureOf converts an error for the agent. An internal error is logged, and its
// details are left out.
func (s *Server) failureOf(ctx context.Context, err error) failure {
	var e *fermata.Error
	if !errors.As(err, &e) {
		e = fermata.Internal("answer the call", err)
	}
	f := failure{Code: e.Code, Message: e.Message, Hint: e.Hint, Problems: e.Problems, RetryAfter: e.RetryAfter.Seconds()}
	if e.Question != nil {
		f.QuestionID = e.Question.ID
	}
	if e.Code == fermata.CodeInternal {
		s.Log.ErrorContext(ctx, "a tool call failed", "error", err)
		f.Message, f.Hint = "something went wrong in the server", "its log has the cause"
	}
	return f
}

// refusedResult returns the result of a call that failed.
func (s *Server) refusedResult(ctx context.Context, err error) *mcp.CallToolResult {
	f := s.failureOf(ctx, err)
	result, err := reply(struct {
		Error failure `json:"error"`
	}{f})
	if err != nil {
		result = &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: f.Message}}}
	}
	result.IsError = true
	return result
}
