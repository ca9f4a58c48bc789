package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// gateFlags are those of every hook that gates.
type gateFlags struct {
	Wait   time.Duration `default:"0s" placeholder:"5m" help:"How long to wait within the hook for a person; keep it well below the hook's own timeout, behind which a program may run the tool."`
	Strict bool          `help:"Also stop calls that no rule names, where the policy asks or denies. Without it the program's own permissions decide about these. Always so in a worker."`
	Task   string        `env:"FERMATA_TASK" placeholder:"ID" help:"Task that makes the call; without one the session's own is used."`
}

const (
	// gateWithin bounds one request of a gate.
	gateWithin = 10 * time.Second
	// exitBlocked is the one exit code that keeps these programs from running a
	// tool: with any other but 0 they go on.
	exitBlocked = 2
	// deskCall begins the call ids of mirrored permission dialogs.
	deskCall = "desk:"
	// maxHookInput bounds what a program may say on standard input.
	maxHookInput = 8 << 20
	// ownServer is the name of Fermata's MCP server in their configurations.
	ownServer = "fermata"
)

// hookEvent is what these programs say on standard input.
type hookEvent struct {
	Event     string          `json:"hook_event_name"`
	SessionID string          `json:"session_id"`
	Dir       string          `json:"cwd"`
	Tool      string          `json:"tool_name"`
	Input     json.RawMessage `json:"tool_input"`
	CallID    string          `json:"tool_use_id"`
	// Response is what the tool came to, where it ran already.
	Response struct {
		Display json.RawMessage `json:"returnDisplay"`
	} `json:"tool_response"`
	MCPContext struct {
		Server string `json:"server_name"`
		Tool   string `json:"tool_name"`
	} `json:"mcp_context"`
}

// gateDialect is how one program is talked to.
type gateDialect struct {
	runner string
	// before is its name for the event before a tool runs.
	before string
	// mcpPrefix begins the names of Fermata's own tools.
	mcpPrefix string
	// asks says that it has a dialog of its own to which a gate can point.
	asks bool
	// decide says what a gate decided; nil says nothing, which leaves the
	// decision to the program's own permissions. The error is a refusal.
	decide func(in *hookEvent, v *fermata.GateVerdict) (any, error)
	// afterOwn replies to what comes of a tool of Fermata's; nil where nothing
	// has to be said.
	afterOwn func(in *hookEvent) any
	// permit answers its permission dialog; nil where it has none.
	permit func(v *fermata.GateVerdict) (any, error)
}

// gateHook is one call of a hook.
type gateHook struct {
	*session
	gateFlags
	gateDialect
	server *client.Client
	in     hookEvent
}

// gateHook runs a hook. It ends with 0 or, on any trouble, with the code that
// keeps the tool from running: a gate that fails is closed.
func (s *session) gateHook(ctx context.Context, f gateFlags, d gateDialect) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the gate broke: %v", r)
		}
		if err != nil {
			fmt.Fprintf(s.err, "fermata: this call may not run: %s\n", oneLine(hookError(err)))
			err = outcome(exitBlocked)
		}
	}()
	h := &gateHook{session: s, gateFlags: f, gateDialect: d}
	if err := h.read(); err != nil {
		return err
	}
	if h.own() {
		if d.afterOwn != nil {
			return h.say(d.afterOwn(&h.in), nil)
		}
		return nil
	}
	if h.server, err = s.server(); err != nil {
		return err
	}
	switch {
	case h.in.Event == d.before:
		return h.gate(ctx)
	case h.in.Event == "PermissionRequest" && d.permit != nil:
		return h.mirror(ctx)
	default:
		return fmt.Errorf("the event %q is none that fermata hook %s knows; run fermata install %s again", h.in.Event, d.runner, d.runner)
	}
}

// hookError is an error with its hint, for an agent.
func hookError(err error) string {
	text := err.Error()
	if e, ok := err.(*fermata.Error); ok && e.Hint != "" { //nolint:errorlint // the client returns it bare
		text += " (" + e.Hint + ")"
	}
	return text
}

