package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fermata-hq/fermata"
)

// unread is a name that no call has as a field or as a parameter.
const unread = "nobody_reads_this"

// described is the part of a call's description that this file needs.
type described struct {
	Parameters  []struct{ Name, In string }
	RequestBody *struct {
		Content map[string]struct{ Schema json.RawMessage }
	}
}

var inBraces = regexp.MustCompile(`\{[^}]*\}`)

// foreign are the calls whose form others define: the body of a webhook is for
// the workflow, and identity providers add parameters.
var foreign = []string{"POST /v1/hooks/workflow/{name}", "GET /v1/sign-in/oidc/callback"}

// eachCall runs a test for every call of the OpenAPI document, with a value in
// place of each id.
func eachCall(t *testing.T, test func(t *testing.T, w *world, call string, d described)) {
	t.Helper()
	w := newWorld(t)
	var doc struct {
		Paths map[string]map[string]described
	}
	w.call("", "GET /openapi.json", "").read(t, &doc)
	n := 0
	for path, calls := range doc.Paths {
		for method, d := range calls {
			if slices.Contains(foreign, strings.ToUpper(method)+" "+path) {
				continue
			}
			n++
			call := strings.ToUpper(method) + " " + inBraces.ReplaceAllString(path, "x")
			t.Run(strings.ToUpper(method)+" "+path, func(t *testing.T) { test(t, w.in(t), call, d) })
		}
	}
	if n < 100 {
		t.Errorf("%d calls are described", n)
	}
}

// wantUnread checks that the reply names the unknown field.
func wantUnread(t *testing.T, r reply) {
	t.Helper()
	if r.status != http.StatusBadRequest {
		t.Fatalf("got %d %s", r.status, r.body)
	}
	p := r.problem(t)
	named := func(f fermata.Problem) bool { return f.Field == unread || strings.HasSuffix(f.Field, "."+unread) }
	if p.Code != fermata.CodeInvalidRequest || !slices.ContainsFunc(p.Problems, named) {
		t.Errorf("%s does not name %s", r.body, unread)
	}
}

func TestEveryBodyRefusesAFieldThatNobodyReads(t *testing.T) {
	t.Parallel()
	eachCall(t, func(t *testing.T, w *world, call string, d described) {
		method, _, _ := strings.Cut(call, " ")
		if d.RequestBody == nil && method != http.MethodPost && method != http.MethodPut && method != http.MethodPatch {
			return
		}
		wantUnread(t, w.call(w.admin, call, `{"`+unread+`":"x"}`))
	})
}

func TestEveryCallRefusesAParameterThatNobodyReads(t *testing.T) {
	t.Parallel()
	eachCall(t, func(t *testing.T, w *world, call string, d described) {
		body := ""
		if d.RequestBody != nil {
			body = "{}"
		}
		wantUnread(t, w.call(w.admin, call+"?"+unread+"=x", body))
	})
}

// wantField checks that a request is refused with a problem of the given field.
func wantField(t *testing.T, r reply, field, says string) {
	t.Helper()
	if r.status != http.StatusBadRequest {
		t.Fatalf("got %d %s", r.status, r.body)
	}
	named := func(f fermata.Problem) bool { return f.Field == field && strings.Contains(f.Message, says) }
	if p := r.problem(t); p.Code != fermata.CodeInvalidRequest || !slices.ContainsFunc(p.Problems, named) {
		t.Errorf("%s does not say that %s %s", r.body, field, says)
	}
}

func TestEveryParameterIsGivenOnceAndWithAValue(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	eachCall(t, func(t *testing.T, w *world, call string, d described) {
		for _, p := range d.Parameters {
			if p.In != "query" {
				continue
			}
			n.Add(1)
			wantField(t, w.call(w.admin, call+"?"+p.Name+"=1&"+p.Name+"=2", ""), p.Name, "stands twice")
			if p.Name == "cursor" {
				continue // an empty cursor means the first page
			}
			wantField(t, w.call(w.admin, call+"?"+p.Name+"=", ""), p.Name, "is empty")
		}
	})
	if n.Load() < 80 {
		t.Errorf("%d parameters are described", n.Load())
	}
}

func TestEveryCallWithoutABodyRefusesOne(t *testing.T) {
	t.Parallel()
	eachCall(t, func(t *testing.T, w *world, call string, d described) {
		if d.RequestBody != nil {
			return
		}
		for name, body := range map[string]io.Reader{"announced": strings.NewReader("{}"), "not announced": io.MultiReader(strings.NewReader("x"))} {
			method, path, _ := strings.Cut(call, " ")
			req, err := http.NewRequestWithContext(t.Context(), method, w.url+path, body)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+w.admin)
			r := w.do(req)
			if r.status != http.StatusBadRequest || !strings.Contains(string(r.body), "takes no body") {
				t.Errorf("%s: got %d %s", name, r.status, r.body)
			}
		}
	})
}
