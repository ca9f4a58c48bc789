package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/mcpserver"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
)

// publicURL is the URL at which people open the server of the tests.
const publicURL = "https://fermata.example.com"

// world is a whole server on its own database, with a person that answers and an agent.
type world struct {
	testkit.World
	delivery *delivery.Service
	api      *api.Server
	url      string

	human, agent string
	person       fermata.Caller
}

// in returns the same agent for a subtest. Its failures fail the subtest.
func (a *agent) in(t *testing.T) *agent {
	t.Helper()
	part := *a
	part.world = a.world.in(t)
	return &part
}

// in returns the same world for a subtest. Its failures fail the subtest.
func (w *world) in(t *testing.T) *world {
	t.Helper()
	part := *w
	part.T = t
	return &part
}

func newWorld(t *testing.T, kinds ...delivery.Kind) *world {
	t.Helper()
	w := &world{World: testkit.New(t, storetest.SQLite(t))}
	w.delivery = delivery.New(delivery.Options{DB: w.DB, Engine: w.Engine, Kinds: kinds, PublicURL: publicURL})
	w.OK(w.Engine.Start(t.Context()))
	w.OK(w.delivery.Start(t.Context()))
	testkit.Run(t, w.delivery.Run)
	w.api = api.New(api.Config{Engine: w.Engine, Delivery: w.delivery, Version: "test"})
	w.api.Mount(api.Mount{Path: mcpserver.Path, Challenge: mcpserver.Challenge(publicURL), Handler: mcpserver.Handler(mcpserver.HTTPOptions{
		Engine: w.Engine, Delivery: w.delivery, Caller: api.CallerOf, LimitAsk: w.api.LimitAsk, Stopping: w.api.Draining(), Version: "test",
		ProgressEvery: 20 * time.Millisecond, ApproveWait: 30 * time.Millisecond, MaxBody: api.DefaultMaxBody,
	})})
	for _, path := range mcpserver.MetadataPaths {
		w.api.Mount(api.Mount{Path: path, Handler: mcpserver.Metadata(publicURL), Open: true})
	}
	w.url = testkit.Serve(t, w.api).URL
	token := func(n fermata.NewToken) string {
		made, err := w.Engine.CreateToken(t.Context(), testkit.Admin, n)
		w.OK(err)
		return made.Secret
	}
	w.human = token(fermata.NewToken{
		Name: "ann", Kind: fermata.ActorHuman, Member: "ann", Role: fermata.RoleResponder, Scopes: []fermata.Scope{fermata.ScopeAnswer, fermata.ScopeAsk},
	})
	w.agent = token(fermata.NewToken{Name: "agent", Kind: fermata.ActorAgent, Scopes: []fermata.Scope{fermata.ScopeAsk, fermata.ScopeWork}})
	var err error
	w.person, err = w.Engine.Authenticate(t.Context(), w.human)
	w.OK(err)
	return w
}

// versions holds one version of each generation of the protocol.
var versions = map[string]string{"with sessions": "2025-11-25", "without": "2026-07-28"}

// connect connects an agent with one of the world's tokens.
type connect func(token string, opts *mcp.ClientOptions) *agent

// overTransports runs a test over both transports, with both generations of the protocol.
func overTransports(t *testing.T, test func(w *world, connect connect)) {
	t.Helper()
	for name, version := range versions {
		t.Run("http "+name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			test(w, func(token string, opts *mcp.ClientOptions) *agent { return w.overHTTP(version, token, opts) })
		})
		t.Run("stdio "+name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			test(w, func(token string, opts *mcp.ClientOptions) *agent { return w.overStdio(version, token, opts) })
		})
	}
}

// eachTransport runs a test as overTransports does, for an agent with an agent's token.
func eachTransport(t *testing.T, test func(a *agent)) {
	t.Helper()
	overTransports(t, func(w *world, connect connect) { test(connect(w.agent, nil)) })
}

// agent is a client of the protocol.
type agent struct {
	*world
	session *mcp.ClientSession
	// task is the task to which its questions belong, created when it
	// connected.
	task string
}

func (w *world) newTask() string {
	w.Helper()
	caller, err := w.Engine.Authenticate(w.Context(), w.agent)
	w.OK(err)
	task, err := w.Engine.CreateTask(w.Context(), caller, fermata.NewTask{Title: "work", Runner: fermata.RunnerExternal})
	w.OK(err)
	return task.ID
}

// withHeaders adds headers to every request.
type withHeaders map[string]string

