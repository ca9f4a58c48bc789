package http

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/outbound"
	"github.com/fermata-hq/fermata/internal/tool"
)

const (
	// maxRetryWait is the longest wait before a retry that a server can ask for.
	maxRetryWait = time.Hour
	// maxExcerpt is how much of the body an error shows, in bytes.
	maxExcerpt = 500
)

// response is the response to a request.
type response struct {
	Status  int
	Headers map[string]string
	kind    string
	body    []byte
}

// readResponse reads a response to its end.
func readResponse(ctx context.Context, req *http.Request, resp *http.Response) (*response, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, tool.MaxOutput+1))
	if err != nil {
		return nil, unreachedFailure(ctx, req, err)
	}
	if len(body) > tool.MaxOutput {
		return nil, tool.Permanent(fermata.Errorf(fermata.CodeInvalidRequest, "%s %s answered more than 1 MiB", req.Method, req.URL.Host).
			WithHint("ask for less: a page, a filter, or an address that tells only what the next steps need"))
	}
	a := &response{Status: resp.StatusCode, Headers: map[string]string{}, body: body}
	for name, values := range resp.Header {
		a.Headers[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
	}
	a.kind, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return a, nil
}

// output returns the response in the form that steps read.
func (a *response) output() (map[string]any, error) {
	headers := map[string]any{}
	for name, value := range a.Headers {
		headers[name] = value
	}
	out := map[string]any{"status": a.Status, "headers": headers}
	isJSON := a.kind == "application/json" || strings.HasSuffix(a.kind, "+json")
	switch {
	case isJSON && len(a.body) > 0:
		value, err := tool.Decode(a.body)
		if lost, ok := errors.AsType[*tool.LostNumberError](err); ok {
			return nil, tool.Permanent(fermata.LostNumberError("the answer", lost.Literal).WithHint("ask for the number as a text"))
		}
		if err != nil {
			return nil, tool.Transient(fermata.Errorf(fermata.CodeUnavailable, "the answer says that it is JSON, and is not: %s", err))
		}
		out["json"] = value
	case isText(a.body):
		out["body"] = string(a.body)
	default:
		out["body_base64"] = base64.StdEncoding.EncodeToString(a.body)
	}
	return out, nil
}

// isText reports whether a database can store b as text.
func isText(b []byte) bool { return utf8.Valid(b) && !strings.ContainsRune(string(b), 0) }

// statusFailure returns the failure for a response with an unexpected status. If the
// server is busy or broken, a retry may help.
func (a *response) statusFailure(req *http.Request, resp *http.Response) error {
	message := req.Method + " " + req.URL.Host + " answered " + resp.Status
	if shown := a.excerpt(); shown != "" {
		message += ": " + shown
	}
	switch {
	case a.Status == http.StatusTooManyRequests:
		return transientFailure(fermata.CodeRateLimited, message, resp)
	case a.Status >= http.StatusInternalServerError:
		return transientFailure(fermata.CodeUnavailable, message, resp)
	case a.Status/100 == 3:
		return tool.Permanent(fermata.Errorf(fermata.CodeInvalidRequest, "%s", message).
			WithHint("redirections are not followed: name the address to which it leads, or expect_status"))
	default:
		return tool.Permanent(fermata.Errorf(codeOf(a.Status), "%s", message).
			WithHint("where this is no failure, name it in expect_status"))
	}
}

func transientFailure(code fermata.Code, message string, resp *http.Response) error {
	e := fermata.Errorf(code, "%s", message)
	e.RetryAfter = outbound.RetryAfter(resp.Header.Get("Retry-After"), time.Now(), maxRetryWait)
	return tool.Transient(e)
}

func codeOf(status int) fermata.Code {
	switch status {
	case http.StatusUnauthorized:
		return fermata.CodeUnauthenticated
	case http.StatusForbidden:
		return fermata.CodeForbidden
	case http.StatusNotFound, http.StatusGone:
		return fermata.CodeNotFound
	default:
		return fermata.CodeInvalidRequest
	}
}

// excerpt returns the beginning of the body on one line, or "" if the body is
// no text.
func (a *response) excerpt() string {
	if !isText(a.body) {
		return ""
	}
	text := strings.Join(strings.Fields(string(a.body)), " ")
	if len(text) > maxExcerpt {
		text = strings.ToValidUTF8(text[:maxExcerpt], "") + "…"
	}
	return text
}
