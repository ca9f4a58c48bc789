package claude

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/fermata-hq/fermata/internal/agent"
)

// writeConfigFiles writes two files: the settings with the hooks, and the configuration of the MCP server.
func writeConfigFiles(t *agent.Turn) (settings, servers string, err error) {
	settings, servers = filepath.Join(t.Folder, "settings.json"), filepath.Join(t.Folder, "mcp.json")
	return settings, servers, errors.Join(writeJSON(settings, hooks(t)), writeJSON(servers, mcpServers(t)))
}

// object is a JSON object to write.
type object = map[string]any

// hooks returns settings that enable the hooks. A hook that exceeds its timeout lets the tool pass, so `fermata hook`
// gives itself less time than the timeout here.
func hooks(t *agent.Turn) object {
	hook := func(matcher string) []any {
		return []any{object{"matcher": matcher, "hooks": []any{object{
			"type": "command", "command": t.HookCommand("claude"), "timeout": agent.HookSeconds,
		}}}}
	}
	// The settings of a project must not disable the hooks.
	return object{"disableAllHooks": false, "hooks": object{
		"PreToolUse":  hook("*"),
		"PostToolUse": hook("mcp__fermata__(ask_user|request_approval)"),
	}}
}

// mcpServers returns the configuration of Fermata's MCP server, whose tools are always on offer. Its permission prompt
// does not make the program wait until a person has decided.
func mcpServers(t *agent.Turn) object {
	env := object{}
	for _, name := range agent.ServerEnv {
		if value := t.Getenv(name); value != "" {
			env[name] = value
		}
	}
	return object{"mcpServers": object{"fermata": object{
		"type": "stdio", "command": t.Fermata, "args": []string{"mcp", "--approve-wait", "0s"}, "env": env, "alwaysLoad": true,
	}}}
}

func writeJSON(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o600)
}
