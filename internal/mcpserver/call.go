package mcpserver

import (
	"bytes"
	"encoding/json"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// call is one tool call in the name of its caller.
type call struct {
	*mcp.CallToolRequest
	backend Backend
	// task and session say where questions belong. The task has precedence, and
	// both may be empty.
	task, session, project string
	// agentPlace is where the agent runs. onTold is called with the state of
	// its questions.
	agentPlace fermata.AgentHost
	onTold     func(session string, q *fermata.Question)
	// runID is the run of the task, or empty.
	runID string
	// key identifies the call if the client gives it an id. A repeated call has
	// the same key.
	key string
	log *slog.Logger
}

// Headers by which an agent over HTTP names its task, its run and its session.
const (
	TaskHeader    = "Fermata-Task"
	RunHeader     = "Fermata-Run"
	SessionHeader = "Fermata-Session"
)

func (s *Server) newCall(req *mcp.CallToolRequest) (*call, error) {
	backend, err := s.Backend(req)
	if err != nil {
		return nil, err
	}
	c := &call{CallToolRequest: req, backend: backend, task: s.Task, runID: s.RunID, session: s.Session, project: s.Project, log: s.Log}
	if req.Extra != nil && req.Extra.Header != nil {
		c.readHeaders(req)
	}
	c.agentPlace, c.onTold = s.agentPlace(), s.OnTold
	if c.agentPlace == fermata.HostUnknown && c.task != "" {
		c.agentPlace = fermata.HostWorker
	}
	if c.session == "" {
		c.session = s.sessionOf(req)
	}
	if len(c.session) > maxSessionKey {
		c.session = "mcp:" + fermata.Digest(c.session)
	}
	if id := callID(req.Params.Meta); id != "" {
		c.setKey("call", id)
	}
	return c, nil
}

// readHeaders reads the task, the run and the session from the HTTP request.
func (c *call) readHeaders(req *mcp.CallToolRequest) {
	c.setTask(req.Extra.Header.Get(TaskHeader), "")
	if run := req.Extra.Header.Get(RunHeader); run != "" && c.task != "" {
		c.runID = run
	}
	if key := req.Extra.Header.Get(SessionHeader); key != "" {
		c.session = key
	}
}

// maxSessionKey is the longest session key, in bytes. A longer one is replaced
// by its hash.
const maxSessionKey = 128

// sessionOf returns the session of an agent that names none: its conversation
// if the client sends it, else its connection.
func (s *Server) sessionOf(req *mcp.CallToolRequest) string {
	if thread := codexThread(req.Params.Meta); thread != "" {
		return "codex:" + thread
	}
	if s.OtherSession != "" {
		return s.OtherSession
	}
	if id := req.Session.ID(); id != "" {
		return "mcp:" + id
	}
	return ""
}

// codexThread returns the conversation that Codex names in each call.
func codexThread(meta mcp.Meta) string {
	turn, _ := meta["x-codex-turn-metadata"].(map[string]any)
	thread, _ := turn["thread_id"].(string)
	return thread
}

// callID returns the id that Claude Code or Codex gives the call.
func callID(meta mcp.Meta) string {
	if id, _ := meta["claudecode/toolUseId"].(string); id != "" {
		return id
	}
	id, _ := meta["callId"].(string)
	return id
}

// setKey sets the key of the call from an id of the client. Such an id is unique
// only in its conversation, so the key contains the conversation, too.
func (c *call) setKey(kind, id string) {
	c.key = "mcp:" + fermata.Digest([]string{kind, c.backend.Name(), c.task, c.session, id})
}

// decode reads the arguments strictly. An unknown field is an error, because it
// is probably misspelt.
func (c *call) decode(into any) error {
	raw := c.Params.Arguments
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	return strictjson.UnmarshalRequest(raw, "", into)
}
