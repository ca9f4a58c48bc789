package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
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
		raw, err := exactStructure(result, text)
		if err != nil {
			return tool.Result{}, tool.Permanent(fermata.Errorf(fermata.CodeInvalidRequest, "%s.%s answered what cannot be kept: %w", o.link.name, o.name, err))
		}
		out.Output, err = tool.Decode(raw)
		if lost, ok := errors.AsType[*tool.LostNumberError](err); ok {
			e := fermata.LostNumberError("the answer of "+o.link.name+"."+o.name, lost.Literal)
			return tool.Result{}, tool.Permanent(e.WithHint("ask for the number as a text"))
		}
		if err != nil {
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

// exactStructure returns the structured content of a result as JSON. The library reads its numbers as float64: large whole
// numbers are taken from the text, in which servers repeat the content.
func exactStructure(result *mcp.CallToolResult, text string) ([]byte, error) {
	raw, err := json.Marshal(result.StructuredContent)
	if err != nil || !hasLargeNumber(result.StructuredContent) {
		return raw, err
	}
	var same any
	if json.Unmarshal([]byte(text), &same) == nil && reflect.DeepEqual(same, result.StructuredContent) {
		return []byte(text), nil
	}
	return nil, errors.New("it has a number of more than 15 digits, which the text of the answer does not repeat")
}

// hasLargeNumber reports whether a decoded JSON value has a whole number that a float64 may have changed.
func hasLargeNumber(v any) bool {
	switch v := v.(type) {
	case float64:
		return math.Abs(v) >= 1<<53
	case []any:
		return slices.ContainsFunc(v, hasLargeNumber)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), hasLargeNumber)
	}
	return false
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
