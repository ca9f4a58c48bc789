package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/fermata-hq/fermata"
)

// maxReply is the largest part of a reply, in bytes, that the client reads.
const maxReply = 64 << 20

// errNoContent reports an empty reply (204) to callers that must distinguish it from a body.
var errNoContent = fermata.Errorf(fermata.CodeNotFound, "the server had nothing to reply")

// call is one request to the API, which may take several tries.
type call struct {
	method string
	path   string
	query  url.Values
	body   any
	// agentToken is the token of the worker's agents, which a claim names.
	agentToken string
}

// path joins the parts of an address below /v1. If a part cannot be an id, it returns "", and send refuses the call
// without a request.
func path(parts ...string) string {
	for _, part := range parts {
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			return ""
		}
	}
	return "/v1/" + strings.Join(parts, "/")
}

// get reads a resource into T.
func get[T any](ctx context.Context, c *Client, path string, query url.Values) (T, error) {
	return do[T](ctx, c, call{method: http.MethodGet, path: path, query: query})
}

// post sends a body and reads the reply into T.
func post[T any](ctx context.Context, c *Client, path string, body any) (T, error) {
	return do[T](ctx, c, call{method: http.MethodPost, path: path, body: body})
}

// do makes the call and decodes the reply into T.
func do[T any](ctx context.Context, c *Client, k call) (T, error) {
	var reply T
	data, err := c.send(ctx, k)
	if err != nil {
		return reply, err
	}
	if err := json.Unmarshal(data, &reply); err != nil {
		return reply, fermata.Errorf(fermata.CodeInternal, "read the reply of %s: %w", c.base.Host, err).
			WithHint("is the address that of a Fermata server?")
	}
	return reply, nil
}

// sendOnly makes a call and ignores the body of the reply, which may be empty.
func (c *Client) sendOnly(ctx context.Context, k call) error {
	_, err := c.send(ctx, k)
	if err == errNoContent { //nolint:errorlint // the very value, not one of its code
		return nil
	}
	return err
}

// send makes the call and returns the body of the reply, or errNoContent.
func (c *Client) send(ctx context.Context, k call) ([]byte, error) {
	if k.path == "" {
		return nil, fermata.Errorf(fermata.CodeNotFound, "an id has letters, digits, - and _ only, and at least one of them")
	}
	var body []byte
	if k.body != nil {
		var err error
		if body, err = fermata.ExactJSON(k.body); err != nil {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "write the request: %w", err)
		}
	}
	key := ""
	if k.method == http.MethodPost {
		key, _ = ctx.Value(idempotencyKey{}).(string)
		key = cmp.Or(key, rand.Text())
	}
	return retry(ctx, c, func() ([]byte, error) {
		req, err := c.request(ctx, k, body)
		if err != nil {
			return nil, err
		}
		if key != "" {
			req.Header.Set("Idempotency-Key", key)
		}
		return c.try(req)
	})
}

// idempotencyKey is the context key of an idempotency key.
type idempotencyKey struct{}

// WithIdempotencyKey returns a context with an idempotency key for one write. If the client gave up, make the same request with
// the same key again: if the first request arrived, you get its reply. The key has at most 200 bytes.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, idempotencyKey{}, key)
}

// request returns the HTTP request for one try.
func (c *Client) request(ctx context.Context, k call, body []byte) (*http.Request, error) {
	address := c.base.String() + k.path
	if len(k.query) > 0 {
		address += "?" + k.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, k.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "make the request: %w", err)
	}
	if k.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if k.agentToken != "" {
		req.Header.Set("Fermata-Agent-Token", k.agentToken)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.userAgent)
	return req, nil
}

// try sends the request once. A body that was cut off counts as a broken connection, not as a reply.
func (c *Client) try(req *http.Request) ([]byte, error) {
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachableError(req.Context(), err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	switch {
	case err != nil:
		return nil, c.unreachableError(req.Context(), err)
	case res.StatusCode >= 300:
		return nil, c.readProblem(res, data)
	case res.StatusCode == http.StatusNoContent:
		return nil, errNoContent
	default:
		return data, nil
	}
}