func (h withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func (w *world) overHTTP(version, token string, opts *mcp.ClientOptions) *agent {
	w.Helper()
	a := &agent{world: w, task: w.newTask()}
	headers := withHeaders{"Authorization": "Bearer " + token, mcpserver.TaskHeader: a.task}
	a.connect(version, opts, &mcp.StreamableClientTransport{
		Endpoint: w.url + mcpserver.Path, HTTPClient: &http.Client{Transport: headers}, MaxRetries: -1,
	})
	return a
}

// connectOutside connects an agent that has no task.
func (w *world) connectOutside(version string, headers withHeaders) *agent {
	w.Helper()
	a := &agent{world: w}
	a.connect(version, nil, &mcp.StreamableClientTransport{
		Endpoint: w.url + mcpserver.Path, HTTPClient: &http.Client{Transport: headers}, MaxRetries: -1,
	})
	return a
}

func (w *world) overStdio(version, token string, opts *mcp.ClientOptions) *agent {
	w.Helper()
	a := &agent{world: w, task: w.newTask()}
	backend := mcpserver.ClientBackend(testkit.NewClient(w, w.url, token), true)
	server := mcpserver.New(mcpserver.Options{
		Backend: func(*mcp.CallToolRequest) (mcpserver.Backend, error) { return backend, nil },
		Task:    a.task, Session: "s", ProgressEvery: 20 * time.Millisecond, ApproveWait: 30 * time.Millisecond,
	})
	agentIn, serverOut := io.Pipe()
	serverIn, agentOut := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.ServeIO(ctx, serverIn, serverOut) }()
	w.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
			w.Error(err)
		}
	})
	a.connect(version, opts, &mcp.IOTransport{Reader: agentIn, Writer: agentOut})
	return a
}

func (a *agent) connect(version string, opts *mcp.ClientOptions, transport mcp.Transport) {
	a.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).
		Connect(a.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	a.OK(err)
	a.Cleanup(func() { _ = session.Close() })
	a.session = session
}

// result is the reply of any tool.
type result struct {
	mcpserver.State
	// The MCP library has changed the order of the keys, so Action is not raw
	// JSON.
	Action         any      `json:"action"`
	PreviousStatus string   `json:"previous_status"`
	Notified       []string `json:"notified"`
	Messages       []struct {
		ID, From, Body string
	} `json:"messages"`
	Last  string `json:"last"`
	Note  string `json:"note"`
	Error struct {
		Code     fermata.Code      `json:"code"`
		Message  string            `json:"message"`
		Hint     string            `json:"hint"`
		Problems []fermata.Problem `json:"problems"`
	} `json:"error"`
}

// call calls a tool with arguments in JSON.
func (a *agent) call(tool, arguments string) (result, bool) {
	a.Helper()
	return a.callWith(tool, arguments, nil)
}

func (a *agent) callWith(tool, arguments string, meta mcp.Meta) (result, bool) {
	a.Helper()
	reply, err := a.session.CallTool(a.Context(), &mcp.CallToolParams{
		Meta: meta, Name: tool, Arguments: json.RawMessage(arguments),
	})
	a.OK(err)
	var r result
	data, err := json.Marshal(reply.StructuredContent)
	a.OK(err)
	a.OK(json.Unmarshal(data, &r))
	var fromText, structured any
	a.OK(json.Unmarshal([]byte(reply.Content[0].(*mcp.TextContent).Text), &fromText))
	a.OK(json.Unmarshal(data, &structured))
	a.equalJSON(structured, fromText)
	return r, !reply.IsError
}

// must calls a tool that must succeed.
func (a *agent) must(tool, arguments string) result {
	a.Helper()
	r, ok := a.call(tool, arguments)
	if !ok {
		a.Fatalf("%s %s: %+v", tool, arguments, r.Error)
	}
	return r
}

// refused calls a tool that must fail with the code, and change nothing.
func (a *agent) refused(code fermata.Code, tool, arguments string) result {
	a.Helper()
	before := a.Head()
	r, ok := a.call(tool, arguments)
	if ok || r.Error.Code != code {
		a.Errorf("%s %s: got %q %+v, want %s", tool, arguments, r.Status, r.Error, code)
	}
	a.equalJSON(before, a.Head())
	return r
}

// prompt calls the permission prompt tool and returns its one text.
func (a *agent) prompt(arguments string) map[string]any {
	a.Helper()
	reply, err := a.session.CallTool(a.Context(), &mcp.CallToolParams{Name: "approve", Arguments: json.RawMessage(arguments)})
	a.OK(err)
	a.equalJSON(1, len(reply.Content))
	a.equalJSON(false, reply.IsError)
	var verdict map[string]any
	a.OK(json.Unmarshal([]byte(reply.Content[0].(*mcp.TextContent).Text), &verdict))
	return verdict
}

func (w *world) question(id string) *fermata.Question {
	w.Helper()
	q, err := w.Engine.Question(w.Context(), w.person, id)
	w.OK(err)
	return q
}

// onlyQuestion returns the one question that was asked.
func (w *world) onlyQuestion() *fermata.Question {
	w.Helper()
	list, _, err := w.Engine.Questions(w.Context(), w.person, engine.QuestionFilter{})
	w.OK(err)
	if len(list) != 1 {
		w.Fatalf("%d questions, want one", len(list))
	}
	return list[0]
}

func (w *world) answer(id string, a fermata.Answer) {
	w.Helper()
	c := w.person
	c.Assurance = fermata.AssuranceSession
	_, err := w.Engine.Answer(w.Context(), c, id, a)
	w.OK(err)
}

// equalJSON checks that two values are the same JSON.
func (w *world) equalJSON(want, got any) {
	w.Helper()
	a, err := json.Marshal(want)
	w.OK(err)
	b, err := json.Marshal(got)
	w.OK(err)
	if string(a) != string(b) {
		w.Errorf("got %s, want %s", b, a)
	}
}
