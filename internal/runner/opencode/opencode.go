// Package opencode runs opencode as an agent. The user's own configuration stays in force, with its logins. Fermata's
// settings are passed as an additional configuration. The runner stops the program when a question is asked.
package opencode

import (
	"encoding/json"
	"fmt"

	"github.com/fermata-hq/fermata/internal/agent"
)

// Name is this runner's name in tasks.
const Name = "opencode"

// toolTimeout is how long a call of Fermata's tools may take, in milliseconds. It is longer than any wait that an agent
// can ask for.
const toolTimeout = 24 * 60 * 60 * 1000

// configEnv is the variable that holds a configuration of opencode.
const configEnv = "OPENCODE_CONFIG_CONTENT"

// New returns a runner.
func New(o agent.Options) *agent.Runner {
	return agent.New(agent.Kind{
		Name: Name, Program: "opencode", Resume: []string{"--session"}, SessionEnv: []string{"XDG_DATA_HOME"},
		PassEnv: []string{
			"OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", configEnv, "OPENCODE_PERMISSION", "OPENCODE_DISABLE_AUTOUPDATE",
			"XDG_STATE_HOME", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY",
		},
		Command: command,
		Reader:  func() func([]byte) []agent.Event { return read },
	}, o)
}

func command(t *agent.Turn) (args, env []string, err error) {
	args = append([]string{"run", "--format", "json"}, t.ExtraArgs...)
	if t.Session != "" {
		args = append(args, "--session", t.Session)
	}
	if t.Fermata == "" {
		return args, nil, nil
	}
	plugin, err := writePlugin(t)
	if err != nil {
		return nil, nil, err
	}
	config, err := configuration(t.Getenv(configEnv), t.Fermata, plugin)
	if err != nil {
		return nil, nil, err
	}
	return args, []string{configEnv + "=" + config}, nil
}

// configuration returns the given configuration, which may be empty, with Fermata's server and the plugin with the gate
// added. The server gets its variables from opencode's own environment.
func configuration(given, program, plugin string) (string, error) {
	config := map[string]any{}
	if given != "" {
		if err := json.Unmarshal([]byte(given), &config); err != nil {
			return "", fmt.Errorf("%s is no JSON object: %w", configEnv, err)
		}
	}
	servers, ok := config["mcp"].(map[string]any)
	if !ok {
		servers = map[string]any{}
	}
	servers["fermata"] = map[string]any{
		"type": "local", "command": []string{program, "mcp"}, "enabled": true, "timeout": toolTimeout,
	}
	config["mcp"] = servers
	// If opencode's own permissions would ask a person, opencode refuses by itself here. The agent is told so and goes
	// on. Otherwise the turn would end as if all were done.
	experimental, ok := config["experimental"].(map[string]any)
	if !ok {
		experimental = map[string]any{}
	}
	experimental["continue_loop_on_deny"] = true
	config["experimental"] = experimental
	plugins, _ := config["plugin"].([]any)
	config["plugin"] = append(plugins, plugin)
	data, err := json.Marshal(config)
	return string(data), err
}
