package hook

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
	"github.com/fermata-hq/fermata/internal/process"
)

// gateFlags holds the flags of every hook with a gate.
type gateFlags struct {
	Wait    time.Duration `default:"0s" placeholder:"5m" help:"How long to wait within the hook for a person; keep it well below the hook's own timeout, behind which a program may run the tool."`
	Strict  bool          `help:"Also stop calls that no rule names, where the policy asks or denies. Without it the program's own permissions decide about these. Always so in a worker."`
	Task    string        `env:"FERMATA_TASK" placeholder:"ID" help:"Task that makes the call; without one the session's own is used."`
	Run     string        `env:"FERMATA_RUN" placeholder:"ID" help:"Run that makes the call; once it is over, nothing of it may run."`
	Worker  bool          `help:"Set by a worker's runner: a call that a person has to decide stops the agent, and the worker resumes it with the answer. Without it the hook stands aside in the runs of such a worker, where it is sure to be in one."`
	Unasked []string      `placeholder:"TOOL,…" help:"Tools about which the agent of a worker need not ask, unless a rule names them, or they write outside of its folder."`

	// If the command line names the server, the environment does not count, because the settings of a project may
	// change the environment.
	Server    string `placeholder:"URL" help:"Set by fermata install and by a worker's runner: the server that decides. With it, no variable of the environment counts."`
	TokenFile string `placeholder:"FILE" help:"File with the token for that server: one line, or what fermata login stored."`
	Proxy     string `placeholder:"URL" help:"Proxy by which that server is reached."`
	RunFolder string `placeholder:"FOLDER" help:"Set by a worker's runner: the folder of the run."`
	Dir       string `env:"FERMATA_RUN_DIR" placeholder:"FOLDER" help:"Set by a worker's runner: the folder in which the agent works, below which --unasked tools may write. Without it, the folder in which the hook was started."`
}

const (
	// gateTimeout is the longest time of one request of a gate.
	gateTimeout = 10 * time.Second
	// Timeout is the longest time of a hook, without the wait for a person. It is shorter than the timeout of the
	// programs, because they run a tool if its hook is late.
	Timeout = 45 * time.Second
	// exitBlocked is the only exit code that keeps these programs from running a tool. After any other code than 0
	// they run it.
	exitBlocked = 2
	// deskCallPrefix is the prefix of the call ids of mirrored permission dialogs.
	deskCallPrefix = "desk:"
	// OwnServerName is the name of Fermata's MCP server in their configurations.
	OwnServerName = "fermata"
)

// gateDialect defines how hooks talk to one agent program.
type gateDialect struct {
	runner string
	// beforeEvent and afterEvent are the program's names for the events before and after a tool runs. afterEvent is
	// empty if a hook cannot end the turn.
	beforeEvent, afterEvent string
	// mcpPrefix is the prefix of the names of Fermata's own tools.
	mcpPrefix string
	// hasDialog reports whether the program has a dialog of its own that a gate can open.
	hasDialog bool
	// verdictReply returns the reply for a verdict of the gate. A nil reply leaves the decision to the program's own
	// permissions. An error is a refusal.
	verdictReply func(in *event, v *fermata.GateReply) (any, error)
	// permissionReply returns the answer to the program's permission dialog. It is nil if the program has no such
	// dialog.
	permissionReply func(v *fermata.GateReply) (any, error)
	// endTurn ends the turn of a worker's agent instead of running a call whose question is pending. If endTurn is nil,
	// the call is refused, and the worker ends the program.
	endTurn func(h *gateHook, question string) (any, error)
	// askTools maps the program's own tools that ask people to their handlers in a worker.
	askTools map[string]func(h *gateHook, ctx context.Context) (any, error)
	// needsNoApproval reports whether a call in a worker needs no approval. If it is nil, every call needs approval.
	needsNoApproval func(in *event) bool
	// timeout is the longest time of the program's hooks; 0 means [Timeout].
	timeout time.Duration
}

// gateHook is one call of a hook.
type gateHook struct {
	s *session.Session
	gateFlags
	gateDialect
	server *client.Client
	event  event
	// runFolder is the folder of the worker's run.
	runFolder string
	// passed reports whether the call may run.
	passed bool
}

