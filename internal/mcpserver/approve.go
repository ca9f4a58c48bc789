package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// promptInput is the input that Claude Code sends to the tool named by its option --permission-prompt-tool.
type promptInput struct {
	ToolName  string          `json:"tool_name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
}

// promptReply is the reply that Claude Code expects: one text with this JSON and nothing else.
type promptReply struct {
	Behavior     string          `json:"behavior"`
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
	Message      string          `json:"message,omitempty"`
}

func deny(format string, args ...any) promptReply {
	return promptReply{Behavior: "deny", Message: fmt.Sprintf(format, args...)}
}

// userQuestionTool is the tool of Claude Code that asks the user. The reply to its permission prompt contains the
// answers.
const userQuestionTool = "AskUserQuestion"

// approve decides a permission prompt. Every error denies the call.
func (s *Server) approve(ctx context.Context, c *call) (*mcp.CallToolResult, error) {
	v, err := s.decidePrompt(ctx, c)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		f := s.failureOf(ctx, err)
		v = deny("not allowed: %s (%s) %s", f.Message, f.Code, f.Hint)
	}
	data, err := fermata.ExactJSON(v)
	if err != nil {
		return nil, fermata.Internal("write the verdict", err)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(data)}}}, nil
}

func (s *Server) decidePrompt(ctx context.Context, c *call) (promptReply, error) {
	var in promptInput
	if err := json.Unmarshal(c.Params.Arguments, &in); err != nil {
		return promptReply{}, fermata.Errorf(fermata.CodeInvalidRequest, "the arguments cannot be read: %w", err)
	}
	if err := checkNotEmpty("tool_name", in.ToolName); err != nil {
		return promptReply{}, err
	}
	if len(in.Input) == 0 {
		in.Input = json.RawMessage("{}")
	}
	if in.ToolUseID != "" {
		// The call of the permission prompt has a new id each time. The id of the tool call that it asks about stays
		// the same.
		c.setKey("prompt", in.ToolUseID)
	}
	if in.ToolName == userQuestionTool {
		return s.askUserQuestion(ctx, c, &in)
	}
	return s.checkCall(ctx, c, &in)
}

// checkCall checks a tool call: first by the rules of the gates, then by asking a person, who approves exactly this call,
// once. If the call is denied because nobody has decided yet, the approval applies when the agent repeats the call.
func (s *Server) checkCall(ctx context.Context, c *call, in *promptInput) (promptReply, error) {
	gateCall := fermata.GateCall{
		TaskID: c.task, RunID: c.runID, Project: c.project, CallID: in.ToolUseID, Runner: "claude", Tool: in.ToolName, Input: in.Input,
	}
	if c.task == "" {
		gateCall.SessionKey, gateCall.Project = c.session, c.project
		if gateCall.SessionKey == "" {
			// Without a session, each call gets its own.
			gateCall.SessionKey = c.key
		}
	}
	v, err := c.backend.Gate(ctx, gateCall)
	if err != nil {
		return promptReply{}, err
	}
	if v.Decision == fermata.GateAsk && v.QuestionID != "" {
		q, err := c.backend.Question(ctx, v.QuestionID)
		if err != nil {
			return promptReply{}, err
		}
		if q, err = s.waitQuietly(ctx, c, q, s.ApproveWait); err != nil {
			return promptReply{}, err
		}
		if q.Status == fermata.Pending {
			return c.denyPending(q), nil
		}
		if v, err = c.backend.Gate(ctx, gateCall); err != nil {
			return promptReply{}, err
		}
	}
	if v.Decision != fermata.GateAllow {
		return deny("%s", v.Reason), nil
	}
	if len(v.Input) > 0 {
		return promptReply{Behavior: "allow", UpdatedInput: v.Input}, nil
	}
	return promptReply{Behavior: "allow", UpdatedInput: in.Input}, nil
}

// askUserQuestion asks the questions of AskUserQuestion and returns their answers to it.
func (s *Server) askUserQuestion(ctx context.Context, c *call, in *promptInput) (promptReply, error) {
	var ask askInput
	// Decoding is not strict, because Claude Code adds new fields from time to time.
	if err := json.Unmarshal(in.Input, &ask); err != nil {
		return promptReply{}, fermata.Errorf(fermata.CodeInvalidRequest, "the questions cannot be read: %w", err)
	}
	a, err := ask.request()
	if err != nil {
		return promptReply{}, err
	}
	q, err := c.ask(ctx, a)
	if err != nil {
		return promptReply{}, err
	}
	if q, err = s.waitQuietly(ctx, c, q, s.ApproveWait); err != nil {
		return promptReply{}, err
	}
	return in.replyWithAnswers(c, q)
}

// denyPending denies a call until a person decides. It tells the agent how to wait, which depends on where the agent runs.
func (c *call) denyPending(q *fermata.Question) promptReply {
	if c.agentPlace == fermata.HostWorker {
		return deny("waiting for a person (question %s). Stop now: end your turn, do not try another way. Do the same call again when you are resumed.", q.ID)
	}
	return deny("waiting for a person (question %s). Do not try another way: wait with check_answer and wait_seconds, or end your turn and say what you wait for. "+
		"Do the same call again when it is approved.", q.ID)
}

// refusalReason returns the reason why a call may not run.
func refusalReason(q *fermata.Question) string {
	text := closedMessage(q)
	if q.Resolution.Comment != "" {
		text += " The person's comment: " + q.Resolution.Comment
	}
	return text
}

// replyWithAnswers returns the answers to AskUserQuestion, by the text of each question.
func (in *promptInput) replyWithAnswers(c *call, q *fermata.Question) (promptReply, error) {
	r := q.Resolution
	if r == nil {
		return c.denyPending(q), nil
	}
	if len(r.Answers) == 0 {
		return deny("%s", refusalReason(q)), nil
	}
	input, err := agent.AddUserAnswers(in.Input, q)
	if err != nil {
		return promptReply{}, fermata.Internal("write the answers", err)
	}
	return promptReply{Behavior: "allow", UpdatedInput: input}, nil
}
