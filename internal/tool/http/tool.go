// Package http implements the tool "http": one request to a URL that a workflow
// names. The HTTP client of the tool decides which addresses it may reach.
package http

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/outbound"
	"github.com/fermata-hq/fermata/internal/tool"
)

// Name is the name of the tool in steps.
const Name = "http"

var inputSchema = json.RawMessage(`{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "required": ["url"],
  "properties": {
    "method": {"enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], "description": "GET, or POST where a body is given."},
    "url": {"type": "string", "minLength": 1, "description": "http or https, without a password."},
    "headers": {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
    "query": {"type": "object", "additionalProperties": {"anyOf": [
      {"type": ["string", "number", "boolean", "null"]},
      {"type": "array", "items": {"type": ["string", "number", "boolean"]}}]},
      "description": "Added to the address; null leaves a name out."},
    "body": {"type": "string", "description": "Sent as it is."},
    "json": {"description": "Sent as JSON."},
    "expect_status": {"anyOf": [
      {"type": "integer", "minimum": 100, "maximum": 599},
      {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 100, "maximum": 599}}],
      "description": "What counts as success; otherwise every 2xx."}
  },
  "not": {"required": ["body", "json"]}
}`)

var outputSchema = json.RawMessage(`{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "required": ["status", "headers"],
  "properties": {
    "status": {"type": "integer"},
    "headers": {"type": "object", "additionalProperties": {"type": "string"}, "description": "By their names in lower case."},
    "json": {"description": "What was answered, where it is JSON."},
    "body": {"type": "string", "description": "What was answered, where it is other text."},
    "body_base64": {"type": "string", "description": "What was answered, where it is no text."}
  }
}`)

// Tool sends HTTP requests. It is safe for concurrent use.
type Tool struct{ client *http.Client }

var _ tool.Tool = (*Tool)(nil)

// New returns the tool. The client decides which addresses it may reach; see
// [outbound.Client].
func New(client *http.Client) *Tool { return &Tool{client: client} }

// Info implements [tool.Tool].
func (*Tool) Info() tool.Info {
	return tool.Info{
		Name: Name, Description: "Sends an HTTP request and returns what was answered.",
		Input: inputSchema, Check: checkInput, Output: outputSchema,
	}
}

// Call implements [tool.Tool].
func (t *Tool) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in request
	if err := tool.DecodeInput(c.Input, &in); err != nil {
		return tool.Result{}, err
	}
	req, err := in.build(ctx, c.Key)
	if err != nil {
		return tool.Result{}, err
	}
	result, err := t.send(ctx, &in, req)
	if err != nil && isRepeatable(req.Method, err) {
		err = tool.MarkSafeToRetry(err)
	}
	return result, err
}

func (t *Tool) send(ctx context.Context, in *request, req *http.Request) (tool.Result, error) {
	resp, err := t.client.Do(req)
	if err != nil {
		return tool.Result{}, unreachedFailure(ctx, req, err)
	}
	defer resp.Body.Close()
	a, err := readResponse(ctx, req, resp)
	if err != nil {
		return tool.Result{}, err
	}
	if !in.expects(a.Status) {
		return tool.Result{}, a.statusFailure(req, resp)
	}
	out, err := a.output()
	return tool.Result{Output: out, Note: fmt.Sprintf("%s %s answered %d", req.Method, req.URL.Host, a.Status)}, err
}

// isRepeatable reports whether a failed request can be sent again without a
// second effect. That is so if the method is idempotent (RFC 9110 section
// 9.2.2), if no connection was made, or if the server refused the request by
// its rate limit (RFC 6585 section 4).
func isRepeatable(method string, err error) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete:
		return true
	}
	op, network := errors.AsType[*net.OpError](err)
	return network && op.Op == "dial" || fermata.CodeOf(err) == fermata.CodeRateLimited
}

// expects reports whether the status counts as success.
func (in *request) expects(status int) bool {
	if len(in.ExpectStatus) == 0 {
		return status/100 == 2
	}
	return slices.Contains(in.ExpectStatus, status)
}

// unreachedFailure returns the failure of a request without a response. The
// message leaves out the query of the URL, which may contain a secret.
func unreachedFailure(ctx context.Context, req *http.Request, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// The client's error contains the whole URL.
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	description := req.Method + " " + req.URL.Host
	if outbound.IsRefused(err) {
		return tool.Permanent(fermata.Errorf(fermata.CodeForbidden, "%s: %s", description, err).
			WithHint("a network that is not public is named where the server is started: fermata serve --allow-networks"))
	}
	return tool.Transient(fermata.Errorf(fermata.CodeUnavailable, "%s: %w", description, err).
		WithHint("check the address, and that the server reaches it"))
}
