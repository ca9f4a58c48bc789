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

// permission is a request for one. Arguments are kept as they came, byte for byte:
// people approve exactly these.
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

// permit lets a person decide about a call, or a rule. Whatever goes wrong, the
// call is not permitted.
func (c *conversation) permit(ctx context.Context, p *permission) acp.RequestPermissionOutcome {
	c.session.decide(p.ToolCall.ID, refused)
	outcome := c.outcome(ctx, p)
	if s := outcome.Selected; s != nil && s.OptionId == p.option(acp.PermissionOptionKindAllowOnce) {
		c.session.decide(p.ToolCall.ID, permitted)
	}
	return outcome
}

// outcome is what the request comes to.
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

// ownTools are the tools of Fermata that ask or tell people something. Nobody is
// asked whether an agent may ask.
var ownTools = agent.DeskTools(agent.AskPerson)

// isOwn reports whether the call is of one of Fermata's own tools, on the server
// that the agent was given. Where the agent's program tells the name of the tool,
// the name decides and nothing else does. Other programs put it into the title,
// of a call whose kind no command and no edit has.
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

// isTitledByTool reports whether Gemini CLI made the title of the tool's name. Of a call
// with an argument "command" it shows that as the title, whichever tool it is; then the
// explanation names the argument, or leaves names out.
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

// ownName reports whether a tool has the exact name of one of Fermata's.
func ownName(name string) bool {
	tool, ok := strings.CutPrefix(name, "mcp__"+server+"__")
	return ok && slices.Contains(ownTools, tool)
}

// ownTitle reports whether a call has the exact title that opencode and Gemini CLI
// give a call of Fermata's.
func ownTitle(title string) bool {
	return slices.ContainsFunc(ownTools, func(tool string) bool {
		return title == server+"_"+tool || title == tool+" ("+server+" MCP Server)"
	})
}

// decide asks until there is a decision, or the agent has to stop.
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

// awaitDecision waits for the question on which a call depends. It returns nil when that is
// decided, so that the gate says what it means for the call.
func (c *conversation) awaitDecision(ctx context.Context, p *permission, call fermata.GateCall, v *fermata.GateVerdict, until time.Time) *acp.RequestPermissionOutcome {
	cancelled := acp.NewRequestPermissionOutcomeCancelled()
	if v.Decision == fermata.GateDeny {
		// Another question of the task is open, so nobody was asked about this call.
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
		// The approval is of other arguments. It stays unused, and the agent is told of it.
		c.logf("approved with edits: the agent is told, and has to ask with these arguments.")
		c.suspend(ctx, q.ID)
		return &cancelled
	}
	return nil
}

// allow picks the option that permits this one call. What permits more is never
// picked: people were asked about this call.
func (p *permission) allow(c *conversation) acp.RequestPermissionOutcome {
	if o := p.option(acp.PermissionOptionKindAllowOnce); o != "" {
		return acp.NewRequestPermissionOutcomeSelected(o)
	}
	c.logf("the agent offers no way to permit one call only, so it is refused.")
	return p.refuse()
}

// refuse picks the option that refuses the call, the narrow one first.
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

// gateCall is the call as gates know it. Its tool is the kind that the protocol
// gives it (execute, edit, fetch …), its input the arguments, with the agent's own
// description beside them under "acp".
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

// callID is a name of the call that no other session's call has.
func (c *conversation) callID(id string) string {
	if id == "" {
		return ""
	}
	return fermata.Digest([]string{string(c.session.id()), id})
}

// description is what the agent says about a call beside its arguments.
type description struct {
	Title     string          `json:"title,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"`
	Locations json.RawMessage `json:"locations,omitempty"`
	// RawInput holds arguments that are no object, or that have a place "acp" of their own.
	RawInput json.RawMessage `json:"raw_input,omitempty"`
}

// input joins the arguments, in the order in which they came, and the description.
// Where there are no arguments the title stands for them: some agents put the
// command there and nowhere else.
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
