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

// session collects what the agent reports about its session.
type session struct {
	desk Desk
	log  *transcript
	// asked gets the id of a question that the agent asked with Fermata's own tools, and waits for.
	asked chan string
	// replayed gets a signal for each update about earlier runs.
	replayed chan struct{}
	// ungated is closed when the agent has run a call that no gate permitted.
	ungated chan struct{}

	mu    sync.Mutex
	name  acp.SessionId
	quiet bool
	// message is the latest message so far. open is true if it may continue.
	message strings.Builder
	open    bool
	calls   map[string]*call
	// agent is the known name of the agent's program.
	agent string
	// cancelled is true if the turn was cancelled. Then calls may fail without having asked.
	cancelled bool
	// violation describes the first call that ran against the gate.
	violation string
}

// call is a tool call, as far as the agent has reported it.
type call struct {
	// title is the latest title, first the first one, and titles are all of them.
	title, first, titles string
	kind, status         string
	// decided is the decision about the request for permission.
	decided decision
	// bare is true if the program reported only the title when it announced the call.
	bare     bool
	rawInput json.RawMessage
	content  json.RawMessage
	// named is the program's latest metadata about the tool.
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

// replay sets whether the agent's updates are about earlier runs.
func (s *session) replay(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet = on
}

// A replay is over when no update has come for replayPause, or after longestReplay.
const (
	replayPause   = 500 * time.Millisecond
	longestReplay = 5 * time.Second
)

// awaitReplayEnd waits for the end of a replay. Some agents continue it after they have said that the session is
// loaded, and old messages would be taken for new ones.
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

// cancel records that the turn was cancelled.
func (s *session) cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancelled = true
}

// program returns the known name of the agent's program.
func (s *session) program() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agent
}

// meet records the known name of the agent's program.
func (s *session) meet(agent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agent = agent
}

// lastMessage returns the last message of the turn.
func (s *session) lastMessage() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(s.message.String())
}

// update is one update of a session. Agents send more kinds than are known here; the others are ignored.
type update struct {
	Kind string `json:"sessionUpdate"`
	// Content is a block of a message, or the output of a tool.
	Content json.RawMessage `json:"content"`
	// The next fields belong to a tool call.
	ToolCallID string          `json:"toolCallId"`
	Title      string          `json:"title"`
	ToolKind   string          `json:"kind"`
	Status     string          `json:"status"`
	RawInput   json.RawMessage `json:"rawInput"`
	RawOutput  json.RawMessage `json:"rawOutput"`
	named
	// Entries are the entries of a plan.
	Entries []struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	} `json:"entries"`
}

// update takes an update of the session.
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

// speak adds text to the last message, or begins a new one.
func (s *session) speak(text string) {
	if !s.open && text != "" {
		s.message.Reset()
		s.open = true
	}
	s.message.WriteString(text)
	s.log.say("", text)
}

// textOf returns the text of a block, or "" for a block of another kind.
func textOf(block json.RawMessage) string {
	var b struct {
		Text string `json:"text"`
	}
	json.Unmarshal(block, &b) //nolint:errcheck // a block of another form has no text
	return b.Text
}

// tool records the progress of a call.
func (s *session) tool(u *update) {
	c := s.calls[u.ToolCallID]
	if c == nil || c.isOver() && u.Kind == newCall {
		// A new call that reuses an id must not inherit its permission.
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

// newCall is the kind of an update that announces a call.
const newCall = "tool_call"

// isOver reports whether the agent said that the call has ended.
func (c *call) isOver() bool { return c.status == statusCompleted || c.status == statusFailed }

// hear records a call that the agent reported only in its request for permission.
func (s *session) hear(u *update) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tool(u)
}

// take stores the details of a call.
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

// blank reports whether a JSON value is empty.
func blank(raw json.RawMessage) bool {
	switch strings.Join(strings.Fields(string(raw)), "") {
	case "", "null", "{}", "[]", `""`:
		return true
	default:
		return false
	}
}

// awaits returns the id of the question for which the agent has to stop after the call.
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

// texts returns all texts in a value, and all objects with a question_id as JSON, because agents wrap the results of
// tools in many ways.
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

// announced returns what the agent reported about a call before it asked for permission.
func (s *session) announced(id string) call {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[id]; c != nil {
		return *c
	}
	return call{}
}
