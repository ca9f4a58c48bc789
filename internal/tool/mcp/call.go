package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
)

// KeyMeta is the name of the idempotency key in the _meta of a call. A server
// can use it to recognize a repeated call.
const KeyMeta = "fermata/idempotency_key"

// Call implements [tool.Tool].
func (o *serverTool) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	input := c.Input
	if input == nil {
		input = map[string]any{}
	}
	result, err := o.send(ctx, &mcp.CallToolParams{Name: o.name, Arguments: input, Meta: mcp.Meta{KeyMeta: c.Key}})
	if err != nil {
		return tool.Result{}, err
	}
	text, leftOut := textOf(result.Content)
	if result.IsError {
		return tool.Result{}, tool.Transient(fermata.Errorf(fermata.CodeInvalidRequest, "%s.%s: %s", o.link.name, o.name, clipError(text)))
	}
	return o.output(result, text, leftOut)
}

// send calls the tool. If the server has lost the session, it has done nothing,
// so send repeats the call once in a new session.
func (o *serverTool) send(ctx context.Context, p *mcp.CallToolParams) (*mcp.CallToolResult, error) {
	for retried := false; ; retried = true {
		conn, err := o.link.open(ctx)
		if err != nil {
			return nil, tool.MarkSafeToRetry(err)
		}
		result, err := conn.session.CallTool(ctx, p)
		switch {
		case err == nil:
			return result, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, mcp.ErrSessionMissing) && !retried:
			o.link.drop(conn)
		default:
			return nil, o.explainFailure(conn, err)
		}
	}
}

// codeRejected is the code of the client's own error for a request that did not
// reach the server.
const codeRejected = -32005

// explainFailure converts an error that is not a result of the tool.
func (o *serverTool) explainFailure(conn *connection, err error) error {
	refused, answered := errors.AsType[*jsonrpc.Error](err)
	unsent := answered && refused.Code == codeRejected
	if !answered || unsent || errors.Is(err, mcp.ErrConnectionClosed) {
		o.link.drop(conn)
		err = o.link.downFailure(conn, err)
		if unsent {
			err = tool.MarkSafeToRetry(err)
		}
		return err
	}
	e := fermata.Errorf(fermata.CodeInvalidRequest, "%s.%s: %s", o.link.name, o.name, clipError(refused.Message))
	switch refused.Code {
	case jsonrpc.CodeInvalidParams, jsonrpc.CodeMethodNotFound, jsonrpc.CodeInvalidRequest:
		return tool.Permanent(e.WithHint("compare the step with the tools that the MCP server %s has", o.link.name))
	default:
		return tool.Transient(e)
	}
}

// output returns the result of the tool: its structured content, else its text.
func (o *serverTool) output(result *mcp.CallToolResult, text string, leftOut []string) (tool.Result, error) {
	out := tool.Result{Output: text, Note: o.link.name + "." + o.name}
	size := len(text)
	if result.StructuredContent != nil {
		raw, err := json.Marshal(result.StructuredContent)
		if err != nil {
			return tool.Result{}, tool.Transient(fermata.Errorf(fermata.CodeUnavailable, "%s.%s answered no JSON: %w", o.link.name, o.name, err))
		}
		if out.Output, err = tool.Decode(raw); err != nil {
			return tool.Result{}, err
		}
		size = len(raw)
	} else if len(leftOut) > 0 {
		out.Note += " (left out: " + strings.Join(leftOut, ", ") + ")"
	}
	if size > tool.MaxOutput {
		return tool.Result{}, tool.Permanent(fermata.Errorf(fermata.CodeInvalidRequest, "%s.%s answered more than 1 MiB", o.link.name, o.name).
			WithHint("ask for less"))
	}
	return out, nil
}

// textOf returns the texts of a result, joined, and names the other parts of
// it.
func textOf(content []mcp.Content) (text string, leftOut []string) {
	var parts []string
	for _, c := range content {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, c.Text)
		case *mcp.EmbeddedResource:
			if c.Resource != nil && c.Resource.Text != "" {
				parts = append(parts, c.Resource.Text)
				continue
			}
			leftOut = append(leftOut, "a resource")
		case *mcp.ResourceLink:
			parts = append(parts, c.URI)
		case *mcp.ImageContent:
			leftOut = append(leftOut, "an image")
		case *mcp.AudioContent:
			leftOut = append(leftOut, "a sound")
		default:
			leftOut = append(leftOut, fmt.Sprintf("%T", c))
		}
	}
	return strings.Join(parts, "\n"), leftOut
}

// maxErrorText is how many bytes of a server's text an error contains.
const maxErrorText = 2000

func clipError(s string) string {
	s = strings.TrimSpace(s)
	if len(s) <= maxErrorText {
		return s
	}
	return strings.ToValidUTF8(s[:maxErrorText], "") + "…"
}
