package http

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/outbound"
	"github.com/fermata-hq/fermata/internal/tool"
)

// request is the input of a step.
type request struct {
	Method       string           `json:"method"`
	URL          string           `json:"url"`
	Headers      map[string]any   `json:"headers"`
	Query        map[string]any   `json:"query"`
	Body         *string          `json:"body"`
	JSON         *json.RawMessage `json:"json"`
	ExpectStatus statuses         `json:"expect_status"`
}

// statuses is one HTTP status or a list of them.
type statuses []int

// UnmarshalJSON implements [json.Unmarshaler].
func (s *statuses) UnmarshalJSON(data []byte) error {
	var one int
	if json.Unmarshal(data, &one) == nil {
		*s = statuses{one}
		return nil
	}
	return json.Unmarshal(data, (*[]int)(s))
}

// idempotencyHeader is the header by which a server recognizes a repeated request.
const idempotencyHeader = "Idempotency-Key"

// connectionHeaders are headers that belong to the connection, so that a step cannot set
// them.
var connectionHeaders = []string{"Host", "Connection", "Content-Length", "Transfer-Encoding", "Upgrade", "Te", "Trailer"}

// build returns the HTTP request. Except for GET and HEAD it carries the
// idempotency key, unless the step sets its own.
func (in *request) build(ctx context.Context, key string) (*http.Request, error) {
	to, err := outbound.ParseURL("url", in.URL)
	if refusal, ok := errors.AsType[*fermata.Error](err); ok {
		return nil, tool.Permanent(refusal)
	}
	if to.RawQuery, err = in.query(to.Query(), to.RawQuery); err != nil {
		return nil, err
	}
	body, kind, err := in.body()
	if err != nil {
		return nil, err
	}
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	method = cmp.Or(strings.ToUpper(in.Method), method)
	req, err := http.NewRequestWithContext(ctx, method, to.String(), body)
	if err != nil {
		return nil, invalid("the request cannot be made: %s", err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	req.Header.Set("User-Agent", "fermata")
	if method != http.MethodGet && method != http.MethodHead && key != "" {
		req.Header.Set(idempotencyHeader, key)
	}
	return req, in.setHeaders(req.Header)
}

// checkInput returns an error if the URL or a header of a request is not valid.
func checkInput(given map[string]any) error {
	var in request
	if err := tool.DecodeInput(given, &in); err != nil {
		return err
	}
	_, err := outbound.ParseURL("url", in.URL)
	return fermata.JoinRefusals(err, in.setHeaders(http.Header{}))
}

// query adds the parameters of the step to the query of the URL. If there are
// none, the query stays as it is written.
func (in *request) query(have url.Values, written string) (string, error) {
	if len(in.Query) == 0 {
		return written, nil
	}
	for name, value := range in.Query {
		if value == nil {
			continue
		}
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for _, one := range list {
			text, err := scalar("query."+name, one)
			if err != nil {
				return "", err
			}
			have.Add(name, text)
		}
	}
	return have.Encode(), nil
}

// body returns the body of the request and its media type.
func (in *request) body() (io.Reader, string, error) {
	switch {
	case in.Body != nil && in.JSON != nil:
		return nil, "", invalid("give either body or json")
	case in.Body != nil:
		return strings.NewReader(*in.Body), "text/plain; charset=utf-8", nil
	case in.JSON != nil:
		return bytes.NewReader(*in.JSON), "application/json", nil
	default:
		return nil, "", nil
	}
}

// setHeaders adds the headers of the step. The error names every header that is not valid.
func (in *request) setHeaders(h http.Header) error {
	var problems []fermata.Problem
	for _, name := range slices.Sorted(maps.Keys(in.Headers)) {
		text, err := scalar("headers."+name, in.Headers[name])
		if err != nil {
			return err
		}
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case slices.Contains(connectionHeaders, canonical):
			problems = append(problems, fermata.Problem{Field: "headers." + name, Message: "belongs to the connection and cannot be set"})
		case !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(text):
			problems = append(problems, fermata.Problem{Field: "headers." + name, Message: "is no valid header"})
		}
		h.Set(name, text)
	}
	if len(problems) > 0 {
		return tool.Permanent(fermata.Invalid(problems...))
	}
	return nil
}

// scalar returns a value as text for a URL or a header.
func scalar(field string, value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case json.Number, bool:
		return fmt.Sprint(v), nil
	default:
		return "", invalid("%s must be a text, a number or a truth value", field)
	}
}

func invalid(format string, args ...any) error {
	return tool.Permanent(fermata.Errorf(fermata.CodeInvalidRequest, format, args...))
}
