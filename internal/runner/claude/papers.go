package claude

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/fermata-hq/fermata/internal/agent"
)

// writePapers writes the settings with the hooks, and where the MCP server is.
func writePapers(t *agent.Turn) (settings, servers string, err error) {
	settings, servers = filepath.Join(t.Folder, "settings.json"), filepath.Join(t.Folder, "mcp.json")
	return settings, servers, errors.Join(writeJSON(settings, hooks(t)), writeJSON(servers, mcpServers(t)))
}

// object is a JSON object that is written out.
type object = map[string]any

// hooks switches the hooks on. One that does not end in time lets the tool pass,
// so `fermata hook` gives itself less time than it has here.
func hooks(t *agent.Turn) object {
	hook := func(matcher string) []any {
		return []any{object{"matcher": matcher, "hooks": []any{object{
			"type": "command", "command": t.Hook("claude"), "timeout": agent.HookSeconds,
		}}}}
	}
	// Settings of the project must not switch the hooks off.
	return object{"disableAllHooks": false, "hooks": object{
		"PreToolUse":  hook("*"),
		"PostToolUse": hook("mcp__fermata__(ask_user|request_approval)"),
	}}
}

// mcpServers names Fermata's MCP server, whose tools are always on offer. Its
// permission prompt does not hold the program up until a person has decided.
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