func (h *gateHook) read() error {
	data, err := io.ReadAll(io.LimitReader(h.lines, maxHookInput+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the call: %w", err)
	case len(data) > maxHookInput:
		return fmt.Errorf("the call has more than %d bytes", maxHookInput)
	}
	if err := json.Unmarshal(data, &h.in); err != nil {
		return fmt.Errorf("the call on standard input is not the JSON of a hook: %w", err)
	}
	if h.in.Tool == "" {
		return fmt.Errorf("the call names no tool")
	}
	if h.in.SessionID == "" && h.Task == "" {
		return fmt.Errorf("the call names no session")
	}
	return nil
}

// own reports whether the tool is one of Fermata's: asking is not gated.
func (h *gateHook) own() bool {
	if h.in.MCPContext.Server != "" {
		return h.in.MCPContext.Server == ownServer
	}
	return strings.HasPrefix(h.in.Tool, h.mcpPrefix)
}

func (h *gateHook) call(id string) fermata.GateCall {
	call := fermata.GateCall{TaskID: h.Task, CallID: id, Runner: h.runner, Tool: h.in.Tool, Input: h.in.Input, Dir: h.in.Dir}
	if h.Task == "" {
		call.SessionKey = h.runner + ":" + h.in.SessionID
	}
	return call
}

// ask makes one request that ends soon.
func (h *gateHook) ask(ctx context.Context, call fermata.GateCall) (*fermata.GateVerdict, error) {
	ctx, cancel := context.WithTimeout(ctx, gateWithin)
	defer cancel()
	v, err := h.server.Gate(ctx, call)
	if err != nil {
		return nil, err
	}
	switch v.Decision {
	case fermata.GateAllow, fermata.GateDeny, fermata.GateAsk:
		return v, nil
	default:
		return nil, fmt.Errorf("the server decided %q, which this version does not know", v.Decision)
	}
}

// gate decides about a tool call before it runs.
func (h *gateHook) gate(ctx context.Context) error {
	call := h.call(h.in.CallID)
	if !h.Strict && h.Task == "" {
		said, err := h.gateAtDesk(ctx, call)
		if said || err != nil {
			return err
		}
	}
	v, err := h.ask(ctx, call)
	if err != nil {
		return err
	}
	if v, err = h.makeRoom(ctx, call, v); err != nil {
		return err
	}
	if v.Decision == fermata.GateAsk && h.Wait > 0 {
		if v, err = h.await(ctx, call, v); err != nil {
			return err
		}
	}
	if v.Decision == fermata.GateAsk {
		v.Decision = fermata.GateDeny
		v.Reason = fmt.Sprintf("a person must approve this call first, and was asked (%s). Do not try another way. "+
			"Go on with other work or end your turn, and make exactly this call again once it is approved", v.QuestionID)
	}
	return h.say(h.decide(&h.in, v))
}

// gateAtDesk decides where a person sits at the program. What no rule names is
// left to the program's own permissions, and asking to its own dialog, where
// it has one. It reports whether that was all.
func (h *gateHook) gateAtDesk(ctx context.Context, call fermata.GateCall) (bool, error) {
	call.DryRun = true
	v, err := h.ask(ctx, call)
	switch {
	case err != nil:
		return true, err
	case v.Rule == nil && v.Decision != fermata.GateDeny:
		return true, nil
	case v.Decision == fermata.GateAllow && !v.Rule.Counted(), v.Decision == fermata.GateAsk && h.asks:
		return true, h.say(h.decide(&h.in, v))
	default:
		// This one is counted, recorded or asked.
		return false, nil
	}
}

// makeRoom withdraws a mirrored dialog that was decided at the desk and that
// is in the way of another call.
func (h *gateHook) makeRoom(ctx context.Context, call fermata.GateCall, v *fermata.GateVerdict) (*fermata.GateVerdict, error) {
	if v.Decision != fermata.GateDeny || v.Status != fermata.Pending {
		return v, nil
	}
	waiting, err := h.server.Question(ctx, v.QuestionID)
	if err != nil || !strings.HasPrefix(waiting.Metadata[fermata.GateCallKey], deskCall) {
		return v, err
	}
	if _, err := h.server.CancelQuestion(ctx, waiting.ID, "decided at the desk"); err != nil {
		return v, err
	}
	return h.ask(ctx, call)
}

// await waits for a person, and meets what was decided.
func (h *gateHook) await(ctx context.Context, call fermata.GateCall, v *fermata.GateVerdict) (*fermata.GateVerdict, error) {
	q, err := h.server.WaitQuestion(ctx, v.QuestionID, h.Wait)
	switch {
	case err != nil:
		return nil, err
	case q.Status == fermata.Pending:
		return v, nil
	case q.Resolution.Approved():
		return h.ask(ctx, call)
	default:
		return &fermata.GateVerdict{
			Decision: fermata.GateDeny, Reason: q.Refusal(), QuestionID: q.ID, Status: q.Status, DecidedBy: q.Resolution.DecidedBy,
		}, nil
	}
}

// mirror puts a permission dialog into the inbox as well; whoever answers
// first decides. When nobody does in time, it says nothing, and the dialog at
// the desk decides. Here trouble closes nothing: a person is asked anyway.
func (h *gateHook) mirror(ctx context.Context) error {
	if h.Task != "" {
		return nil
	}
	if h.in.Tool == userQuestions {
		if err := h.mirrorQuestions(ctx); err != nil {
			fmt.Fprintf(h.err, "fermata: only the dialog here decides: %s\n", oneLine(hookError(err)))
		}
		return nil
	}
	call := h.call(deskCall + rand.Text())
	v, err := h.ask(ctx, call)
	if err == nil {
		v, err = h.makeRoom(ctx, call, v)
	}
	if err == nil && v.Decision == fermata.GateAsk {
		v, err = h.awaitBesideDesk(ctx, call, v)
	}
	if err != nil {
		fmt.Fprintf(h.err, "fermata: only the dialog here decides: %s\n", oneLine(hookError(err)))
		return nil
	}
	if v.Decision == fermata.GateAsk || v.Status == fermata.Pending || v.DecidedBy == fermata.ActorTimeout || v.Status == fermata.Cancelled {
		return nil
	}
	return h.say(h.permit(v))
}

// awaitBesideDesk waits as await does, and withdraws the question when nobody
// answered it or the desk was faster: it must not be answered in vain.
func (h *gateHook) awaitBesideDesk(ctx context.Context, call fermata.GateCall, v *fermata.GateVerdict) (*fermata.GateVerdict, error) {
	met, err := h.await(ctx, call, v)
	if err == nil && met.Decision != fermata.GateAsk {
		return met, nil
	}
	// The program ends the hook when the desk was faster.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), gateWithin)
	defer cancel()
	q, lost := h.server.Question(ctx, v.QuestionID)
	if lost == nil && q.Metadata[fermata.GateCallKey] == call.CallID {
		_, lost = h.server.CancelQuestion(ctx, q.ID, "left to the dialog at the desk")
		if fermata.CodeOf(lost) == fermata.CodeQuestionClosed {
			// Somebody answered just now.
			return h.ask(ctx, call)
		}
	}
	if err == nil {
		err = lost
	}
	return v, err
}

// say writes a reply for the program.
func (h *gateHook) say(reply any, err error) error {
	if err != nil || reply == nil {
		return err
	}
	return h.jsonLine(reply)
}

// hookOutput is what Claude Code and Codex read.
type hookOutput struct {
	Specific hookSpecific `json:"hookSpecificOutput"`
}

type hookSpecific struct {
	Event    string          `json:"hookEventName"`
	Decision string          `json:"permissionDecision,omitempty"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	// Permit answers a permission dialog.
	Permit *hookPermit `json:"decision,omitempty"`
}

type hookPermit struct {
	Behavior string          `json:"behavior"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	Message  string          `json:"message,omitempty"`
}

// preToolUse is a verdict as Claude Code and Codex read it.
func preToolUse(v *fermata.GateVerdict) hookOutput {
	return hookOutput{hookSpecific{
		Event: "PreToolUse", Decision: string(v.Decision), Reason: v.Reason, Input: v.Input,
	}}
}

// permissionRequest answers the dialog of Claude Code and Codex.
func permissionRequest(v *fermata.GateVerdict) hookOutput {
	permit := &hookPermit{Behavior: "allow", Input: v.Input}
	if v.Decision != fermata.GateAllow {
		permit = &hookPermit{Behavior: "deny", Message: v.Reason}
	}
	return hookOutput{hookSpecific{Event: "PermissionRequest", Permit: permit}}
}
