package mcpserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/mcpserver"
)

var pendingOnly = engine.QuestionFilter{Status: string(fermata.Pending)}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// send makes one request. A header "Host" changes the host.
func (w *world) send(method, path, body string, headers map[string]string) (int, http.Header, string) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), method, w.url+path, strings.NewReader(body))
	w.OK(err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range headers {
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	res, err := http.DefaultClient.Do(req)
	w.OK(err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	w.OK(err)
	return res.StatusCode, res.Header, string(data)
}

func TestHTTPRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bearer := "Bearer " + w.agent
	for name, tt := range map[string]struct {
		status  int
		method  string
		body    string
		headers map[string]string
	}{
		"welcome":            {200, "POST", hello, map[string]string{"Authorization": bearer}},
		"own origin":         {200, "POST", hello, map[string]string{"Authorization": bearer, "Origin": w.url}},
		"no token":           {401, "POST", hello, nil},
		"wrong token":        {401, "POST", hello, map[string]string{"Authorization": "Bearer " + fermata.NewSecret()}},
		"no token, a stream": {401, "GET", "", nil},
		"foreign origin":     {403, "POST", hello, map[string]string{"Authorization": bearer, "Origin": "https://evil.example"}},
		"null origin":        {403, "POST", hello, map[string]string{"Authorization": bearer, "Origin": "null"}},
		"foreign origin, a stream": {403, "GET", "", map[string]string{
			"Authorization": bearer, "Origin": "https://evil.example", "Mcp-Protocol-Version": "2025-11-25"}},
		"rebound name":        {403, "POST", hello, map[string]string{"Authorization": bearer, "Host": "evil.example"}},
		"rebound with origin": {403, "POST", hello, map[string]string{"Authorization": bearer, "Host": "evil.example", "Origin": "http://evil.example"}},
		"too large":           {413, "POST", `{"x":"` + strings.Repeat("x", api.DefaultMaxBody) + `"}`, map[string]string{"Authorization": bearer}},
		"token in address":    {400, "POST?token=" + w.agent, hello, map[string]string{"Authorization": bearer}},
	} {
		method, query, found := strings.Cut(tt.method, "?")
		path := "/mcp"
		if found {
			path += "?" + query
		}
		status, header, body := w.send(method, path, tt.body, tt.headers)
		if status != tt.status {
			t.Errorf("%s: got %d %s, want %d", name, status, body, tt.status)
		}
		if want := `resource_metadata="` + w.url + `/.well-known/oauth-protected-resource/mcp"`; status == 401 && !strings.Contains(header.Get("WWW-Authenticate"), want) {
			t.Errorf("%s: WWW-Authenticate is %q, want %s", name, header.Get("WWW-Authenticate"), want)
		}
	}
}

func TestProtectedResourceMetadata(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		status, _, body := w.send("GET", path, "", nil)
		var m struct {
			Resource string   `json:"resource"`
			Scopes   []string `json:"scopes_supported"`
		}
		w.OK(json.Unmarshal([]byte(body), &m))
		w.equalJSON([]any{200, w.url + "/mcp", "ask"}, []any{status, m.Resource, m.Scopes[0]})
		if status, _, _ := w.send("POST", path, "{}", nil); status != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", path, status)
		}
	}
}

// The metadata names the server by the host to which the client connected. Headers about proxies do not count.
func TestMetadataNamesTheAddressOfTheServer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ host, forwarded, want string }{
		{"127.0.0.1:7777", "", "http://127.0.0.1:7777/mcp"},
		{"127.0.0.1:7777", "https", "http://127.0.0.1:7777/mcp"},
		{"fermata.example.com", "", "https://fermata.example.com/mcp"},
		{"FERMATA.example.com", "http", "https://FERMATA.example.com/mcp"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+tt.host+"/.well-known/oauth-protected-resource", nil)
		r.Header.Set("X-Forwarded-Proto", tt.forwarded)
		got := httptest.NewRecorder()
		mcpserver.Metadata(publicURL).ServeHTTP(got, r)
		if want := `"resource":"` + tt.want + `"`; !strings.Contains(got.Body.String(), want) {
			t.Errorf("%s forwarded as %q: %s holds no %s", tt.host, tt.forwarded, got.Body, want)
		}
		want := `resource_metadata="` + strings.TrimSuffix(tt.want, "/mcp") + `/.well-known/oauth-protected-resource/mcp"`
		if got := mcpserver.Challenge(publicURL)(r); !strings.Contains(got, want) {
			t.Errorf("%s forwarded as %q: %s holds no %s", tt.host, tt.forwarded, got, want)
		}
	}
}

// TestASessionBelongsToItsToken checks that another token cannot use a session.
func TestASessionBelongsToItsToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, header, _ := w.send("POST", "/mcp", hello, map[string]string{"Authorization": "Bearer " + w.agent})
	id := header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatal("no session")
	}
	status, _, body := w.send("POST", "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, map[string]string{
		"Authorization": "Bearer " + w.human, "Mcp-Session-Id": id, "Mcp-Protocol-Version": "2025-11-25",
	})
	w.equalJSON(403, status)
	if strings.Contains(body, "ask_user") {
		t.Error("the other token sees the session")
	}
}

// TestAnIdempotencyKeyOfTheConnectionMeansNothing checks that a session that was opened with an idempotency key can
// still ask many questions.
func TestAnIdempotencyKeyOfTheConnectionMeansNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, version := range versions {
		a := w.connectOutside(version, withHeaders{"Authorization": "Bearer " + w.agent, "Idempotency-Key": "k"})
		first := a.must("post_question", `{"question":"A?","type":"non_blocking","default":"a"}`)
		second := a.must("post_question", `{"question":"A?","type":"non_blocking","default":"a"}`)
		if first.QuestionID == second.QuestionID {
			t.Errorf("%s: two calls got one question", version)
		}
	}
}

func TestARevokedTokenEndsTheSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.overHTTP("2025-11-25", w.agent, nil)
	a.must("read_messages", `{}`)
	c, err := w.Engine.Authenticate(t.Context(), w.agent)
	w.OK(err)
	system := c
	system.Kind, system.Scopes = fermata.ActorSystem, []fermata.Scope{fermata.ScopeAdmin}
	_, err = w.Engine.RevokeToken(t.Context(), system, c.TokenID)
	w.OK(err)
	if _, err := a.session.ListTools(t.Context(), nil); err == nil {
		t.Error("the session goes on")
	}
}
