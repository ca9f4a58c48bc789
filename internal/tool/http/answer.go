package http

import (
	"context"
	"encoding/base64"
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
	// longestWait is the longest wait before a retry that a server can ask for.
	longestWait = time.Hour
	// shownBody is how much of a refusal's body is shown, in bytes.
	shownBody = 500
)

// answer is the response to a request.
type answer struct {
	Status  int
	Headers map[string]string
	kind    string
	body    []byte
}

// read reads a response to its end.
func read(ctx context.Context, req *http.Request, resp *http.Response) (*answer, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, tool.MostOutput+1))
	if err != nil {
		return nil, unreachedFailure(ctx, req, err)
	}
	if len(body) > tool.MostOutput {
		return nil, tool.Hopeless(fermata.Errorf(fermata.CodeInvalidRequest, "%s %s answered more than 1 MiB", req.Method, req.URL.Host).
			WithHint("ask for less: a page, a filter, or an address that tells only what the next steps need"))
	}
	a := &answer{Status: resp.StatusCode, Headers: map[string]string{}, body: body}
	for name, values := range resp.Header {
		a.Headers[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
	}
	a.kind, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return a, nil
}

// output returns the response in the form that steps read.
func (a *answer) output() (map[string]any, error) {
	headers := map[string]any{}
	for name, value := range a.Headers {
		headers[name] = value
	}
	out := map[string]any{"status": a.Status, "headers": headers}
	isJSON := a.kind == "application/json" || strings.HasSuffix(a.kind, "+json")
	switch {
	case isJSON && len(a.body) > 0:
		value, err := tool.Decode(a.body)
		if err != nil {
			return nil, tool.Passing(fermata.Errorf(fermata.CodeUnavailable, "the answer says that it is JSON, and is not: %s", err))
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

// refusal returns the failure for a response with an unexpected status. If the
// server is busy or broken, a retry may help.
func (a *answer) refusal(req *http.Request, resp *http.Response) error {
	message := req.Method + " " + req.URL.Host + " answered " + resp.Status
	if shown := a.excerpt(); shown != "" {
		message += ": " + shown
	}
	switch {
	case a.Status == http.StatusTooManyRequests:
		return passing(fermata.CodeRateLimited, message, resp)
	case a.Status >= http.StatusInternalServerError:
		return passing(fermata.CodeUnavailable, message, resp)
	case a.Status/100 == 3:
		return tool.Hopeless(fermata.Errorf(fermata.CodeInvalidRequest, "%s", message).
			WithHint("redirections are not followed: name the address to which it leads, or expect_status"))
	default:
		return tool.Hopeless(fermata.Errorf(codeOf(a.Status), "%s", message).
			WithHint("where this is no failure, name it in expect_status"))
	}
}

func passing(code fermata.Code, message string, resp *http.Response) error {
	e := fermata.Errorf(code, "%s", message)
	e.RetryAfter = outbound.RetryAfter(resp.Header.Get("Retry-After"), time.Now(), longestWait)
	return tool.Passing(e)
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
func (a *answer) excerpt() string {
	if !isText(a.body) {
		return ""
	}
	text := strings.Join(strings.Fields(string(a.body)), " ")
	if len(text) > shownBody {
		text = strings.ToValidUTF8(text[:shownBody], "") + "…"
	}
	return text
}
