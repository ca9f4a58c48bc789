// Package mcp drives the program as agents do: `fermata mcp` on standard input
// and output, and the server's own address.
package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

func TestMain(m *testing.M) { process.Main(m) }

// shop is a server with a person, and a token for agents.
type shop struct {
	testkit.Test
	server *process.Server
	binary string
	url    string
	admin  *client.Client
	agent  string
}

func newShop(t *testing.T) *shop {
	t.Helper()
	binary := process.Binary(t)
	server := process.Serve(t, binary, process.SQLite(t))
	s := &shop{Test: testkit.Test{T: t}, server: server, binary: binary, url: server.URL}
	s.admin = testkit.NewClient(t, server.URL, server.FirstToken)
	token, err := s.admin.CreateToken(t.Context(), fermata.NewToken{Name: "agent", Kind: fermata.ActorAgent, Scopes: []fermata.Scope{fermata.ScopeAsk}})
	s.OK(err)
	s.agent = token.Secret
	return s
}

// command returns `fermata mcp` with only the given environment variables and an empty home.
func command(t *testing.T, binary string, env ...string) *exec.Cmd {
	t.Helper()
	home := t.TempDir()
	cmd := exec.Command(binary, "mcp")
	cmd.Env = append([]string{"HOME=" + home, "XDG_DATA_HOME=" + home, "XDG_CONFIG_HOME=" + home}, env...)
	return cmd
}

// overStdio connects a client to the program that cmd starts. On a busy machine the program may take its time to end.
func overStdio(t *testing.T, version string, cmd *exec.Cmd) *mcp.ClientSession {
	t.Helper()
	return connect(t, version, &mcp.CommandTransport{Command: cmd, TerminateDuration: patience.Limit()})
}

func connect(t *testing.T, version string, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// call calls a tool, which must succeed, and returns its structured result.
func call(t *testing.T, session *mcp.ClientSession, tool string, arguments any) map[string]any {
	t.Helper()
	reply, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	state, _ := reply.StructuredContent.(map[string]any)
	if reply.IsError {
		t.Fatalf("%s: %v", tool, state)
	}
	return state
}

type object = map[string]any

var versions = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

// An agent asks, its process ends, and a person answers. The next process of the
// same session reads the answer and continues in the same thread.
func TestAskEndAndReadTheAnswer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, version := range versions {
		start := func() *mcp.ClientSession {
			cmd := command(t, s.binary, "FERMATA_URL="+s.url, "FERMATA_TOKEN="+s.agent, "CLAUDE_CODE_SESSION_ID="+version)
			return overStdio(t, version, cmd)
		}
		session := start()
		asked := call(t, session, "ask_user", object{"question": "Which?", "options": []string{"a", "b"}})
		s.OK(session.Close())
		q, err := s.admin.Question(t.Context(), asked["question_id"].(string))
		s.OK(err)
		if q.Status != fermata.Pending || q.AskedBy.Kind != fermata.ActorAgent {
			t.Errorf("after the agent has gone: %s, asked by %s", q.Status, q.AskedBy.Kind)
		}
		_, err = s.admin.Answer(t.Context(), q.ID, fermata.Answer{Answer: "b"})
		s.OK(err)
		session = start()
		if got := call(t, session, "check_answer", object{"question_id": q.ID}); got["answer"] != "b" || got["decided_by"] != "human" {
			t.Errorf("got %v", got)
		}
		if next := call(t, session, "ask_user", object{"question": "And now?"}); next["task_id"] != q.TaskID {
			t.Errorf("the session goes on in task %v, not %s", next["task_id"], q.TaskID)
		}
		s.OK(session.Close())
	}
}

func TestQuestionsBelongToTheTaskOfTheWorker(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	task, err := s.admin.CreateTask(t.Context(), fermata.NewTask{Title: "work"})
	s.OK(err)
	worker, err := client.New(s.url, s.server.FirstToken, client.WithAgentToken(s.agent))
	s.OK(err)
	t.Cleanup(worker.CloseIdleConnections)
	_, err = worker.Claim(t.Context(), fermata.ClaimRequest{Worker: "w"})
	s.OK(err)
	cmd := command(t, s.binary, "FERMATA_URL="+s.url, "FERMATA_TOKEN="+s.agent, "FERMATA_TASK="+task.ID)
	session := overStdio(t, "2025-11-25", cmd)
	if asked := call(t, session, "ask_user", object{"question": "Which?"}); asked["task_id"] != task.ID {
		t.Errorf("asked in %v, not in %s", asked["task_id"], task.ID)
	}
	s.OK(session.Close())
}

// raw speaks the protocol line by line, to send messages that no good client sends.
type raw struct {
	*testing.T
	in  io.Writer
	out *bufio.Scanner
}

func (r *raw) send(line string) {
	r.Helper()
	if _, err := io.WriteString(r.in, line+"\n"); err != nil {
		r.Fatal(err)
	}
}

// result reads the reply to the request with the id.
func (r *raw) result(id int) json.RawMessage {
	r.Helper()
	for r.out.Scan() {
		var m struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
		}
		if err := json.Unmarshal(r.out.Bytes(), &m); err != nil {
			r.Fatalf("%v in %s", err, r.out.Text())
		}
		if m.ID == id {
			return m.Result
		}
	}
	r.Fatalf("no reply to request %d", id)
	return nil
}

