package cli

import (
	"encoding/json"

	"github.com/fermata-hq/fermata"
)

// hookOutput is the reply of a hook that Claude Code and Codex read.
type hookOutput struct {
	Specific hookSpecific `json:"hookSpecificOutput"`
}

type hookSpecific struct {
	Event    string          `json:"hookEventName"`
	Decision string          `json:"permissionDecision,omitempty"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	// Context is text that the agent reads with the result of the call.
	Context string `json:"additionalContext,omitempty"`
	// Permit is the answer to a permission dialog.
	Permit *hookPermit `json:"decision,omitempty"`
}

type hookPermit struct {
	Behavior string          `json:"behavior"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	Message  string          `json:"message,omitempty"`
}

// hookStop is a reply that ends the agent's turn in Claude Code and in Gemini
// CLI.
type hookStop struct {
	Continue   bool   `json:"continue"`
	StopReason string `json:"stopReason"`
}

func stopFor(question string) any { return hookStop{StopReason: waitingFor(question)} }

// waitingFor returns the reason for stopping an agent.
func waitingFor(question string) string { return "waiting for a person: " + question }

// preToolUse returns a verdict in the form that Claude Code and Codex read.
func preToolUse(v *fermata.GateVerdict) hookOutput {
	return hookOutput{hookSpecific{
		Event: "PreToolUse", Decision: string(v.Decision), Reason: v.Reason, Input: v.Input,
	}}
}

// permissionRequest returns the answer to the permission dialog of Claude Code
// and Codex.
func permissionRequest(v *fermata.GateVerdict) hookOutput {
	permit := &hookPermit{Behavior: "allow", Input: v.Input}
	if v.Decision != fermata.GateAllow {
		permit = &hookPermit{Behavior: "deny", Message: v.Reason}
	}
	return hookOutput{hookSpecific{Event: "PermissionRequest", Permit: permit}}
}

// refuse returns a verdict that keeps a call from running.
func refuse(reason string) *fermata.GateVerdict {
	return &fermata.GateVerdict{Decision: fermata.GateDeny, Reason: reason}
}
