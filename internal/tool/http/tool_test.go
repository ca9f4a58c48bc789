package http_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/outbound"
	"github.com/fermata-hq/fermata/internal/tool"
	httptool "github.com/fermata-hq/fermata/internal/tool/http"
)

// server returns a server whose paths describe their responses.
func server(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Add("X-Two", "a")
		w.Header().Add("X-Two", "b")
		raw, _ := json.Marshal(map[string]any{
			"method": r.Method, "query": r.URL.RawQuery, "body": string(body), "key": r.Header.Get("Idempotency-Key"),
			"type": r.Header.Get("Content-Type"), "token": r.Header.Get("Authorization"), "id": 9007199254740993,
		})
		_, _ = w.Write(raw)
	})
	mux.HandleFunc("/status/{code}", func(w http.ResponseWriter, r *http.Request) {
		var code int
		_, _ = fmt.Sscan(r.PathValue("code"), &code)
		w.Header().Set("Retry-After", "17")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "no such thing here")
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		z := gzip.NewWriter(w)
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = z.Write(make([]byte, 2<<20)) // a few kB on the wire
		_ = z.Close()
	})
	mux.HandleFunc("/most", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
	})
	mux.HandleFunc("/binary", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{0xff, 0}) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/echo", http.StatusFound) })
	mux.HandleFunc("/liar", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		_, _ = io.WriteString(w, "<html>")
	})
	mux.HandleFunc("/hang", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func open() *httptool.Tool {
	return httptool.New(outbound.Client(outbound.Options{AllowPrivate: true}))
}

func TestRequests(t *testing.T) {
	t.Parallel()
	s := server(t)
	tests := []struct {
		name  string
		input map[string]any
		want  map[string]any
	}{
		{"GET is usual, and carries no key", map[string]any{"url": "/echo?b=2"},
			map[string]any{"method": "GET", "query": "b=2", "body": "", "key": "", "type": "", "token": ""}},
		{"a query is added", map[string]any{"url": "/echo?b=2", "query": map[string]any{"a": []any{1, "x y"}, "c": true, "gone": nil}},
			map[string]any{"method": "GET", "query": "a=1&a=x+y&b=2&c=true", "body": "", "key": "", "type": "", "token": ""}},
		{"JSON is posted with the key", map[string]any{"url": "/echo", "json": map[string]any{"n": 1}},
			map[string]any{"method": "POST", "query": "", "body": `{"n":1}`, "key": "key-1", "type": "application/json", "token": ""}},
		{"a body that is null is none", map[string]any{"url": "/echo", "method": "PUT", "json": nil},
			map[string]any{"method": "PUT", "query": "", "body": "", "key": "key-1", "type": "", "token": ""}},
		{"text is sent as it is", map[string]any{"url": "/echo", "method": "PATCH", "body": "a=b", "headers": map[string]any{"Content-Type": "text/csv", "Authorization": "Bearer x"}},
			map[string]any{"method": "PATCH", "query": "", "body": "a=b", "key": "key-1", "type": "text/csv", "token": "Bearer x"}},
		{"a key of the step's own wins", map[string]any{"url": "/echo", "method": "DELETE", "headers": map[string]any{"idempotency-key": "mine"}},
			map[string]any{"method": "DELETE", "query": "", "body": "", "key": "mine", "type": "", "token": ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := call(t, s, tt.input)
			if err != nil {
				t.Fatal(err)
			}
			tt.want["id"] = 9007199254740993
			if diff := cmp.Diff(tt.want, out["json"]); diff != "" {
				t.Error(diff)
			}
			if h := out["headers"].(map[string]any); h["x-two"] != "a, b" || out["status"] != 200 {
				t.Errorf("got %v", out)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	s := server(t)
	tests := []struct {
		path, field string
		want        any
		status      int
	}{
		{"/status/404", "body", "no such thing here", 404},
		{"/status/503", "body", "no such thing here", 503},
		{"/binary", "body_base64", "/wA=", 200},
		{"/moved", "body", "<a href=\"/echo\">Found</a>.\n\n", 302},
		{"/status/204", "body", "", 204},
		{"/most", "body", strings.Repeat("x", 1<<20), 200},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			out, err := call(t, s, map[string]any{"url": tt.path, "expect_status": []any{404, 503, 200, 302, 204}})
			if err != nil || out[tt.field] != tt.want || out["status"] != tt.status {
				t.Errorf("got %v %v, want %s %v", out, err, tt.field, tt.want)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	s := server(t)
	tests := []struct {
		name      string
		input     map[string]any
		permanent bool
		after     time.Duration
		words     string
	}{
		{"4xx is for good", map[string]any{"url": "/status/422"}, true, 0, "answered 422 Unprocessable Entity: no such thing here"},
		{"too many", map[string]any{"url": "/status/429"}, false, 17 * time.Second, "429"},
		{"5xx passes", map[string]any{"url": "/status/503"}, false, 17 * time.Second, "503"},
		{"another status than expected", map[string]any{"url": "/echo", "expect_status": 201}, true, 0, "200"},
		{"redirections are not followed", map[string]any{"url": "/moved"}, true, 0, "302"},
		{"more than 1 MiB, whatever is on the wire", map[string]any{"url": "/large"}, true, 0, "more than 1 MiB"},
		{"JSON that is none", map[string]any{"url": "/liar"}, false, 0, "is not"},
		{"a connection that ends", map[string]any{"url": "/cut"}, false, 0, "EOF"},
		{"both bodies", map[string]any{"url": "/echo", "body": "a", "json": 1}, true, 0, "either"},
		{"an unknown field", map[string]any{"url": "/echo", "header": "a"}, true, 0, `"header"`},
		{"no address", map[string]any{"url": "ftp://example.com"}, true, 0, "neither http nor https"},
		{"a password in it", map[string]any{"url": "http://u:p@example.com"}, true, 0, "password"},
		{"a header of two lines", map[string]any{"url": "/echo", "headers": map[string]any{"X-A": "a\r\nX-B: b"}}, true, 0, "no valid header"},
		{"a header of the connection", map[string]any{"url": "/echo", "headers": map[string]any{"host": "a"}}, true, 0, "belongs to the connection"},
		{"a list in a header", map[string]any{"url": "/echo", "headers": map[string]any{"X": []any{1}}}, true, 0, "headers.X"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := call(t, s, tt.input)
			var f tool.Failure
			if !errors.As(err, &f) || f.Permanent() != tt.permanent || f.RetryAfter() != tt.after || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("got %v %v", out, err)
			}
		})
	}
}

// A failure is marked as safe to retry if the request can be sent twice without
// harm.
func TestFailuresThatAreSafeToRetry(t *testing.T) {
	t.Parallel()
	s := server(t)
	gone := server(t)
	gone.Close()
	tests := []struct {
		name  string
		input map[string]any
		safe  bool
	}{
		{"a GET", map[string]any{"url": "/status/502"}, true},
		{"a PUT", map[string]any{"url": "/status/502", "method": "PUT", "body": "a"}, true},
		{"a GET whose connection ends", map[string]any{"url": "/cut"}, true},
		{"a POST that may have been done", map[string]any{"url": "/status/502", "body": "a"}, false},
		{"a POST whose connection ends", map[string]any{"url": "/cut", "body": "a"}, false},
		{"a POST that was one too many", map[string]any{"url": "/status/429", "body": "a"}, true},
		{"a POST that reached nobody", map[string]any{"url": gone.URL + "/echo", "body": "a"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := call(t, s, tt.input)
			var f tool.Failure
			if !errors.As(err, &f) || f.Permanent() || tool.IsSafeToRetry(err) != tt.safe {
				t.Errorf("got %v, safe to retry is %t", err, tool.IsSafeToRetry(err))
			}
		})
	}
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	t.Parallel()
	s := server(t)
	_, err := httptool.New(outbound.Client(outbound.Options{})).Call(t.Context(), tool.Call{Input: map[string]any{"url": s.URL + "/echo?secret=1"}})
	var f tool.Failure
	var e *fermata.Error
	if !errors.As(err, &f) || !f.Permanent() || !errors.As(err, &e) || !strings.Contains(e.Hint, "--allow-networks") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

func TestTheStepsTimeEndsTheRequest(t *testing.T) {
	t.Parallel()
	s := server(t)
	late := errors.New("the step took too long")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, late)
	defer cancel()
	if _, err := open().Call(ctx, tool.Call{Input: map[string]any{"url": s.URL + "/hang"}}); !errors.Is(err, late) {
		t.Errorf("got %v", err)
	}
}

func TestSchemasAreValid(t *testing.T) {
	t.Parallel()
	for _, raw := range []json.RawMessage{open().Info().Input, open().Info().Output} {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("schema.json", value); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Compile("schema.json"); err != nil {
			t.Error(err)
		}
	}
}

// call calls the tool. A url without a host is a path of the server.
func call(t *testing.T, s *httptest.Server, input map[string]any) (map[string]any, error) {
	t.Helper()
	if path, _ := input["url"].(string); strings.HasPrefix(path, "/") {
		input["url"] = s.URL + path
	}
	r, err := open().Call(t.Context(), tool.Call{Key: "key-1", Input: input})
	out, _ := r.Output.(map[string]any)
	return out, err
}
