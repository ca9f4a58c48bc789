package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// promptInput is what Claude Code sends to the tool that is named by its
// option --permission-prompt-tool.
type promptInput struct {
	ToolName  string          `json:"tool_name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
}

// verdict is what it wants to read: one text with this JSON and nothing else.
type verdict struct {
	Behavior     string          `json:"behavior"`
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
	Message      string          `json:"message,omitempty"`
}

func deny(format string, args ...any) verdict {
	return verdict{Behavior: "deny", Message: fmt.Sprintf(format, args...)}
}

// userQuestionTool is Claude Code's own way to ask; its answer is part of the
// permission.
const userQuestionTool = "AskUserQuestion"

// approve decides a permission prompt. Whatever goes wrong denies.
func (s *Server) approve(ctx context.Context, c *call) (*mcp.CallToolResult, error) {
	v, err := s.verdict(ctx, c)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		f := s.failure(ctx, err)
		v = deny("not allowed: %s (%s) %s", f.Message, f.Code, f.Hint)
	}
	data, err := fermata.ExactJSON(v)
	if err != nil {
		return nil, fermata.Internal("write the verdict", err)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(data)}}}, nil
}

func (s *Server) verdict(ctx context.Context, c *call) (verdict, error) {
	var in promptInput
	if err := json.Unmarshal(c.Params.Arguments, &in); err != nil {
		return verdict{}, fermata.Errorf(fermata.CodeInvalidRequest, "the arguments cannot be read: %w", err)
	}
	if err := neededError("tool_name", in.ToolName); err != nil {
		return verdict{}, err
	}
	if len(in.Input) == 0 {
		in.Input = json.RawMessage("{}")
	}
	if in.ToolUseID != "" {
		// The prompt's own call has another id each time; what it asks about
		// has one.
		c.name("prompt", in.ToolUseID)
	}
	if in.ToolName == userQuestionTool {
		return s.userQuestion(ctx, c, &in)
	}
	return s.gate(ctx, c, &in)
}

// gate lets the gates decide: their rules first, then a person, who approves
// exactly this call, once. A call that was denied for the time being meets the
// approval when the agent makes it again.
func (s *Server) gate(ctx context.Context, c *call, in *promptInput) (verdict, error) {
	gated := fermata.GateCall{
		TaskID: c.task, RunID: c.runID, Project: c.project, CallID: in.ToolUseID, Runner: "claude", Tool: in.ToolName, Input: in.Input,
	}
	if c.task == "" {
		gated.SessionKey, gated.Project = c.session, c.project
		if gated.SessionKey == "" {
			// Without a session each call is one of its own.
			gated.SessionKey = c.key
		}
	}
	v, err := c.desk.Gate(ctx, gated)
	if err != nil {
		return verdict{}, err
	}
	if v.Decision == fermata.GateAsk && v.QuestionID != "" {
		q, err := c.desk.Question(ctx, v.QuestionID)
		if err != nil {
			return verdict{}, err
		}
		if q, err = s.waitQuietly(ctx, c, q, s.ApproveWait); err != nil {
			return verdict{}, err
		}
		if q.Status == fermata.Pending {
			return c.denyYet(q), nil
		}
		if v, err = c.desk.Gate(ctx, gated); err != nil {
			return verdict{}, err
		}
	}
	if v.Decision != fermata.GateAllow {
		return deny("%s", v.Reason), nil
	}
	if len(v.Input) > 0 {
		return verdict{Behavior: "allow", UpdatedInput: v.Input}, nil
	}
	return verdict{Behavior: "allow", UpdatedInput: in.Input}, nil
}

// userQuestion asks what AskUserQuestion asks, and gives it the answers.
func (s *Server) userQuestion(ctx context.Context, c *call, in *promptInput) (verdict, error) {
	var ask askInput
	// Not strict: the program adds fields of its own from time to time.
	if err := json.Unmarshal(in.Input, &ask); err != nil {
		return verdict{}, fermata.Errorf(fermata.CodeInvalidRequest, "the questions cannot be read: %w", err)
	}
	a, err := ask.request()
	if err != nil {
		return verdict{}, err
	}
	q, err := c.ask(ctx, a)
	if err != nil {
		return verdict{}, err
	}
	if q, err = s.waitQuietly(ctx, c, q, s.ApproveWait); err != nil {
		return verdict{}, err
	}
	return in.answered(c, q)
}

// denyYet denies a call while a person has not decided, with what the agent does where it is.
func (c *call) denyYet(q *fermata.Question) verdict {
	if c.at == fermata.InWorker {
		return deny("waiting for a person (question %s). Stop now: end your turn, do not try another way. Do the same call again when you are resumed.", q.ID)
	}
	return deny("waiting for a person (question %s). Do not try another way: wait with check_answer and wait_seconds, or end your turn and say what you wait for. "+
		"Do the same call again when it is approved.", q.ID)
}

// refusal says why a call may not run.
func refusal(q *fermata.Question) string {
	text := closedMessage(q)
	if q.Resolution.Comment != "" {
		text += " The person's comment: " + q.Resolution.Comment
	}
	return text
}

// answered gives AskUserQuestion its answers, by the text of each question.
func (in *promptInput) answered(c *call, q *fermata.Question) (verdict, error) {
	r := q.Resolution
	if r == nil {
		return c.denyYet(q), nil
	}
	if len(r.Answers) == 0 {
		return deny("%s", refusal(q)), nil
	}
	input, err := agent.UserAnswers(in.Input, q)
	if err != nil {
		return verdict{}, fermata.Internal("write the answers", err)
	}
	return verdict{Behavior: "allow", UpdatedInput: input}, nil
}