// runGate runs a hook. It ends with 0 or, after any error, with the exit code that keeps the tool from running: the
// gate fails closed.
func runGate(ctx context.Context, s *session.Session, f gateFlags, d gateDialect) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the gate broke: %v", r)
		}
		if err != nil {
			fmt.Fprintf(s.Err, "fermata: this call may not run: %s\n", terminal.OneLine(errorText(err)))
			err = session.ExitError(exitBlocked)
		}
	}()
	if err = session.CheckAtLeast("--wait", f.Wait, 0); err != nil {
		return err
	}
	h := &gateHook{s: s, gateFlags: f, gateDialect: d, runFolder: cmp.Or(f.RunFolder, os.Getenv(agent.FolderEnv))}
	if !h.Worker && h.runFolder != "" && process.IsInRun(h.runFolder) {
		// The run already has a gate for every call.
		return nil
	}
	if h.Server != "" && !h.Worker {
		h.Task, h.Run = "", ""
	}
	if h.event, err = readEvent(s); err != nil {
		return err
	}
	if h.event.workDir = h.Dir; h.Worker && h.Dir == "" {
		if h.event.workDir, err = os.Getwd(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, f.Wait+cmp.Or(d.timeout, Timeout))
	defer cancel()
	switch {
	case h.Worker:
		return h.handleWorkerEvent(ctx)
	case h.isNews():
		return h.handleNewsEvent(ctx)
	default:
		return h.handleDeskEvent(ctx)
	}
}

// handleDeskEvent handles an event of a program that a person uses.
func (h *gateHook) handleDeskEvent(ctx context.Context) error {
	if h.event.SessionID == "" && h.Task == "" {
		return fmt.Errorf("the call names no session")
	}
	if h.isOwnTool() {
		return nil
	}
	if err := h.connect(); err != nil {
		return err
	}
	switch {
	case h.event.Name == h.beforeEvent:
		return h.decideCall(ctx)
	case h.event.Name == "PermissionRequest" && h.permissionReply != nil:
		return h.mirrorDialog(ctx)
	default:
		return h.unknownEventError()
	}
}

func (h *gateHook) connect() (err error) {
	if h.Server == "" {
		h.server, err = h.s.Server()
		return err
	}
	h.server, err = h.serverFromFlags()
	return err
}

func (h *gateHook) unknownEventError() error {
	return fmt.Errorf("the event %q is none that fermata hook %s knows; run fermata install %s again", h.event.Name, h.runner, h.runner)
}

// isOwnTool reports whether the tool is one of Fermata's. The gate does not check these tools, because an agent may
// always ask.
func (h *gateHook) isOwnTool() bool {
	if h.event.MCPContext.Server != "" {
		return h.event.MCPContext.Server == OwnServerName
	}
	tool, ok := strings.CutPrefix(h.event.Tool, h.mcpPrefix)
	return ok && agent.IsOwnTool(tool)
}

func (h *gateHook) newGateCall(id string) fermata.GateCall {
	call := fermata.GateCall{TaskID: h.Task, CallID: id, Runner: h.runner, Tool: h.event.Tool, Input: h.event.Input, Dir: h.event.Dir}
	if h.Task != "" {
		call.RunID = h.Run
	} else {
		call.SessionKey = h.runner + ":" + h.event.SessionID
	}
	return call
}

// requestVerdict makes one request with a short time limit.
func (h *gateHook) requestVerdict(ctx context.Context, call fermata.GateCall) (*fermata.GateReply, error) {
	ctx, cancel := context.WithTimeout(ctx, gateTimeout)
	defer cancel()
	v, err := h.server.Gate(ctx, call)
	if err != nil {
		return nil, err
	}
	h.recordTask(v.TaskID)
	switch v.Decision {
	case fermata.GateAllow, fermata.GateDeny, fermata.GateAsk:
		return v, nil
	default:
		return nil, fmt.Errorf("the server decided %q, which this version does not know", v.Decision)
	}
}

// recordTask records the task of a session at a desk, so that its agent gets the messages that people write there. An
// error stops no call; it is printed on standard error.
func (h *gateHook) recordTask(task string) {
	if task == "" || !h.isDeskSession() {
		return
	}
	notes, err := h.notes()
	if err == nil {
		err = notes.AddTask(task)
	}
	if err != nil {
		fmt.Fprintf(h.s.Err, "fermata: the agent may not be told what people write: %s\n", terminal.OneLine(err.Error()))
	}
}

