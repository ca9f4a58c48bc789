package hook

import (
	"encoding/json"

	"github.com/fermata-hq/fermata"
)

// output is the reply of a hook that Claude Code and Codex read.
type output struct {
	Specific specificOutput `json:"hookSpecificOutput"`
}

type specificOutput struct {
	Event    string          `json:"hookEventName"`
	Decision string          `json:"permissionDecision,omitempty"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	// Context is text that the agent reads with the result of the call.
	Context string `json:"additionalContext,omitempty"`
	// Permission is the answer to a permission dialog.
	Permission *hookPermission `json:"decision,omitempty"`
}

type hookPermission struct {
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

func stopReply(question string) any { return hookStop{StopReason: waitReason(question)} }

// waitReason returns the reason for stopping an agent.
func waitReason(question string) string { return "waiting for a person: " + question }

// preToolUseOutput returns a verdict in the form that Claude Code and Codex read.
func preToolUseOutput(v *fermata.GateReply) output {
	return output{specificOutput{
		Event: "PreToolUse", Decision: string(v.Decision), Reason: v.Reason, Input: v.Input,
	}}
}

// permissionOutput returns the answer to the permission dialog of Claude Code
// and Codex.
func permissionOutput(v *fermata.GateReply) output {
	permission := &hookPermission{Behavior: "allow", Input: v.Input}
	if v.Decision != fermata.GateAllow {
		permission = &hookPermission{Behavior: "deny", Message: v.Reason}
	}
	return output{specificOutput{Event: "PermissionRequest", Permission: permission}}
}

// denial returns a verdict that keeps a call from running.
func denial(reason string) *fermata.GateReply {
	return &fermata.GateReply{Decision: fermata.GateDeny, Reason: reason}
}
