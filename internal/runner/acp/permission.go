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
		toolIdentity
	} `json:"toolCall"`
	Options []acp.PermissionOption `json:"options"`
}

// answerPermission lets a person or a rule decide about a call. If anything goes wrong, the call is not permitted.
func (c *conversation) answerPermission(ctx context.Context, p *permission) acp.RequestPermissionOutcome {
	c.session.setDecision(p.ToolCall.ID, decisionRefused)
	outcome := c.outcome(ctx, p)
	if s := outcome.Selected; s != nil && s.OptionId == p.option(acp.PermissionOptionKindAllowOnce) {
		c.session.setDecision(p.ToolCall.ID, decisionPermitted)
	}
	return outcome
}

// outcome returns the reply to the request.
func (c *conversation) outcome(ctx context.Context, p *permission) acp.RequestPermissionOutcome {
	if c.isOwnTool(p) {
		return p.allowOutcome(c)
	}
	end, ok := c.awaitTurnToAsk(ctx)
	if !ok {
		return acp.NewRequestPermissionOutcomeCancelled()
	}
	defer end()
	call, err := c.gateCall(p)
	if err == nil && c.r.opts.Asker != nil {
		return c.askGate(ctx, p, call)
	}
	c.logf("not permitted, because nobody can be asked: %s", cmp.Or(p.ToolCall.Title, p.ToolCall.ID))
	return p.refuseOutcome()
}

// ownTools are the tools of Fermata that ask people or report to them. An agent needs no permission to ask.
var ownTools = agent.ToolNames(agent.AskPerson)

// isOwnTool reports whether the call is of one of Fermata's own tools, on the server that the agent was given. If the
// agent's program reports the name of the tool, only the name decides. Other programs put the name into the title. For
// these the call must have the kind "other", which no command and no edit has. isOwnTool also records such a call.
func (c *conversation) isOwnTool(p *permission) bool {
	if c.r.opts.Fermata == "" {
		return false
	}
	t, known := &p.ToolCall, c.session.announcedCall(p.ToolCall.ID)
	asked, announced := t.toolName(), known.identity.toolName()
	own := false
	switch name := cmp.Or(asked, announced); {
	case name != "":
		agree := asked == "" || announced == "" || asked == announced
		own = agree && isOwnName(name) && t.isOwnServer() && known.identity.isOwnServer()
	case cmp.Or(t.Kind, known.kind) == "other":
		own = isOwnTitle(t.Title) && (c.session.program() != geminiName || p.isTitledByTool())
	}
	if own {
		c.session.addCall(&update{ToolCallID: t.ID, Title: t.Title, RawInput: t.RawInput, toolIdentity: t.toolIdentity})
	}
	return own
}