// A client that cancels a call which was answered already (opencode does)
// withdraws nothing.
func TestCancellingAnAnsweredCallLeavesTheQuestion(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cmd := command(t, s.binary, "FERMATA_URL="+s.url, "FERMATA_TOKEN="+s.agent)
	in, err := cmd.StdinPipe()
	s.OK(err)
	out, err := cmd.StdoutPipe()
	s.OK(err)
	s.OK(cmd.Start())
	r := &raw{T: t, in: in, out: bufio.NewScanner(out)}
	r.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	r.result(1)
	r.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	r.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask_user","arguments":{"question":"Which?"}}}`)
	r.result(2)
	r.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"done"}}`)
	r.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	r.result(3)
	s.OK(in.Close())
	s.OK(cmd.Wait())
	questions, _, err := s.admin.Questions(t.Context(), client.QuestionQuery{})
	s.OK(err)
	if len(questions) != 1 || questions[0].Status != fermata.Pending {
		t.Errorf("got %+v, want one pending question", questions)
	}
}

// lines stores the output of a process, and closes seen when the output contains
// the text want.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	want string
	seen chan struct{}
}

func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	had := strings.Contains(l.text.String(), l.want)
	l.text.Write(data)
	if !had && strings.Contains(l.text.String(), l.want) {
		close(l.seen)
	}
	return len(data), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// If no server is configured, the agent's own process is the server, and a second
// agent uses it. Both ask as agents, although the local user needs no token.
func TestWithoutAServer(t *testing.T) {
	t.Parallel()
	binary := process.Binary(t)
	stderr := &lines{want: "`fermata serve --single-user`", seen: make(chan struct{})}
	cmd := command(t, binary, "FERMATA_LISTEN=127.0.0.1:0")
	cmd.Stderr = stderr
	session := overStdio(t, "2025-11-25", cmd)
	patience.Receive(t, "it says where it runs", stderr.seen)
	_, rest, _ := strings.Cut(stderr.String(), "runs at ")
	url, _, _ := strings.Cut(rest, " ")
	asked := call(t, session, "ask_user", object{"question": "Which?"})
	second := overStdio(t, "2026-07-28", command(t, binary, "FERMATA_LISTEN="+strings.TrimPrefix(url, "http://")))
	call(t, second, "ask_user", object{"question": "And?"})
	person, err := client.New(url, "")
	if err != nil {
		t.Fatal(err)
	}
	defer person.CloseIdleConnections()
	questions, _, err := person.Questions(t.Context(), client.QuestionQuery{})
	if err != nil || len(questions) != 2 {
		t.Fatalf("%d questions, %v", len(questions), err)
	}
	for _, q := range questions {
		if q.AskedBy.Kind != fermata.ActorAgent {
			t.Errorf("%s was asked by %+v", q.Title, q.AskedBy)
		}
	}
	if _, err := person.Answer(t.Context(), asked["question_id"].(string), fermata.Answer{Answer: "this"}); err != nil {
		t.Fatal(err)
	}
	if got := call(t, session, "check_answer", object{"question_id": asked["question_id"]}); got["answer"] != "this" {
		t.Errorf("got %v", got)
	}
	for _, s := range []*mcp.ClientSession{second, session} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// bearer is a transport that adds a token to every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// The server itself speaks every version at one address.
func TestOverHTTP(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, version := range versions {
		session := connect(t, version, &mcp.StreamableClientTransport{
			Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(s.agent)}, MaxRetries: -1,
		})
		asked := call(t, session, "ask_user", object{"question": "Which?"})
		_, err := s.admin.Answer(t.Context(), asked["question_id"].(string), fermata.Answer{Answer: version})
		s.OK(err)
		if got := call(t, session, "check_answer", object{"question_id": asked["question_id"]}); got["answer"] != version {
			t.Errorf("got %v", got)
		}
		if got := session.InitializeResult(); got == nil || got.ProtocolVersion != version {
			t.Errorf("the session speaks %+v, not %s", got, version)
		}
		s.OK(session.Close())
	}
}

// A server that stops ends calls that wait for people, and streams that only
// listen.
func TestAServerThatStopsEndsTheWait(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		s := newShop(t)
		waits := make(chan struct{}, 1000)
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { waits <- struct{}{} },
		}).Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(s.agent)}, MaxRetries: -1,
		}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		s.OK(err)
		params := &mcp.CallToolParams{Name: "ask_user", Arguments: object{"question": "Which?", "wait_seconds": 600}}
		params.SetProgressToken("p")
		done := make(chan *mcp.CallToolResult, 1)
		go func() {
			reply, err := session.CallTool(t.Context(), params)
			if err != nil {
				t.Errorf("%s: %v", version, err)
				reply = &mcp.CallToolResult{}
			}
			done <- reply
		}()
		patience.Receive(t, "the call waits", waits)
		s.server.Signal(syscall.SIGTERM)
		if state, _ := patience.Receive(t, "the call ends", done).StructuredContent.(map[string]any); state["status"] != "pending" {
			t.Errorf("%s: got %v, want pending", version, state)
		}
		if err := s.server.Wait(); err != nil {
			t.Errorf("%s: %v", version, err)
		}
		if s.server.HasWritten("were cut off") {
			t.Errorf("%s: the server waited for a call:\n%s", version, s.server.Output())
		}
		_ = session.Close()
	}
}
