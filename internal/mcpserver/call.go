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
	desk Desk
	// task and session say where questions go; one of them, or none.
	task, session, project string
	// at is where the agent is; told hears how its questions stand.
	at   fermata.AgentPlace
	told func(session string, q *fermata.Question)
	// runID is the run of the task that calls, or empty.
	runID string
	// key names the call where the client does: repeated, it has the same.
	key string
	log *slog.Logger
}

// Headers by which an agent that comes over HTTP says where it belongs.
const (
	TaskHeader    = "Fermata-Task"
	RunHeader     = "Fermata-Run"
	SessionHeader = "Fermata-Session"
)

func (s *Server) call(req *mcp.CallToolRequest) (*call, error) {
	desk, err := s.Desk(req)
	if err != nil {
		return nil, err
	}
	c := &call{CallToolRequest: req, desk: desk, task: s.Task, runID: s.RunID, session: s.Session, project: s.Project, log: s.Log}
	if req.Extra != nil && req.Extra.Header != nil {
		c.readHeaders(req)
	}
	c.at, c.told = s.place(), s.Told
	if c.at == fermata.InHost && c.task != "" {
		c.at = fermata.InWorker
	}
	if c.session == "" {
		c.session = s.sessionOf(req)
	}
	if len(c.session) > maxSessionKey {
		c.session = "mcp:" + fermata.Digest(c.session)
	}
	if id := callID(req.Params.Meta); id != "" {
		c.name("call", id)
	}
	return c, nil
}

// readHeaders takes the task and the session from the HTTP request.
func (c *call) readHeaders(req *mcp.CallToolRequest) {
	c.place(req.Extra.Header.Get(TaskHeader), "")
	if run := req.Extra.Header.Get(RunHeader); run != "" && c.task != "" {
		c.runID = run
	}
	if key := req.Extra.Header.Get(SessionHeader); key != "" {
		c.session = key
	}
}

// maxSessionKey is the length of a session key.
const maxSessionKey = 128

// sessionOf names the session of an agent that was given no name for it: its
// conversation, where the client tells it, else its connection.
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

// codexThread is the conversation that Codex names in each call.
func codexThread(meta mcp.Meta) string {
	turn, _ := meta["x-codex-turn-metadata"].(map[string]any)
	thread, _ := turn["thread_id"].(string)
	return thread
}

// callID is the id that Claude Code or Codex gives the call.
func callID(meta mcp.Meta) string {
	if id, _ := meta["claudecode/toolUseId"].(string); id != "" {
		return id
	}
	id, _ := meta["callId"].(string)
	return id
}

// name gives the call a key by an id of the client. Such ids are unique in
// their conversation only, so that goes with them.
func (c *call) name(kind, id string) {
	c.key = "mcp:" + fermata.Digest([]string{kind, c.desk.Name(), c.task, c.session, id})
}

// decode reads the arguments strictly: a field that is not known is more
// likely misspelled than meant to be ignored.
func (c *call) decode(into any) error {
	raw := c.Params.Arguments
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	return strictjson.Request(raw, "", into)
}
