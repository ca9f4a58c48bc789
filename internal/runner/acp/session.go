package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/fermata-hq/fermata/internal/agent"
)

// session is what the agent tells of its session.
type session struct {
	desk Desk
	log  *transcript
	// asked gets the question that the agent asked by Fermata's own tools, and waits for.
	asked chan string
	// replayed gets a sign for what the agent tells of earlier runs.
	replayed chan struct{}
	// ungated is closed when the agent has run a call that no gate permitted.
	ungated chan struct{}

	mu    sync.Mutex
	name  acp.SessionId
	quiet bool
	// message is the last message so far; open says that it goes on.
	message strings.Builder
	open    bool
	calls   map[string]*call
	// agent is the name that the program gave of itself.
	agent string
	// cancelled says that the turn was cancelled: calls of it may fail unasked.
	cancelled bool
	// violation is the first call that ran against the gate.
	violation string
}

// call is a call of a tool, as far as the agent told of it.
type call struct {
	// title is the last one that it had, first the first, titles are all.
	title, first, titles string
	kind, status         string
	// decided is what became of the request for permission.
	decided decision
	// bare says that the program told nothing but the title when it announced the call.
	bare     bool
	rawInput json.RawMessage
	content  json.RawMessage
	// named is what the program last said of the tool.
	named named
}

func newSession(desk Desk) *session {
	return &session{desk: desk, log: &transcript{to: desk.Log(), voice: "\x00"}, asked: make(chan string, 1), replayed: make(chan struct{}, 1), ungated: make(chan struct{}), calls: map[string]*call{}}
}

func (s *session) id() acp.SessionId {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.name
}

func (s *session) setID(id acp.SessionId) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name = id
}

// replay says whether the agent tells what happened in earlier runs.
func (s *session) replay(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet = on
}

// A replay is over when nothing of it has come for the pause, or at the latest after so long.
const (
	replayPause   = 500 * time.Millisecond
	longestReplay = 5 * time.Second
)

// awaitReplayEnd waits for the end of a replay: some agents go on with it after they have said that
// the session is loaded, and their words of then would pass for words of now.
func (s *session) awaitReplayEnd(ctx context.Context) {
	pause, limit := time.NewTimer(replayPause), time.NewTimer(longestReplay)
	defer pause.Stop()
	defer limit.Stop()
	for {
		select {
		case <-s.replayed:
			pause.Reset(replayPause)
		case <-pause.C:
			return
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// begin begins a turn.
func (s *session) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open, s.cancelled = false, false
	s.message.Reset()
}

// cancel notes that the turn was cancelled.
func (s *session) cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancelled = true
}

// program is the known name of the agent's program.
func (s *session) program() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agent
}

// meet notes which program the agent says that it is.
func (s *session) meet(agent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agent = agent
}

// lastMessage is the last message of the turn.
func (s *session) lastMessage() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(s.message.String())
}

// update is one piece of news. The agents tell more kinds than are known here;
// those are left out.
type update struct {
	Kind string `json:"sessionUpdate"`
	// Content is a block of a message, or what a tool came to.
	Content json.RawMessage `json:"content"`
	// These are a tool call's.
	ToolCallID string          `json:"toolCallId"`
	Title      string          `json:"title"`
	ToolKind   string          `json:"kind"`
	Status     string          `json:"status"`
	RawInput   json.RawMessage `json:"rawInput"`
	RawOutput  json.RawMessage `json:"rawOutput"`
	named
	// Entries are those of a plan.
	Entries []struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	} `json:"entries"`
}

