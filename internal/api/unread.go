package api

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/fermata-hq/fermata"
)

// cursorParameter is the only parameter that may be empty: an empty cursor means the first page.
const cursorParameter = "cursor"

// refuseUnreadValues refuses a parameter that is given twice or is empty. Only one value would be read, and an empty
// filter would show everything.
func refuseUnreadValues(u *url.URL) error {
	if u.RawQuery == "" || !hasOwnParameters(u.Path) {
		return nil
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fermata.Errorf(fermata.CodeInvalidRequest, "the query of the address is malformed")
	}
	var faults []fermata.Problem
	for name, list := range values {
		switch {
		case len(list) > 1:
			faults = append(faults, fermata.Problem{Field: name, Message: "stands twice; several values of a list are separated by commas"})
		case list[0] == "" && name != cursorParameter:
			faults = append(faults, fermata.Problem{Field: name, Message: "the value is empty; give it one, or leave the parameter out"})
		}
	}
	if len(faults) == 0 {
		return nil
	}
	slices.SortFunc(faults, func(a, b fermata.Problem) int { return strings.Compare(a.Field, b.Field) })
	return fermata.Invalid(faults...)
}

// hasOwnParameters reports whether Fermata defines the parameters at a path. At other paths, identity providers and remote
// systems add their own.
func hasOwnParameters(path string) bool {
	return strings.HasPrefix(path, "/v1/") && path != OIDCCallbackPath &&
		!strings.HasPrefix(path, inboundPath) && !strings.HasPrefix(path, workflowHookPath)
}

// refuseUnreadBody refuses a body that the call does not read.
func (s *Server) refuseUnreadBody(ctx huma.Context, next func(huma.Context)) {
	if ctx.Operation().RequestBody == nil {
		r, w := humago.Unwrap(ctx)
		if err := refuseBody(r); err != nil {
			s.writeProblem(w, r, err)
			return
		}
	}
	next(ctx)
}

// refuseBody refuses a request with a body.
func refuseBody(r *http.Request) error {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil
	}
	n := 1
	if r.ContentLength < 0 {
		// The request does not state the length of its body.
		n, _ = io.ReadFull(r.Body, make([]byte, 1))
	}
	if n == 0 {
		return nil
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "%s %s takes no body", r.Method, r.URL.Path).
		WithHint("leave the body out; the filters of a list are parameters of the address")
}
