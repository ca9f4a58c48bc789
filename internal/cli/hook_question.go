package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/fermata-hq/fermata"
)

// oneAtATime is what the agent reads about a call that would ask while another
// question waits.
const oneAtATime = "One question at a time: another one waits for a person already. Ask this when it is answered."

// askUserQuestion puts the agent's own question to people, and gives the answer
// back as the input of the call.
func (h *hookRun) askUserQuestion(ctx context.Context) (*hookReply, error) {
	var in struct {
		Questions []fermata.UserQuestion `json:"questions"`
	}
	if err := json.Unmarshal(h.Input, &in); err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the questions cannot be read: %w", err)
	}
	return h.ask(ctx, fermata.Ask{Questions: in.Questions}, func(q *fermata.Question) (*hookReply, error) {
		if len(q.Resolution.Answers) == 0 {
			return h.decide(hookDeny, q.Resolution.Sentence()), nil
		}
		return h.answered(q)
	})
}

// exitPlanMode asks people to approve the plan. At the deadline nobody has.
func (h *hookRun) exitPlanMode(ctx context.Context) (*hookReply, error) {
	action, err := json.Marshal(map[string]any{"tool": h.Tool, "input": h.Input})
	if err != nil {
		return nil, err
	}
	var in struct {
		Plan string `json:"plan"`
	}
	if err := json.Unmarshal(h.Input, &in); err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the plan cannot be read: %w", err)
	}
	if strings.TrimSpace(in.Plan) == "" {
		return h.decide(hookDeny, "There is no plan that a person could approve. Write it into the plan file first."), nil
	}
	a := fermata.Ask{
		Type: fermata.Approval, Title: "May the agent carry out this plan?", Body: in.Plan, Action: action,
		Default: fermata.Reject, OnTimeout: fermata.TakeDefault,
	}
	return h.ask(ctx, a, func(q *fermata.Question) (*hookReply, error) {
		r := q.Resolution
		if !r.Approved() {
			return h.decide(hookDeny, "The plan was not approved: "+withComment(r.Sentence(), r.Comment)), nil
		}
		reply := h.decide(hookAllow, "The plan was approved: "+withComment(r.Sentence(), r.Comment))
		reply.Specific.Input = h.Input
		if len(r.Action) == 0 {
			return reply, nil
		}
		var edited struct {
			Input json.RawMessage `json:"input"`
		}
		if err := json.Unmarshal(r.Action, &edited); err != nil || len(edited.Input) == 0 {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the edited plan has no input")
		}
		reply.Specific.Input = edited.Input
		return reply, nil
	})
}

// ask asks in the task under the id of the call, so that the same call finds
// its question again. While that is pending the call is put off.
func (h *hookRun) ask(ctx context.Context, a fermata.Ask, closed func(*fermata.Question) (*hookReply, error)) (*hookReply, error) {
	server, err := h.s.server()
	if err != nil {
		return nil, err
	}
	a.IdempotencyKey = "claude:" + fermata.Digest([]string{h.task, h.SessionID, h.CallID})
	q, err := server.Ask(ctx, h.task, a)
	switch {
	case fermata.CodeOf(err) == fermata.CodePendingQuestionExists:
		return h.decide(hookDeny, oneAtATime), nil
	case err != nil:
		return nil, err
	case q.Status == fermata.Pending:
		return h.putOff(q.ID)
	default:
		return closed(q)
	}
}

// putOff lets the agent end; the worker resumes it with the answer, and the
// call comes again. A call that was put off before, and of which the agent is
// told in the prompt that follows, gets a plain word instead.
func (h *hookRun) putOff(questionID string) (*hookReply, error) {
	if h.CallID != "" && h.CallID == os.Getenv("FERMATA_CLAUDE_DEFERRED") {
		return h.decide(hookDeny, fmt.Sprintf("Not decided yet: the question %s is still open. Read the message that follows.", questionID)), nil
	}
	may, err := h.mayDefer()
	if err != nil {
		return nil, err
	}
	if !may {
		return h.decide(hookDeny, oneAtATime), nil
	}
	h.leave(stoppedFile, questionID)
	return h.decide(hookDefer, "waiting for a person: "+questionID), nil
}

// answered lets the call run with the answers by the text of their questions,
// as AskUserQuestion takes them.
func (h *hookRun) answered(q *fermata.Question) (*hookReply, error) {
	input := map[string]json.RawMessage{}
	if err := json.Unmarshal(h.Input, &input); err != nil {
		return nil, err
	}
	r := q.Resolution
	answers := map[string]string{}
	for i := range q.Items {
		if v, ok := r.Answers[q.Items[i].Key]; ok {
			answers[q.Items[i].Prompt] = answerText(v)
		}
	}
	note := withComment("", r.Comment)
	if r.DecidedBy != fermata.ActorHuman {
		note += "\n\n(No person decided this: " + r.Sentence() + ")"
	}
	if last := len(q.Items) - 1; note != "" && last >= 0 {
		answers[q.Items[last].Prompt] += note
	}
	var err error
	if input["answers"], err = json.Marshal(answers); err != nil {
		return nil, err
	}
	reply := h.decide(hookAllow, r.Sentence())
	reply.Specific.Input, err = json.Marshal(input)
	return reply, err
}

func withComment(text, comment string) string {
	if comment == "" {
		return text
	}
	return text + "\n\nComment: " + comment
}

// answerText is a value as AskUserQuestion writes it: several are joined.
func answerText(v any) string {
	list, ok := v.([]any)
	if !ok {
		return fmt.Sprint(v)
	}
	parts := make([]string, 0, len(list))
	for _, one := range list {
		parts = append(parts, fmt.Sprint(one))
	}
	return strings.Join(parts, ", ")
}
