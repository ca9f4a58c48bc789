package cli

import (
	"encoding/json"

	"github.com/fermata-hq/fermata"
)

// hookOutput is what Claude Code and Codex read.
type hookOutput struct {
	Specific hookSpecific `json:"hookSpecificOutput"`
}

type hookSpecific struct {
	Event    string          `json:"hookEventName"`
	Decision string          `json:"permissionDecision,omitempty"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	// Context is what the agent reads with the result of the call.
	Context string `json:"additionalContext,omitempty"`
	// Permit answers a permission dialog.
	Permit *hookPermit `json:"decision,omitempty"`
}

type hookPermit struct {
	Behavior string          `json:"behavior"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	Message  string          `json:"message,omitempty"`
}

// hookStop ends the turn of the agent, in Claude Code and in Gemini CLI.
type hookStop struct {
	Continue   bool   `json:"continue"`
	StopReason string `json:"stopReason"`
}

func stopFor(question string) any { return hookStop{StopReason: waitingFor(question)} }

// waitingFor is why an agent is stopped.
func waitingFor(question string) string { return "waiting for a person: " + question }

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

// refuse is a verdict that keeps a call from running.
func refuse(reason string) *fermata.GateVerdict {
	return &fermata.GateVerdict{Decision: fermata.GateDeny, Reason: reason}
}
