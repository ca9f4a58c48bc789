package hook

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// oneQuestionAtATime is the refusal that an agent reads when its call would ask while another question is pending.
const oneQuestionAtATime = "One question at a time: another one waits for a person already. Ask this when it is answered."

// askUserQuestion asks people the agent's own question, and returns the answer as the input of the call.
func (h *gateHook) askUserQuestion(ctx context.Context) (any, error) {
	var in struct {
		Questions []fermata.UserQuestion `json:"questions"`
	}
	if err := json.Unmarshal(h.event.Input, &in); err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the questions cannot be read: %w", err)
	}
	return h.askOnce(ctx, fermata.Ask{Questions: in.Questions}, func(q *fermata.Question) (any, error) {
		if len(q.Resolution.Answers) == 0 {
			return preToolUseOutput(denial(explainUnanswered(q))), nil
		}
		return h.allowWithAnswers(q)
	})
}

// exitPlanMode asks people to approve the plan. A deadline never approves it.
func (h *gateHook) exitPlanMode(ctx context.Context) (any, error) {
	action, err := json.Marshal(map[string]any{"tool": h.event.Tool, "input": h.event.Input})
	if err != nil {
		return nil, err
	}
	var in struct {
		Plan string `json:"plan"`
	}
	if err := json.Unmarshal(h.event.Input, &in); err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the plan cannot be read: %w", err)
	}
	if strings.TrimSpace(in.Plan) == "" {
		return preToolUseOutput(denial("There is no plan that a person could approve. Write it into the plan file first.")), nil
	}
	a := fermata.Ask{
		Type: fermata.Approval, Title: "May the agent carry out this plan?", Body: in.Plan, Action: action,
		Default: fermata.Reject, OnTimeout: fermata.TakeDefault,
	}
	return h.askOnce(ctx, a, func(q *fermata.Question) (any, error) {
		r := q.Resolution
		if !r.IsApproved() {
			return preToolUseOutput(denial("The plan was not approved: " + explainUnanswered(q))), nil
		}
		allow := &fermata.GateReply{
			Decision: fermata.GateAllow, Reason: "The plan was approved: " + withComment(r.Sentence(), r.Comment), Input: h.event.Input,
		}
		if len(r.Action) == 0 {
			return preToolUseOutput(allow), nil
		}
		var edited struct {
			Input json.RawMessage `json:"input"`
		}
		if err := json.Unmarshal(r.Action, &edited); err != nil || len(edited.Input) == 0 {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the edited plan has no input")
		}
		allow.Input = edited.Input
		return preToolUseOutput(allow), nil
	})
}

// askOnce asks in the task with a key made from the call's id, so that the same call finds its question again. It
// defers the call while the question is pending.
func (h *gateHook) askOnce(ctx context.Context, a fermata.Ask, onClosed func(*fermata.Question) (any, error)) (any, error) {
	a.IdempotencyKey = "claude:" + fermata.Digest([]string{h.Task, h.event.SessionID, h.event.CallID})
	a.RunID = h.Run
	q, err := h.server.Ask(ctx, h.Task, a)
	switch {
	case fermata.CodeOf(err) == fermata.CodePendingQuestionExists:
		return preToolUseOutput(denial(oneQuestionAtATime)), nil
	case err != nil:
		return nil, err
	case q.Status == fermata.Pending:
		return h.stopForQuestion(q.ID)
	default:
		return onClosed(q)
	}
}

// allowWithAnswers returns a reply that lets the call run with the answers.
func (h *gateHook) allowWithAnswers(q *fermata.Question) (any, error) {
	input, err := agent.AddUserAnswers(h.event.Input, q)
	return preToolUseOutput(&fermata.GateReply{Decision: fermata.GateAllow, Reason: q.Resolution.Sentence(), Input: input}), err
}

// explainUnanswered returns why a closed question has no answer, with the comment of the person who closed it, and
// what the agent should do next.
func explainUnanswered(q *fermata.Question) string {
	if q.Resolution.DecideYourself {
		return q.Refusal()
	}
	return withComment(q.Resolution.Sentence(), q.Resolution.Comment)
}

func withComment(text, comment string) string {
	if comment == "" {
		return text
	}
	return text + "\n\nComment: " + comment
}
