package codex

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata/internal/agent"
)

// flagsFile is Codex's name for the configuration of its command line, in which the trusted hooks are named.
const flagsFile = "/<session-flags>/config.toml"

// hooks returns the hooks of a run as a TOML table: the gate before every tool, and a hook that shows the runner that
// the gate is there. Codex runs only trusted hooks, and identifies each by the hash of its definition. So these
// settings make no other hook trusted.
func hooks(t *agent.Turn) string {
	line := t.HookCommand(Name, unaskedTools(t.ExtraArgs)...)
	var events, states []string
	for _, e := range []struct{ name, label string }{{"PreToolUse", "pre_tool_use"}, {"SessionStart", "session_start"}} {
		events = append(events, fmt.Sprintf("%s=[{hooks=[{type=\"command\",command=%s,timeout=%d}]}]", e.name, quoteTOML(line), agent.HookSeconds))
		states = append(states, fmt.Sprintf("%s={trusted_hash=%s}", quoteTOML(flagsFile+":"+e.label+":0:0"), quoteTOML(hookHash(e.label, line))))
	}
	return "{" + strings.Join(events, ",") + ",state={" + strings.Join(states, ",") + "}}"
}

// hookHash returns the hash by which Codex knows a hook: the hash of its JSON with sorted names.
func hookHash(event, line string) string {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	// Maps of strings, numbers and booleans can always be encoded.
	_ = enc.Encode(map[string]any{"event_name": event, "hooks": []any{
		map[string]any{"async": false, "command": line, "timeout": agent.HookSeconds, "type": "command"},
	}})
	sum := sha256.Sum256(bytes.TrimSpace(text.Bytes()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// looseningParts are parts of arguments that let commands leave the sandbox.
var looseningParts = []string{"danger", "bypass", "yolo", "profile", "permission", "writable_roots", "network_access", "add-dir", "--cd", "approve"}

// looseningFlags are short flags that do the same, alone or with a value.
var looseningFlags = []string{"-p", "-C"}

// unaskedTools returns the tools that need no question unless a rule says so. They include tools that change files, as
// long as the sandbox keeps these in the working copy and away from the network.
func unaskedTools(extra []string) []string {
	tools := []string{"update_plan", "view_image"}
	free := slices.ContainsFunc(extra, func(arg string) bool {
		return slices.ContainsFunc(looseningFlags, func(flag string) bool { return strings.HasPrefix(arg, flag) }) ||
			slices.ContainsFunc(looseningParts, func(part string) bool { return strings.Contains(arg, part) })
	})
	if !free {
		tools = append(tools, "Bash", "apply_patch")
	}
	return tools
}
