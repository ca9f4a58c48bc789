package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A tool is one entry of the list, and what answers its calls.
type tool struct {
	tool   *mcp.Tool
	handle mcp.ToolHandler
}

func (s *Server) tool(name, title, description string, input schema, do func(context.Context, *call) (*mcp.CallToolResult, error)) tool {
	return tool{
		tool: &mcp.Tool{
			Name: name, Title: title, Description: description, InputSchema: (&toolSchema{input}).raw(),
		},
		handle: func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			c, err := s.call(req)
			if err != nil {
				return s.refused(ctx, err), nil
			}
			result, err := do(ctx, c)
			if err != nil {
				if ctx.Err() != nil {
					// The client gave the call up: there is nobody to tell.
					return nil, ctx.Err()
				}
				return s.refused(ctx, err), nil
			}
			return result, nil
		},
	}
}

func tools(s *Server) []tool {
	return []tool{
		s.tool("ask_user", "Ask a person",
			"Ask a person a question that you cannot decide alone. Usually returns status \"pending\": then stop at once; you will be resumed with the answer.",
			object(with(asking, placing, waiting)), s.askUser),
		s.tool("check_answer", "Look whether a question is answered",
			"Read how a question stands: status, answer, who decided. Not for polling: after \"pending\" you are resumed by yourself.",
			object(with(schema{"question_id": text("The id that you got when you asked.")}, waiting), "question_id"), s.checkAnswer),
	}
}
