package acp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// permission is a request for permission. Its arguments are kept byte for byte, because people approve exactly these.
type permission struct {
	ToolCall struct {
		ID        string          `json:"toolCallId"`
		Title     string          `json:"title"`
		Kind      string          `json:"kind"`
		RawInput  json.RawMessage `json:"rawInput"`
		Content   json.RawMessage `json:"content"`
		Locations json.RawMessage `json:"locations"`
		named
	} `json:"toolCall"`
	Options []acp.PermissionOption `json:"options"`
}

// permit lets a person or a rule decide about a call. If anything goes wrong, the call is not permitted.
func (c *conversation) permit(ctx context.Context, p *permission) acp.RequestPermissionOutcome {
	c.session.decide(p.ToolCall.ID, refused)
	outcome := c.outcome(ctx, p)
	if s := outcome.Selected; s != nil && s.OptionId == p.option(acp.PermissionOptionKindAllowOnce) {
		c.session.decide(p.ToolCall.ID, permitted)
	}
	return outcome
}

// outcome returns the reply to the request.
func (c *conversation) outcome(ctx context.Context, p *permission) acp.RequestPermissionOutcome {
	if c.isOwn(p) {
		return p.allow(c)
	}
	end, ok := c.turnToAsk(ctx)
	if !ok {
		return acp.NewRequestPermissionOutcomeCancelled()
	}
	defer end()
	call, err := c.gateCall(p)
	if err == nil && c.r.opts.Asker != nil {
		return c.decide(ctx, p, call)
	}
	c.logf("not permitted, because nobody can be asked: %s", cmp.Or(p.ToolCall.Title, p.ToolCall.ID))
	return p.refuse()
}

// ownTools are the tools of Fermata that ask people or report to them. An agent needs no permission to ask.
var ownTools = agent.DeskTools(agent.AskPerson)

// isOwn reports whether the call is of one of Fermata's own tools, on the server that the agent was given. If the
// agent's program reports the name of the tool, only the name decides. Other programs put the name into the title. For
// these the call must have the kind "other", which no command and no edit has.
func (c *conversation) isOwn(p *permission) bool {
	if c.r.opts.Fermata == "" {
		return false
	}
	t, known := &p.ToolCall, c.session.announced(p.ToolCall.ID)
	asked, announced := t.toolName(), known.named.toolName()
	own := false
	switch name := cmp.Or(asked, announced); {
	case name != "":
		agree := asked == "" || announced == "" || asked == announced
		own = agree && ownName(name) && t.isOurs() && known.named.isOurs()
	case cmp.Or(t.Kind, known.kind) == "other":
		own = ownTitle(t.Title) && (c.session.program() != geminiName || p.isTitledByTool())
	}
	if own {
		c.session.hear(&update{ToolCallID: t.ID, Title: t.Title, RawInput: t.RawInput, named: t.named})
	}
	return own
}

// isTitledByTool reports whether Gemini CLI made the title from the tool's name. If a call has an argument "command",
// Gemini CLI shows that argument as the title, whichever tool it is. In that case, the explanation names the argument,
// or leaves out names.
func (p *permission) isTitledByTool() bool {
	t := &p.ToolCall
	tool, _, _ := strings.Cut(t.Title, " ")
	if isGeminiCall(t.ID, "mcp_"+server+"_"+tool) {
		return true
	}
	for _, text := range texts(t.Content) {
		var arguments map[string]json.RawMessage
		switch {
		case json.Unmarshal([]byte(text), &arguments) == nil:
			if _, named := arguments["command"]; named {
				return false
			}
		case strings.Contains(text, "command") || strings.Contains(text, ", ..."):
			return false
		}
	}
	return true
}

// server is the name under which an agent is given Fermata's MCP server.
const server = "fermata"

// ownName reports whether name is the exact name of one of Fermata's tools.
func ownName(name string) bool {
	tool, ok := strings.CutPrefix(name, "mcp__"+server+"__")
	return ok && slices.Contains(ownTools, tool)
}

// ownTitle reports whether title is the exact title that opencode or Gemini CLI gives a call of one of Fermata's tools.
func ownTitle(title string) bool {
	return slices.ContainsFunc(ownTools, func(tool string) bool {
		return title == server+"_"+tool || title == tool+" ("+server+" MCP Server)"
	})
}

// decide asks the gate until there is a decision, or the agent has to stop.
func (c *conversation) decide(ctx context.Context, p *permission, call fermata.GateCall) acp.RequestPermissionOutcome {
	if hash := fermata.HashAction(call.Action()); c.refused[hash] {
		delete(c.refused, hash)
		c.logf("refused before: %s", call.Title())
		return p.refuse()
	}
	until := c.deadline()
	for {
		v, err := c.r.opts.Asker.Gate(ctx, call)
		switch {
		case ctx.Err() != nil:
			return acp.NewRequestPermissionOutcomeCancelled()
		case err != nil:
			c.logf("not permitted: %s: %v", call.Title(), err)
			return p.refuse()
		case v.Decision == fermata.GateAllow && len(v.Input) == 0:
			c.logf("permitted: %s (%s)", call.Title(), v.Reason)
			c.mail.decided(v.QuestionID)
			return p.allow(c)
		case v.Decision == fermata.GateAllow:
			c.logf("only other arguments were approved, and this agent cannot be given them: %s", call.Title())
			return p.refuse()
		case v.Status == fermata.Pending && v.QuestionID != "":
			if out := c.awaitDecision(ctx, p, call, v, until); out != nil {
				return *out
			}
		default:
			c.logf("not permitted: %s (%s)", call.Title(), v.Reason)
			if v.QuestionID != "" {
				c.mail.decided(v.QuestionID)
			}
			return p.refuse()
		}
	}
}

