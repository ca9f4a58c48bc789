package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is a tool with the handler of its calls.
type tool struct {
	definition *mcp.Tool
	handle     mcp.ToolHandler
}

type handler func(context.Context, *call) (*mcp.CallToolResult, error)

func (s *Server) newTool(name, title, description string, input schema, do handler) tool {
	return tool{
		definition: &mcp.Tool{Name: name, Title: title, Description: description, InputSchema: input, Annotations: &mcp.ToolAnnotations{
			Title: title, DestructiveHint: new(bool), OpenWorldHint: new(bool),
		}},
		handle: s.handle(do),
	}
}

// asReadOnly marks a tool as read-only.
func (t tool) asReadOnly() tool {
	t.definition.Annotations.ReadOnlyHint = true
	return t
}

// handle returns a handler that turns the errors of a tool into results that
// the agent can read.
func (s *Server) handle(do handler) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c, err := s.newCall(req)
		if err != nil {
			return s.refusedResult(ctx, err), nil
		}
		result, err := do(ctx, c)
		switch {
		case err == nil:
			return result, nil
		case ctx.Err() != nil:
			// The client gave up the call, so it does not receive a result.
			return nil, ctx.Err()
		default:
			return s.refusedResult(ctx, err), nil
		}
	}
}

func (s *Server) tools() []tool {
	return []tool{
		s.newTool(s.AskTool, "Ask a person",
			"Ask a person what you cannot decide alone. With wait_seconds the answer of a person who is near is the result; after status \"pending\" do what its message says.",
			object(mergeSchemas(askFields, placementFields, waitFields)), s.askUser),
		s.newTool("post_question", "Ask and go on",
			"Ask a person and return at once with the id. Use it with type non_blocking and a default when you can go on without the answer.",
			object(mergeSchemas(askFields, placementFields, workflowFields)), s.postQuestion),
		s.newTool("request_approval", "Ask for an approval",
			"Show a person exactly what you want to run and ask for permission. What was approved may run once, as it was shown or as it was edited. After status \"pending\" do what its message says.",
			object(mergeSchemas(approvalFields, placementFields, waitFields)), s.requestApproval),
		s.newTool("check_answer", "Look whether a question is answered",
			"Read how a question stands: status, answer, who decided. Not for polling; wait_seconds waits for the answer.",
			object(mergeSchemas(schema{"question_id": questionIDSchema}, waitFields), "question_id"), s.checkAnswer).asReadOnly(),
		s.newTool("cancel_question", "Withdraw a question",
			"Withdraw a question that you do not need an answer to any more. Tells how it stood before.",
			object(schema{"question_id": questionIDSchema, "reason": text("Why, for the person who looks at it.")}, "question_id"), s.cancelQuestion),
		s.newTool("report_progress", "Report progress",
			"Tell people how far you are. Asks for nothing; go on at once.",
			object(mergeSchemas(progressFields, placementFields), "message"), s.reportProgress),
		s.newTool("read_messages", "Read messages of people",
			"Read what people wrote to you about this task. Give as after what was last the time before, to get only what is new.",
			object(schema{"task_id": placementFields["task_id"], "after": text("Only messages after the one with this id: the field last of your last reading. All that you were not told at your start, when left out.")}), s.readMessages).asReadOnly(),
		s.newTool("approve", "Permission prompt",
			"For the permission prompt of Claude Code (--permission-prompt-tool). Do not call it yourself; use request_approval.",
			object(schema{
				"tool_name":   text("The tool that wants to run."),
				"input":       schema{"type": "object", "description": "Its input.", "additionalProperties": true},
				"tool_use_id": text("The id of the call."),
			}, "tool_name", "input"), s.approve),
	}
}
