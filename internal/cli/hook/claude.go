package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

type claudeCommand struct {
	gateFlags
	Wake bool `help:"Set by fermata install: wait for what comes for the session, and wake Claude Code with it. It ends at once where nobody sits at the program, or nothing is asked."`
}

func (claudeCommand) Help() string {
	return `Reads an event on standard input. PreToolUse is gated by the rules: on any trouble it ends with 2, and the tool does not run. PermissionRequest is mirrored to the inbox, and the first answer decides. In a worker, a call that a person has to decide is put off, the agent ends, and the worker resumes it with the answer; PostToolUse ends its turn when it asked something that waits.

Examples:

    fermata install claude
    fermata hook claude --wait 5m < event.json`
}

// ClaudeToolPrefix is the beginning of the names that Claude Code gives to Fermata's own tools.
const ClaudeToolPrefix = "mcp__" + OwnServerName + "__"

// claude defines how hooks talk to Claude Code.
var claude = gateDialect{
	runner: "claude", beforeEvent: "PreToolUse", afterEvent: "PostToolUse", mcpPrefix: ClaudeToolPrefix, hasDialog: true,
	verdictReply:    func(_ *event, v *fermata.GateReply) (any, error) { return preToolUseOutput(v), nil },
	permissionReply: func(v *fermata.GateReply) (any, error) { return permissionOutput(v), nil },
	endTurn:         (*gateHook).deferCall,
	askTools: map[string]func(*gateHook, context.Context) (any, error){
		askUserQuestionTool: (*gateHook).askUserQuestion,
		"ExitPlanMode":      (*gateHook).exitPlanMode,
	},
	needsNoApproval: func(in *event) bool {
		switch {
		case slices.Contains(readTools, in.Tool):
			return true
		case !slices.Contains(editTools, in.Tool):
			return false
		case in.Mode == "plan":
			return true // Claude Code lets its agent write only the file of the plan
		default:
			return slices.Contains(editModes, in.Mode) && !in.mayWriteOutside()
		}
	},
}

// readTools only read or plan. editTools change files; in editModes, Claude Code lets its agent use them in its folder
// without asking. The gate asks people about these tools only if a rule says so.
var (
	readTools = []string{
		"Read", "Glob", "Grep", "LS", "NotebookRead", "ToolSearch", "Skill", "Task", "Agent", "TaskOutput", "TaskStop", "TaskCreate",
		"TaskUpdate", "TaskList", "TaskGet", "TodoWrite", "ListAgents", "SendMessage", "EnterPlanMode", "ReportFindings",
	}
	editTools = []string{"Edit", "MultiEdit", "Write", "NotebookEdit"}
	editModes = []string{"acceptEdits", "bypassPermissions"}
)

func (c *claudeCommand) Run(ctx context.Context, s *session.Session) error {
	if c.Wake {
		return runWake(ctx, s, c.gateFlags, claude)
	}
	return runGate(ctx, s, c.gateFlags, claude)
}

// deferCall ends the turn of the agent. The worker resumes the agent with the answer, and the agent makes the call
// again. The call may also come back because of a message. Then deferCall refuses it with the message, and the agent
// acts on the message next.
func (h *gateHook) deferCall(questionID string) (any, error) {
	if h.isDeferred() {
		return preToolUseOutput(denial(fmt.Sprintf("Not decided yet: the question %s is still open. Read what a person wrote before you go on.", questionID))), nil
	}
	claimed, err := h.claimDeferral()
	if err != nil {
		return nil, err
	}
	if !claimed {
		return preToolUseOutput(denial(oneQuestionAtATime)), nil
	}
	if err := h.writeRunFile(agent.StoppedFile, questionID); err != nil {
		return nil, err
	}
	return output{specificOutput{Event: "PreToolUse", Decision: "defer", Reason: waitReason(questionID)}}, nil
}

// isDeferred reports whether an earlier turn deferred the call. The reply to such a call also hands people's messages
// to the agent.
func (h *gateHook) isDeferred() bool {
	return h.event.CallID != "" && h.event.CallID == os.Getenv(agent.DeferredEnv)
}

// addMessages adds people's messages to the reply for a deferred call. A refusal contains them. A call that runs returns
// them as context, so that the agent reads them with the result.
func (h *gateHook) addMessages(reply any) (any, error) {
	out, ok := reply.(output)
	if !ok || h.runFolder == "" || !h.isDeferred() {
		return reply, nil
	}
	messages, err := os.ReadFile(filepath.Join(h.runFolder, agent.RefusalReasonFile))
	if errors.Is(err, fs.ErrNotExist) {
		return reply, nil
	}
	if out.Specific.Decision == string(fermata.GateAllow) {
		out.Specific.Context = string(messages)
	} else {
		out.Specific.Reason += "\n\n" + string(messages)
	}
	return out, err
}
