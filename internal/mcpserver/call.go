package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
)

// call is one tool call in the name of its caller.
type call struct {
	*mcp.CallToolRequest
	desk Desk
	// task and session say where questions go; one of them, or none.
	task, session, project string
	// id names the call where the client tells it: a call that is repeated has
	// the same.
	id string
}

func (s *Server) call(req *mcp.CallToolRequest) (*call, error) {
	desk, err := s.Desk(req)
	if err != nil {
		return nil, err
	}
	c := &call{CallToolRequest: req, desk: desk, task: s.Task, session: s.Session, project: s.Project}
	c.readMeta()
	return c, nil
}

// maxSessionKey is the length of a session key.
const maxSessionKey = 128

// readMeta takes the session and the id of the call from what Claude Code and
// Codex add to it.
func (c *call) readMeta() {
	meta := c.Params.Meta
	turn, _ := meta["x-codex-turn-metadata"].(map[string]any)
	if thread, _ := turn["thread_id"].(string); thread != "" {
		c.session = "codex:" + thread
	}
	id, _ := meta["claudecode/toolUseId"].(string)
	if id == "" {
		id, _ = meta["callId"].(string)
	}
	if len(c.session) > maxSessionKey {
		c.session = "mcp:" + fermata.Digest(c.session)
	}
	if id != "" {
		// Ids are the client's own; what they are unique in goes with them.
		c.id = "mcp:" + fermata.Digest([]string{c.task, c.session, id})
	}
}

// decode reads the arguments strictly: a field that is not known is more
// likely misspelled than meant to be ignored.
func (c *call) decode(into any) error {
	raw := c.Params.Arguments
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	return decode(raw, into)
}

func decode(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		return nil
	}
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return fermata.Invalid(fermata.Problem{Field: wrong.Field, Message: fmt.Sprintf("is a %s, which does not fit", wrong.Value)})
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		field := strings.Trim(strings.TrimPrefix(err.Error(), "json: unknown field "), `"`)
		return fermata.Invalid(fermata.Problem{Field: field, Message: "is no known field; names are exact"})
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fermata.Errorf(fermata.CodeInvalidRequest, "the arguments are not whole JSON")
	default:
		return fermata.Errorf(fermata.CodeInvalidRequest, "the arguments cannot be read: %w", err)
	}
}