// awaitDecision waits for the question on which a call depends. It returns nil when the question is decided; the gate
// then says what this means for the call.
func (c *conversation) awaitDecision(ctx context.Context, p *permission, call fermata.GateCall, v *fermata.GateVerdict, until time.Time) *acp.RequestPermissionOutcome {
	cancelled := acp.NewRequestPermissionOutcomeCancelled()
	if v.Decision == fermata.GateDeny {
		// Another question of the task is open, so people were not asked about this call.
		c.logf("%s has to wait: %s", call.Title(), v.Reason)
		c.suspend(ctx, v.QuestionID)
		return &cancelled
	}
	c.logf("asks for permission (%s): %s", v.QuestionID, call.Title())
	q, err := c.await(ctx, v.QuestionID, until)
	switch {
	case err != nil:
		c.logf("not permitted: %s: %v", call.Title(), err)
		refused := p.refuse()
		return &refused
	case q == nil:
		return &cancelled
	case q.Resolution.Approved() && len(q.Resolution.Action) > 0:
		// The approval is for other arguments. It stays unused, and the agent is told about it.
		c.logf("approved with edits: the agent is told, and has to ask with these arguments.")
		c.suspend(ctx, q.ID)
		return &cancelled
	}
	return nil
}

// allow picks the option that permits only this call. It never picks an option that permits more, because people were
// asked about this call only.
func (p *permission) allow(c *conversation) acp.RequestPermissionOutcome {
	if o := p.option(acp.PermissionOptionKindAllowOnce); o != "" {
		return acp.NewRequestPermissionOutcomeSelected(o)
	}
	c.logf("the agent offers no way to permit one call only, so it is refused.")
	return p.refuse()
}

// refuse picks the option that refuses the call, preferably only this call.
func (p *permission) refuse() acp.RequestPermissionOutcome {
	if o := cmp.Or(p.option(acp.PermissionOptionKindRejectOnce), p.option(acp.PermissionOptionKindRejectAlways)); o != "" {
		return acp.NewRequestPermissionOutcomeSelected(o)
	}
	return acp.NewRequestPermissionOutcomeCancelled()
}

func (p *permission) option(kind acp.PermissionOptionKind) acp.PermissionOptionId {
	i := slices.IndexFunc(p.Options, func(o acp.PermissionOption) bool { return o.Kind == kind })
	if i < 0 {
		return ""
	}
	return p.Options[i].OptionId
}

// gateCall returns the call in the form that gates know. Its tool is the protocol's kind of the call (execute, edit,
// fetch …). Its input is the arguments, with the agent's own description under "acp".
func (c *conversation) gateCall(p *permission) (fermata.GateCall, error) {
	t, known := &p.ToolCall, c.session.announced(p.ToolCall.ID)
	t.Title, t.Kind = cmp.Or(t.Title, known.title), cmp.Or(t.Kind, known.kind, "other")
	if blank(t.RawInput) {
		t.RawInput = known.rawInput
	}
	if blank(t.Content) {
		t.Content = known.content
	}
	call := fermata.GateCall{
		TaskID: c.claim.Task.ID, RunID: c.claim.Run.ID, CallID: c.callID(t.ID), Runner: Name, Tool: t.Kind, Dir: c.desk.Dir(),
	}
	var err error
	call.Input, err = p.input()
	if err == nil {
		err = call.Check()
	}
	return call, err
}

// callID returns an id of the call that is unique across sessions.
func (c *conversation) callID(id string) string {
	if id == "" {
		return ""
	}
	return fermata.Digest([]string{string(c.session.id()), id})
}

// description is the agent's description of a call, in addition to its arguments.
type description struct {
	Title     string          `json:"title,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"`
	Locations json.RawMessage `json:"locations,omitempty"`
	// RawInput holds arguments that are no JSON object, or that have a field "acp" of their own.
	RawInput json.RawMessage `json:"raw_input,omitempty"`
}

// input returns the arguments, in the order in which they came, with the description added. If there are no arguments,
// the title replaces them: some agents put the command only there.
func (p *permission) input() (json.RawMessage, error) {
	t := &p.ToolCall
	d := description{Title: t.Title}
	if !blank(t.Content) {
		d.Content = t.Content
	}
	if !blank(t.Locations) {
		d.Locations = t.Locations
	}
	var fields map[string]json.RawMessage
	raw := bytes.TrimSpace(t.RawInput)
	switch {
	case blank(raw):
		title, err := json.Marshal(t.Title)
		if err != nil {
			return nil, err
		}
		raw = append(append([]byte(`{"title":`), title...), '}')
	case json.Unmarshal(raw, &fields) != nil || fields["acp"] != nil:
		d.RawInput, raw = t.RawInput, []byte("{}")
	}
	data, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	joined := slices.Clone(bytes.TrimSuffix(raw, []byte("}")))
	if !bytes.Equal(bytes.TrimSpace(joined), []byte("{")) {
		joined = append(joined, ',')
	}
	joined = append(append(append(joined, `"acp":`...), data...), '}')
	return joined, nil
}
