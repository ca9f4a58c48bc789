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
	handle RunHandle
	log    *transcript
	// askedQuestion gets the id of a question that the agent asked with Fermata's own tools, and waits for.
	askedQuestion chan string
	// replayed gets a signal for each update about earlier runs.
	replayed chan struct{}
	// ungated is closed when the agent has run a call that no gate permitted.
	ungated chan struct{}

	mu        sync.Mutex
	sessionID acp.SessionId
	replaying bool
	// message is the latest message so far. messageOpen is true if it may continue.
	message     strings.Builder
	messageOpen bool
	calls       map[string]*call
	// programName is the known name of the agent's program.
	programName string
	// cancelled is true if the turn was cancelled. Then calls may fail without having asked.
	cancelled bool
	// violation describes the first call that ran against the gate.
	violation string
}

// call is a tool call, as far as the agent has reported it.
type call struct {
	// title is the latest title, firstTitle the first one, and allTitles all of them.
	title, firstTitle, allTitles string
	kind, status                 string
	// decision is the decision about the request for permission.
	decision decision
	// titleOnly is true if the program reported only the title when it announced the call.
	titleOnly bool
	rawInput  json.RawMessage
	content   json.RawMessage
	// identity is the program's latest metadata about the tool.
	identity toolIdentity
}

func newSession(handle RunHandle) *session {
	return &session{handle: handle, log: &transcript{to: handle.Log(), voice: "\x00"}, askedQuestion: make(chan string, 1), replayed: make(chan struct{}, 1), ungated: make(chan struct{}), calls: map[string]*call{}}
}

func (s *session) id() acp.SessionId {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessionID
}

func (s *session) setID(id acp.SessionId) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessionID = id
}

// setReplaying sets whether the agent's updates are about earlier runs.
func (s *session) setReplaying(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replaying = on
}

// A replay has ended when no update has come for replayPause, or after maxReplay.
const (
	replayPause = 500 * time.Millisecond
	maxReplay   = 5 * time.Second
)

// awaitReplayEnd waits for the end of a replay. Some agents continue the replay after they have reported the session as
// loaded. Without the wait, old messages would be taken for new ones.
func (s *session) awaitReplayEnd(ctx context.Context) {
	pause, limit := time.NewTimer(replayPause), time.NewTimer(maxReplay)
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

// beginTurn begins a turn.
func (s *session) beginTurn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messageOpen, s.cancelled = false, false
	s.message.Reset()
}

// markCancelled records that the turn was cancelled.
func (s *session) markCancelled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancelled = true
}

// program returns the known name of the agent's program.
func (s *session) program() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.programName
}

// setProgram records the known name of the agent's program.
func (s *session) setProgram(agent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.programName = agent
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
	toolIdentity
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
	if s.replaying {
		select {
		case s.replayed <- struct{}{}:
		default:
		}
		return
	}
	u := &n.Update
	switch u.Kind {
	case "agent_message_chunk":
		s.addText(textOf(u.Content))
	case "agent_thought_chunk":
		s.messageOpen = false
		s.log.say("~ ", textOf(u.Content))
	case newCall, "tool_call_update":
		s.messageOpen = false
		s.recordToolCall(u)
	case "plan":
		s.reportPlan(u)
	}
}

// addText adds text to the last message, or begins a new one.
func (s *session) addText(text string) {
	if !s.messageOpen && text != "" {
		s.message.Reset()
		s.messageOpen = true
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

// recordToolCall records the progress of a call.
func (s *session) recordToolCall(u *update) {
	c := s.calls[u.ToolCallID]
	if c == nil || c.isOver() && u.Kind == newCall {
		// A new call that reuses an id must not inherit its permission.
		c = &call{titleOnly: isBlank(u.Content) && isBlank(u.RawInput)}
		s.calls[u.ToolCallID] = c
	}
	c.merge(u)
	if u.Title != "" && u.Title != c.title {
		c.title, c.firstTitle = u.Title, cmp.Or(c.firstTitle, u.Title)
		c.allTitles += " " + u.Title
		s.log.line("%s", agent.OneLine("> %s", c.title))
	}
	s.checkCall(c, u)
	switch u.Status {
	case statusFailed:
		s.log.line("%s", agent.OneLine("! %s: %s", c.title, strings.Join(collectTexts(u.Content), " ")))
	case statusCompleted:
		if id := c.awaitedQuestion(u); id != "" {
			select {
			case s.askedQuestion <- id:
			default:
			}
		}
	}
}

// newCall is the kind of an update that announces a call.
const newCall = "tool_call"

// isOver reports whether the agent said that the call has ended.
func (c *call) isOver() bool { return c.status == statusCompleted || c.status == statusFailed }

// addCall records a call that the agent reported only in its request for permission.
func (s *session) addCall(u *update) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recordToolCall(u)
}

// merge stores the details of a call.
func (c *call) merge(u *update) {
	if u.ToolKind != "" {
		c.kind = u.ToolKind
	}
	if u.toolName() != "" {
		c.identity = u.toolIdentity
	}
	if !isBlank(u.RawInput) {
		c.rawInput = u.RawInput
	}
	if !isBlank(u.Content) {
		c.content = u.Content
	}
}

// isBlank reports whether a JSON value is empty.
func isBlank(raw json.RawMessage) bool {
	switch strings.Join(strings.Fields(string(raw)), "") {
	case "", "null", "{}", "[]", `""`:
		return true
	default:
		return false
	}
}

// awaitedQuestion returns the id of the question for which the agent has to stop after the call.
func (c *call) awaitedQuestion(u *update) string {
	for _, tool := range []string{agent.AskPerson, "request_approval"} {
		if !strings.Contains(c.allTitles, tool) && c.identity.toolName() != "mcp__"+serverName+"__"+tool {
			continue
		}
		for _, text := range append(collectTexts(u.Content), collectTexts(u.RawOutput)...) {
			if id := agent.AwaitedQuestion(tool, c.rawInput, text); id != "" {
				return id
			}
		}
	}
	return ""
}

// collectTexts returns all texts in a value, and all objects with a question_id as JSON, because agents wrap the
// results of tools in many ways.
func collectTexts(raw json.RawMessage) []string {
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

// reportPlan reports the agent's own plan as progress.
func (s *session) reportPlan(u *update) {
	steps := make([]agent.PlanStep, len(u.Entries))
	for n, e := range u.Entries {
		steps[n] = agent.PlanStep{Text: e.Content, Done: e.Status == "completed"}
	}
	if p := agent.PlanProgress(steps); p != nil {
		s.handle.Progress(*p)
	}
}

// announcedCall returns what the agent reported about a call before it asked for permission.
func (s *session) announcedCall(id string) call {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[id]; c != nil {
		return *c
	}
	return call{}
}