// update takes news of the session.
func (s *session) update(params json.RawMessage) {
	var n struct {
		Update update `json:"update"`
	}
	if json.Unmarshal(params, &n) != nil {
		s.log.line("%s", params)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quiet {
		select {
		case s.replayed <- struct{}{}:
		default:
		}
		return
	}
	u := &n.Update
	switch u.Kind {
	case "agent_message_chunk":
		s.speak(textOf(u.Content))
	case "agent_thought_chunk":
		s.open = false
		s.log.say("~ ", textOf(u.Content))
	case newCall, "tool_call_update":
		s.open = false
		s.tool(u)
	case "plan":
		s.plan(u)
	}
}

// speak adds to the last message, or begins another.
func (s *session) speak(text string) {
	if !s.open && text != "" {
		s.message.Reset()
		s.open = true
	}
	s.message.WriteString(text)
	s.log.say("", text)
}

// textOf is the text of a block; other blocks have none.
func textOf(block json.RawMessage) string {
	var b struct {
		Text string `json:"text"`
	}
	json.Unmarshal(block, &b) //nolint:errcheck // a block of another form has no text
	return b.Text
}

// tool notes what becomes of a call.
func (s *session) tool(u *update) {
	c := s.calls[u.ToolCallID]
	if c == nil || c.isOver() && u.Kind == newCall {
		// A call that uses an old name again inherits no permission.
		c = &call{bare: blank(u.Content) && blank(u.RawInput)}
		s.calls[u.ToolCallID] = c
	}
	c.take(u)
	if u.Title != "" && u.Title != c.title {
		c.title, c.first = u.Title, cmp.Or(c.first, u.Title)
		c.titles += " " + u.Title
		s.log.line("%s", agent.Line("> %s", c.title))
	}
	s.check(c, u)
	switch u.Status {
	case statusFailed:
		s.log.line("%s", agent.Line("! %s: %s", c.title, strings.Join(texts(u.Content), " ")))
	case statusCompleted:
		if id := c.awaits(u); id != "" {
			select {
			case s.asked <- id:
			default:
			}
		}
	}
}

// newCall is the news that announces a call.
const newCall = "tool_call"

// isOver reports whether the agent said that the call has ended.
func (c *call) isOver() bool { return c.status == statusCompleted || c.status == statusFailed }

// hear notes a call of which only a request for permission told.
func (s *session) hear(u *update) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tool(u)
}

// take keeps what a call will do.
func (c *call) take(u *update) {
	if u.ToolKind != "" {
		c.kind = u.ToolKind
	}
	if u.toolName() != "" {
		c.named = u.named
	}
	if !blank(u.RawInput) {
		c.rawInput = u.RawInput
	}
	if !blank(u.Content) {
		c.content = u.Content
	}
}

// blank reports whether a value says nothing.
func blank(raw json.RawMessage) bool {
	switch strings.Join(strings.Fields(string(raw)), "") {
	case "", "null", "{}", "[]", `""`:
		return true
	default:
		return false
	}
}

// awaits returns the question for which the agent has to stop after the call.
func (c *call) awaits(u *update) string {
	for _, tool := range []string{agent.AskPerson, "request_approval"} {
		if !strings.Contains(c.titles, tool) && c.named.toolName() != "mcp__"+server+"__"+tool {
			continue
		}
		for _, text := range append(texts(u.Content), texts(u.RawOutput)...) {
			if id := agent.Awaits(tool, c.rawInput, text); id != "" {
				return id
			}
		}
	}
	return ""
}

// texts are all texts in a value, and all objects in their JSON form: agents
// wrap the results of tools in many ways.
func texts(raw json.RawMessage) []string {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return collect(nil, v)
}

func collect(out []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(out, v)
	case []any:
		for _, inner := range v {
			out = collect(out, inner)
		}
	case map[string]any:
		if v["question_id"] != nil {
			if data, err := json.Marshal(v); err == nil {
				out = append(out, string(data))
			}
		}
		for key, inner := range v {
			if key != "type" {
				out = collect(out, inner)
			}
		}
	}
	return out
}

// plan reports the agent's own plan as progress.
func (s *session) plan(u *update) {
	steps := make([]agent.Step, len(u.Entries))
	for n, e := range u.Entries {
		steps[n] = agent.Step{Text: e.Content, Done: e.Status == "completed"}
	}
	if p := agent.Plan(steps); p != nil {
		s.desk.Progress(*p)
	}
}

// announced is what the agent told of a call before it asked for permission.
func (s *session) announced(id string) call {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[id]; c != nil {
		return *c
	}
	return call{}
}
