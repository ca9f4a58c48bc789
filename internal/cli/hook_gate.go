package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/fermata-hq/fermata"
)

// reading are the tools that only look, or plan; editing those that Claude Code
// lets change the files of its folder in the modes that say so. People are
// asked about them only where a rule wants it.
var (
	reading = []string{
		"Read", "Glob", "Grep", "LS", "NotebookRead", "ToolSearch", "Skill", "Task", "Agent", "TaskOutput", "TaskStop", "TaskCreate",
		"TaskUpdate", "TaskList", "TaskGet", "TodoWrite", "ListAgents", "SendMessage", "EnterPlanMode", "ReportFindings",
	}
	editing      = []string{"Edit", "MultiEdit", "Write", "NotebookEdit"}
	editingModes = []string{"acceptEdits", "bypassPermissions", "plan"} // in plan only the plan's own file
)

// harmless reports whether people need not be asked unless a rule says so.
func (h *hookRun) harmless() bool {
	return slices.Contains(reading, h.Tool) || slices.Contains(editing, h.Tool) && slices.Contains(editingModes, h.Mode)
}

// gate decides about any tool that is not Fermata's own: by the rules of the
// workspace, and where these say so by a person. A harmless call that no rule
// names is left to Claude Code's own permissions.
func (h *hookRun) gate(ctx context.Context) (*hookReply, error) {
	server, err := h.s.server()
	if err != nil {
		return nil, err
	}
	call := fermata.GateCall{TaskID: h.task, CallID: h.CallID, Runner: "claude", Tool: h.Tool, Input: h.Input, Dir: h.Dir}
	if call.DryRun = h.harmless(); call.DryRun {
		if v, err := server.Gate(ctx, call); err != nil || v.Rule == nil {
			return nil, err
		}
		call.DryRun = false
	}
	v, err := server.Gate(ctx, call)
	if err != nil {
		return nil, err
	}
	switch v.Decision {
	case fermata.GateAllow:
		reply := h.decide(hookAllow, v.Reason)
		reply.Specific.Input = v.Input
		return reply, nil
	case fermata.GateAsk:
		return h.putOff(v.QuestionID)
	case fermata.GateDeny:
		return h.decide(hookDeny, v.Reason), nil
	default:
		return nil, fmt.Errorf("the server decided %q, which this version does not know", v.Decision)
	}
}
