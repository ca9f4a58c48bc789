package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// world is a whole server on a database of its own, with an admin, two people
// who answer, and an agent.
type world struct {
	testkit.World
	api *api.Server
	url string

	admin, human, other, agent string
}

func newWorld(t *testing.T, change ...func(*api.Config)) *world {
	t.Helper()
	return newWorldOn(t, storetest.SQLite(t), change...)
}

// in returns the same world for a subtest. A failure in it fails the subtest.
func (w *world) in(t *testing.T) *world {
	t.Helper()
	part := *w
	part.T = t
	return &part
}

// newWorldOn makes a world on the database of the options.
func newWorldOn(t *testing.T, opts store.Options, change ...func(*api.Config)) *world {
	t.Helper()
	w := &world{World: testkit.New(t, opts)}
	c := api.Config{Engine: w.Engine, Version: "test", Workflows: workflow.New(workflow.Options{DB: w.DB, Engine: w.Engine})}
	for _, f := range change {
		f(&c)
	}
	w.api = api.New(c)
	w.url = testkit.Serve(t, w.api).URL
	var err error
	w.admin, err = w.Engine.CreateFirstToken(t.Context())
	w.OK(err)
	w.human = w.token(`{"name":"ann","kind":"human","member":"ann","role":"responder","scopes":["answer","ask"]}`)
	w.other = w.token(`{"name":"bob","kind":"human","member":"bob","role":"responder","scopes":["answer"]}`)
	w.agent = w.token(`{"name":"agent","scopes":["ask","work"]}`)
	return w
}

func (w *world) token(body string) string {
	w.Helper()
	var tok fermata.Token
	w.must(http.StatusCreated, w.admin, "POST /v1/tokens", body, &tok)
	return tok.Secret
}

// reply is the reply to a call.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (r reply) problem(t *testing.T) api.ProblemDetails {
	t.Helper()
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("content type %q, want a problem; body %s", got, r.body)
	}
	var p api.ProblemDetails
	if err := json.Unmarshal(r.body, &p); err != nil {
		t.Fatalf("%s: %v", r.body, err)
	}
	return p
}

// read decodes a reply, which must be a success.
func (r reply) read(t *testing.T, into any) {
	t.Helper()
	if r.status >= 300 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if err := json.Unmarshal(r.body, into); err != nil {
		t.Fatalf("%s: %v", r.body, err)
	}
}

// call sends one request. The headers are given in pairs.
func (w *world) call(token, call, body string, headers ...string) reply {
	w.Helper()
	method, path, _ := strings.Cut(call, " ")
	req, err := http.NewRequestWithContext(w.Context(), method, w.url+path, strings.NewReader(body))
	w.OK(err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return w.do(req)
}

func (w *world) do(req *http.Request) reply {
	w.Helper()
	res, err := http.DefaultTransport.RoundTrip(req)
	w.OK(err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	w.OK(err)
	return reply{res.StatusCode, res.Header, bytes.TrimSpace(data)}
}

// must makes a call whose reply must have the status, and decodes the reply.
func (w *world) must(status int, token, call, body string, into any) {
	w.Helper()
	r := w.call(token, call, body)
	if r.status != status {
		w.Fatalf("%s: %d %s, want %d", call, r.status, r.body, status)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(r.body, into); err != nil {
		w.Fatalf("%s: %v in %s", call, err, r.body)
	}
}

func (w *world) task(body string) *fermata.Task {
	w.Helper()
	var task fermata.Task
	w.must(http.StatusCreated, w.agent, "POST /v1/tasks", body, &task)
	return &task
}

// ask asks a question on a new task, and returns the question.
func (w *world) ask(body string) *fermata.Question {
	w.Helper()
	var q fermata.Question
	w.must(http.StatusCreated, w.agent, "POST /v1/tasks/"+w.task(`{"title":"t"}`).ID+"/questions", body, &q)
	return &q
}
