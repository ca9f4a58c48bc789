package cli

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
)

type hookClaudeCommand struct {
	gateFlags
	Wake bool `help:"Set by fermata install: wait for what comes for the session, and wake Claude Code with it. It ends at once where nobody sits at the program, or nothing is asked."`
}

func (hookClaudeCommand) Help() string {
	return `Reads an event on standard input. PreToolUse is gated by the rules: on any trouble it ends with 2, and the tool does not run. PermissionRequest is mirrored to the inbox, and whoever answers first decides. In a worker, a call that a person has to decide is put off, the agent ends, and the worker resumes it with the answer; PostToolUse ends its turn when it asked something that waits.

Examples:

    fermata install claude
    fermata hook claude --wait 5m < event.json`
}

// claude defines how hooks talk to Claude Code.
var claude = gateDialect{
	runner: "claude", before: "PreToolUse", after: "PostToolUse", mcpPrefix: "mcp__" + ownServer + "__", asks: true,
	decide: func(_ *hookEvent, v *fermata.GateVerdict) (any, error) { return preToolUse(v), nil },
	permit: func(v *fermata.GateVerdict) (any, error) { return permissionRequest(v), nil },
	pause:  (*gateHook).deferCall,
	asking: map[string]func(*gateHook, context.Context) (any, error){
		userQuestions:  (*gateHook).askUserQuestion,
		"ExitPlanMode": (*gateHook).exitPlanMode,
	},
	harmless: func(in *hookEvent) bool {
		switch {
		case slices.Contains(reading, in.Tool):
			return true
		case !slices.Contains(editing, in.Tool):
			return false
		case in.Mode == "plan":
			return true // Claude Code lets its agent write only the file of the plan
		default:
			return slices.Contains(editingModes, in.Mode) && !in.writesOutside()
		}
	},
}

// reading are the tools that only read or plan. editing are the tools that change files; in editingModes, Claude Code
// lets its agent use them in its folder without asking. The gate asks people about these tools only if a rule says so.
var (
	reading = []string{
		"Read", "Glob", "Grep", "LS", "NotebookRead", "ToolSearch", "Skill", "Task", "Agent", "TaskOutput", "TaskStop", "TaskCreate",
		"TaskUpdate", "TaskList", "TaskGet", "TodoWrite", "ListAgents", "SendMessage", "EnterPlanMode", "ReportFindings",
	}
	editing      = []string{"Edit", "MultiEdit", "Write", "NotebookEdit"}
	editingModes = []string{"acceptEdits", "bypassPermissions"}
)

func (c *hookClaudeCommand) Run(ctx context.Context, s *session) error {
	if c.Wake {
		return s.wakeHook(ctx, c.gateFlags, claude)
	}
	return s.gateHook(ctx, c.gateFlags, claude)
}

// deferCall ends the turn of the agent. The worker resumes the agent with the answer, and the agent makes the call
// again. The call may also come back because of a message. Then deferCall refuses it with the message, and the agent
// acts on the message next.
func (h *gateHook) deferCall(questionID string) (any, error) {
	if h.isDeferred() {
		return preToolUse(refuse(fmt.Sprintf("Not decided yet: the question %s is still open. Read what a person wrote before you go on.", questionID))), nil
	}
	may, err := h.mayDefer()
	if err != nil {
		return nil, err
	}
	if !may {
		return preToolUse(refuse(oneAtATime)), nil
	}
	if err := h.leave(agent.StoppedFile, questionID); err != nil {
		return nil, err
	}
	return hookOutput{hookSpecific{Event: "PreToolUse", Decision: "defer", Reason: waitingFor(questionID)}}, nil
}

// isDeferred reports whether an earlier turn deferred the call. This turn then gives the agent people's messages with
// it.
func (h *gateHook) isDeferred() bool {
	return h.in.CallID != "" && h.in.CallID == os.Getenv(agent.DeferredEnv)
}

// withWords adds people's messages to the reply for a deferred call. A refusal contains them. A call that runs returns
// them as context, so that the agent reads them with the result.
func (h *gateHook) withWords(reply any) (any, error) {
	out, ok := reply.(hookOutput)
	if !ok || h.folder == "" || !h.isDeferred() {
		return reply, nil
	}
	words, err := os.ReadFile(filepath.Join(h.folder, agent.WordsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return reply, nil
	}
	if out.Specific.Decision == string(fermata.GateAllow) {
		out.Specific.Context = string(words)
	} else {
		out.Specific.Reason += "\n\n" + string(words)
	}
	return out, err
}
