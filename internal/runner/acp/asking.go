package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/coder/acp-go-sdk"

	"github.com/fermata-hq/fermata/internal/agent"
)

// Names of known programs whose settings and tools need special treatment.
const (
	openCodeName = "opencode"
	claudeName   = "claude"
)

// agentInfo is how a program introduces itself.
type agentInfo struct {
	Name string `json:"name"`
}

// knownProgram returns the name of a program whose tools are known, or "".
func (a agentInfo) knownProgram() string {
	name := strings.ToLower(a.Name)
	switch {
	case name == geminiName:
		return geminiName
	case strings.Contains(name, "opencode"):
		return openCodeName
	case strings.Contains(name, "claude"):
		return claudeName
	default:
		return ""
	}
}

// modes are the session's modes of the program: each says what the session may do without asking.
type modes struct {
	Modes *struct {
		Current   string `json:"currentModeId"`
		Available []struct {
			ID string `json:"id"`
		} `json:"availableModes"`
	} `json:"modes"`
}

// askingMode is the mode in which Claude Code and Gemini CLI ask about every call that acts.
const askingMode = "default"

// setAskingMode switches the session to the mode in which it asks, even if the user's own settings begin it in another
// mode. A program without such a mode stays as it is: its calls are watched in any case.
func (c *conversation) setAskingMode(ctx context.Context, m modes) error {
	if m.Modes == nil || m.Modes.Current == askingMode {
		return nil
	}
	for _, mode := range m.Modes.Available {
		if mode.ID != askingMode {
			continue
		}
		_, err := acp.SendRequest[json.RawMessage](c.conn, ctx, acp.AgentMethodSessionSetMode, acp.SetSessionModeRequest{
			SessionId: c.session.id(), ModeId: askingMode,
		})
		if err != nil {
			return fmt.Errorf("it does not take the mode %q, in which it asks before it acts: %w", askingMode, err)
		}
		c.logf("the session's mode was %s; it goes on as %s, in which the agent asks before it acts.", m.Modes.Current, askingMode)
	}
	return nil
}

// claudeAskTools are the tools about which Claude Code has to ask. A rule that asks overrides any rule that allows.
var claudeAskTools = []string{"Bash", "PowerShell", "Edit", "MultiEdit", "Write", "NotebookEdit", "WebFetch", "WebSearch", "KillShell", "Monitor"}

// claudeHook is a hook of Claude Code for all other tools that may act, including those of MCP servers. It sends each
// call to the permission dialog, which is the gate.
const claudeHook = `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}'`

// sessionMeta returns the settings that claude-agent-acp accepts from its client for Claude Code. Other programs ignore
// them.
func sessionMeta() map[string]any {
	type object = map[string]any
	return object{"claudeCode": object{"options": object{
		"allowDangerouslySkipPermissions": false,
		"settings": object{
			"disableAllHooks": false,
			"permissions":     object{"ask": claudeAskTools, "defaultMode": askingMode, "disableBypassPermissionsMode": "disable"},
			"hooks": object{"PreToolUse": []object{{
				"matcher": "mcp__(?!" + serverName + "__).*", "hooks": []object{{"type": "command", "command": claudeHook, "timeout": agent.HookSeconds}},
			}}},
		},
	}}}
}
