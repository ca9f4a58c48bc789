package cli

import (
	"context"
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
	editingModes = []string{"acceptEdits", "bypassPermissions"}
)

// harmless reports whether people need not be asked unless a rule says so.
func (h *hookRun) harmless() bool {
	return slices.Contains(reading, h.Tool) || slices.Contains(editing, h.Tool) && slices.Contains(editingModes, h.Mode)
}

// gate decides about any tool that is not Fermata's own: by the rules of the
// workspace, and where these say so by a person. Where there is no rule, a
// harmless call is left to Claude Code's own permissions, and so is any call of
// an agent that a person runs: that person is asked at the terminal.
func (h *hookRun) gate(ctx context.Context) (*hookReply, error) {
	call := fermata.GateCall{TaskID: h.task, CallID: h.CallID, Runner: "claude", Tool: h.Tool, Input: h.Input, Dir: h.Dir}
	if h.run == "" || h.harmless() {
		call.DryRun = true
		v, err := h.judge(ctx, call)
		switch {
		case err != nil:
			return nil, err
		case v.Rule == nil:
			return nil, nil //nolint:nilnil // no opinion is an answer
		case h.run == "" && v.Decision == fermata.GateAsk:
			return h.decide("ask", v.Reason), nil
		}
	}
	if call.DryRun = false; call.TaskID == "" {
		call.SessionKey = "claude:" + h.SessionID
	}
	v, err := h.judge(ctx, call)
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
	default:
		return h.decide(hookDeny, v.Reason), nil
	}
}

func (h *hookRun) judge(ctx context.Context, call fermata.GateCall) (*fermata.GateVerdict, error) {
	server, err := h.s.server()
	if err != nil {
		return nil, err
	}
	return server.Gate(ctx, call)
}