// decideCall decides about a tool call before it runs.
func (h *gateHook) decideCall(ctx context.Context) error {
	call := h.newGateCall(h.event.CallID)
	if !h.Strict && h.Task == "" {
		finished, err := h.decideDeskCall(ctx, call)
		if finished || err != nil {
			return err
		}
	}
	if h.Worker && (h.isHarmless() || slices.Contains(h.Unasked, h.event.Tool) && !h.event.mayWriteOutside()) {
		gated, err := h.isGated(ctx, call)
		if !gated || err != nil {
			h.passed = err == nil
			return err
		}
	}
	v, err := h.requestVerdict(ctx, call)
	if err != nil {
		return err
	}
	if v, err = h.withdrawMirrored(ctx, call, v); err != nil {
		return err
	}
	if v.Decision == fermata.GateAsk && h.Wait > 0 {
		if v, err = h.awaitVerdict(ctx, call, v); err != nil {
			return err
		}
	}
	if v.Decision == fermata.GateAsk && h.Worker {
		return h.writeReply(h.stopForQuestion(v.QuestionID))
	}
	if v.Decision == fermata.GateAsk {
		v.Decision = fermata.GateDeny
		v.Reason = fmt.Sprintf("a person must approve this call first, and was asked (%s). Do not try another way. "+
			"Go on with other work or end your turn, and make exactly this call again once it is approved", v.QuestionID)
	}
	h.passed = v.Decision == fermata.GateAllow
	return h.writeReply(h.verdictReply(&h.event, v))
}

// decideDeskCall decides about a call of a program that a person uses. It leaves a call that no rule names to the
// program's own permissions. If a rule asks, it leaves the decision to the program's own dialog, if there is one. It
// reports whether the call is finished.
func (h *gateHook) decideDeskCall(ctx context.Context, call fermata.GateCall) (bool, error) {
	call.DryRun = true
	v, err := h.requestVerdict(ctx, call)
	switch {
	case err != nil:
		return true, err
	case v.Rule == nil && v.Decision != fermata.GateDeny:
		return true, nil
	case v.Decision == fermata.GateAllow && !v.Rule.IsLimited(), v.Decision == fermata.GateAsk && h.hasDialog:
		return true, h.writeReply(h.verdictReply(&h.event, v))
	default:
		// The gate must count or record this call, or ask about it.
		return false, nil
	}
}

// withdrawMirrored withdraws the question of a mirrored dialog if it blocks another call. The person at the desk has
// decided such a dialog.
func (h *gateHook) withdrawMirrored(ctx context.Context, call fermata.GateCall, v *fermata.GateReply) (*fermata.GateReply, error) {
	if v.Decision != fermata.GateDeny || v.Status != fermata.Pending {
		return v, nil
	}
	waiting, err := h.server.Question(ctx, v.QuestionID)
	if err != nil || !strings.HasPrefix(waiting.Metadata[fermata.GateCallKey], deskCallPrefix) {
		return v, err
	}
	if _, err := h.server.CancelQuestion(ctx, waiting.ID, "decided at the desk"); err != nil {
		return v, err
	}
	return h.requestVerdict(ctx, call)
}

// awaitVerdict waits for a person and returns the verdict that follows from the decision.
func (h *gateHook) awaitVerdict(ctx context.Context, call fermata.GateCall, v *fermata.GateReply) (*fermata.GateReply, error) {
	q, err := h.server.WaitQuestion(ctx, v.QuestionID, h.Wait)
	switch {
	case err != nil:
		return nil, err
	case q.Status == fermata.Pending:
		return v, nil
	case q.Resolution.IsApproved():
		return h.requestVerdict(ctx, call)
	default:
		return &fermata.GateReply{
			Decision: fermata.GateDeny, Reason: q.Refusal(), QuestionID: q.ID, Status: q.Status, DecidedBy: q.Resolution.DecidedBy,
		}, nil
	}
}

// writeReply writes a reply for the program.
func (h *gateHook) writeReply(reply any, err error) error {
	if err != nil || reply == nil {
		return err
	}
	if out, ok := reply.(output); ok && out.Specific.Decision == string(fermata.GateAllow) {
		h.passed = true
	}
	if reply, err = h.addMessages(reply); err != nil {
		return err
	}
	return h.s.WriteJSONLine(reply)
}