// isTitledByTool reports whether Gemini CLI made the title from the tool's name. If a call has an argument "command",
// Gemini CLI shows that argument as the title for every tool. In that case, the content of the call names this
// argument, or cuts its list of arguments short.
func (p *permission) isTitledByTool() bool {
	t := &p.ToolCall
	tool, _, _ := strings.Cut(t.Title, " ")
	if isGeminiCall(t.ID, "mcp_"+serverName+"_"+tool) {
		return true
	}
	for _, text := range collectTexts(t.Content) {
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

// serverName is the name under which an agent is given Fermata's MCP server.
const serverName = "fermata"

// isOwnName reports whether name is the exact name of one of Fermata's tools.
func isOwnName(name string) bool {
	tool, ok := strings.CutPrefix(name, "mcp__"+serverName+"__")
	return ok && slices.Contains(ownTools, tool)
}

// isOwnTitle reports whether title is the exact title that opencode or Gemini CLI gives a call of one of Fermata's
// tools.
func isOwnTitle(title string) bool {
	return slices.ContainsFunc(ownTools, func(tool string) bool {
		return title == serverName+"_"+tool || title == tool+" ("+serverName+" MCP Server)"
	})
}

// askGate asks the gate until there is a decision, or the agent has to stop.
func (c *conversation) askGate(ctx context.Context, p *permission, call fermata.GateCall) acp.RequestPermissionOutcome {
	if hash := fermata.HashAction(call.Action()); c.refusedHashes[hash] {
		delete(c.refusedHashes, hash)
		c.logf("refused before: %s", call.Title())
		return p.refuseOutcome()
	}
	deadline := c.deadline()
	for {
		v, err := c.r.opts.Asker.Gate(ctx, call)
		switch {
		case ctx.Err() != nil:
			return acp.NewRequestPermissionOutcomeCancelled()
		case err != nil:
			c.logf("not permitted: %s: %v", call.Title(), err)
			return p.refuseOutcome()
		case v.Decision == fermata.GateAllow && len(v.Input) == 0:
			c.logf("permitted: %s (%s)", call.Title(), v.Reason)
			c.mail.markAnswered(v.QuestionID)
			return p.allowOutcome(c)
		case v.Decision == fermata.GateAllow:
			c.logf("only other arguments were approved, and this agent cannot be given them: %s", call.Title())
			return p.refuseOutcome()
		case v.Status == fermata.Pending && v.QuestionID != "":
			if out := c.awaitDecision(ctx, p, call, v, deadline); out != nil {
				return *out
			}
		default:
			c.logf("not permitted: %s (%s)", call.Title(), v.Reason)
			if v.QuestionID != "" {
				c.mail.markAnswered(v.QuestionID)
			}
			return p.refuseOutcome()
		}
	}
}

// awaitDecision waits for the question on which a call depends. It returns nil when the question is decided; the gate
// then says what this means for the call.
func (c *conversation) awaitDecision(ctx context.Context, p *permission, call fermata.GateCall, v *fermata.GateReply, deadline time.Time) *acp.RequestPermissionOutcome {
	outcome := acp.NewRequestPermissionOutcomeCancelled()
	if v.Decision == fermata.GateDeny {
		// Another question of the task is open, so people were not asked about this call.
		c.logf("%s has to wait: %s", call.Title(), v.Reason)
		c.suspend(ctx, v.QuestionID)
		return &outcome
	}
	c.logf("asks for permission (%s): %s", v.QuestionID, call.Title())
	q, err := c.awaitAnswer(ctx, v.QuestionID, deadline)
	switch {
	case err != nil:
		c.logf("not permitted: %s: %v", call.Title(), err)
		refusal := p.refuseOutcome()
		return &refusal
	case q == nil:
		return &outcome
	case q.Resolution.IsApproved() && len(q.Resolution.Action) > 0:
		// The approval is for other arguments. It stays unused, and the agent is told about it.
		c.logf("approved with edits: the agent is told, and has to ask with these arguments.")
		c.suspend(ctx, q.ID)
		return &outcome
	}
	return nil
}

// allowOutcome picks the option that permits only this call. It never picks an option that permits more, because people
// were asked about this call only.
func (p *permission) allowOutcome(c *conversation) acp.RequestPermissionOutcome {
	if o := p.option(acp.PermissionOptionKindAllowOnce); o != "" {
		return acp.NewRequestPermissionOutcomeSelected(o)
	}
	c.logf("the agent offers no way to permit one call only, so it is refused.")
	return p.refuseOutcome()
}

// refuseOutcome picks the option that refuses the call, preferably only this call.
func (p *permission) refuseOutcome() acp.RequestPermissionOutcome {
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

// gateCall returns the call in the form that a gate takes. Its tool is the protocol's kind of the call (execute, edit,
// fetch …). Its input is the arguments, with the agent's own description under "acp".
func (c *conversation) gateCall(p *permission) (fermata.GateCall, error) {
	t, known := &p.ToolCall, c.session.announcedCall(p.ToolCall.ID)
	t.Title, t.Kind = cmp.Or(t.Title, known.title), cmp.Or(t.Kind, known.kind, "other")
	if isBlank(t.RawInput) {
		t.RawInput = known.rawInput
	}
	if isBlank(t.Content) {
		t.Content = known.content
	}
	call := fermata.GateCall{
		TaskID: c.claim.Task.ID, RunID: c.claim.Run.ID, CallID: c.callID(t.ID), Runner: Name, Tool: t.Kind, Dir: c.handle.Dir(),
	}
	var err error
	call.Input, err = p.gateInput()
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

// gateInput returns the arguments, in the order in which they came, with the description added. If there are no
// arguments, the title replaces them: some agents put the command only there.
func (p *permission) gateInput() (json.RawMessage, error) {
	t := &p.ToolCall
	d := description{Title: t.Title}
	if !isBlank(t.Content) {
		d.Content = t.Content
	}
	if !isBlank(t.Locations) {
		d.Locations = t.Locations
	}
	var fields map[string]json.RawMessage
	raw := bytes.TrimSpace(t.RawInput)
	switch {
	case isBlank(raw):
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
