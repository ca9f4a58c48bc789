package acp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// Variables from which opencode reads configuration.
const (
	contentEnv    = "OPENCODE_CONFIG_CONTENT"
	permissionEnv = "OPENCODE_PERMISSION"
)

// openCodePermission makes opencode ask about every tool that acts. The names of MCP tools have an underscore.
// Fermata's own tools need no permission, nor do tools that look or plan. Subagents are off, because opencode passes on
// neither their calls nor their questions.
var openCodePermission = []openCodeRule{
	{"*_*", "ask"}, {serverName + "_*", "allow"}, {"bash", "ask"}, {"edit", "ask"}, {"webfetch", "ask"}, {"websearch", "ask"}, {"codesearch", "ask"},
	{"external_directory", "ask"}, {"doom_loop", "ask"}, {"task", "deny"},
}

// openCodeRule is one entry of a permission. The order counts: of two entries that match, the last one wins.
type openCodeRule struct{ name, action string }

// environ returns the environment of the agent. It contains the settings that make known programs ask, for every
// program: the command does not show which program it is.
func environ(o agent.Options, claim *fermata.Claim) ([]string, error) {
	env := agent.Environ(o, claim)
	config, err := openCodeConfig(lookUpEnv(env, contentEnv))
	if err != nil {
		return nil, err
	}
	env = append(env, contentEnv+"="+config)
	if given := lookUpEnv(env, permissionEnv); given != "" {
		permission, err := withAskRules(json.RawMessage(given))
		if err != nil {
			return nil, fmt.Errorf("%s is no JSON object: %w", permissionEnv, err)
		}
		env = append(env, permissionEnv+"="+string(permission))
	}
	return env, nil
}

// lookUpEnv returns the last value of a variable, or "" if it is not set.
func lookUpEnv(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// openCodeAgents are the agents of opencode with which a session may begin. A project's settings could let each of them
// act without asking.
var openCodeAgents = []string{"build", "plan"}

// openCodeConfig returns the given configuration, which may be empty, with the settings that make opencode ask.
func openCodeConfig(given string) (string, error) {
	config := map[string]json.RawMessage{}
	if given != "" {
		if err := json.Unmarshal([]byte(given), &config); err != nil {
			return "", fmt.Errorf("%s is no JSON object: %w", contentEnv, err)
		}
	}
	var err error
	if config["permission"], err = withAskRules(config["permission"]); err != nil {
		return "", fmt.Errorf("permission in %s: %w", contentEnv, err)
	}
	if len(config["default_agent"]) == 0 {
		config["default_agent"] = json.RawMessage(`"build"`)
	}
	// A project may define its agents under either name, and "mode" wins.
	for _, key := range []string{"agent", "mode"} {
		if config[key], err = withAgentAskRules(config[key]); err != nil {
			return "", fmt.Errorf("%s in %s: %w", key, contentEnv, err)
		}
	}
	// An agent that was refused is told so and goes on. Otherwise its turn would end as if all were done.
	experimental := map[string]json.RawMessage{}
	if len(config["experimental"]) > 0 {
		if err := json.Unmarshal(config["experimental"], &experimental); err != nil {
			return "", fmt.Errorf("experimental in %s: %w", contentEnv, err)
		}
	}
	experimental["continue_loop_on_deny"] = json.RawMessage("true")
	if config["experimental"], err = json.Marshal(experimental); err != nil {
		return "", err
	}
	data, err := json.Marshal(config)
	return string(data), err
}

// withAgentAskRules returns the agents of an opencode configuration with the entries that make opencode ask added to
// each.
func withAgentAskRules(given json.RawMessage) (json.RawMessage, error) {
	agents := map[string]map[string]json.RawMessage{}
	if len(given) > 0 {
		if err := json.Unmarshal(given, &agents); err != nil {
			return nil, err
		}
	}
	for _, name := range openCodeAgents {
		if agents[name] == nil {
			agents[name] = map[string]json.RawMessage{}
		}
	}
	for name, a := range agents {
		var err error
		if a["permission"], err = withAskRules(a["permission"]); err != nil {
			return nil, fmt.Errorf("permission of %s: %w", name, err)
		}
	}
	return json.Marshal(agents)
}

// withAskRules returns the permission of opencode with the entries that make it ask. They come last, where they win.
func withAskRules(given json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if len(given) > 0 && json.Unmarshal(given, &fields) != nil {
		var all string
		if err := json.Unmarshal(given, &all); err != nil {
			return nil, err
		}
		fields = map[string]json.RawMessage{"*": given}
	}
	var out strings.Builder
	out.WriteByte('{')
	// The given entries come first, and of these the widest patterns.
	for _, name := range sortNamesByWidth(fields) {
		if !slices.ContainsFunc(openCodePermission, func(r openCodeRule) bool { return r.name == name }) {
			fmt.Fprintf(&out, "%s:%s,", quoteJSON(name), fields[name])
		}
	}
	for i, r := range openCodePermission {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, "%s:%s", quoteJSON(r.name), quoteJSON(r.action))
	}
	out.WriteByte('}')
	return json.RawMessage(out.String()), nil
}

// sortNamesByWidth returns the names of patterns, those with a star first.
func sortNamesByWidth(fields map[string]json.RawMessage) []string {
	var wide, narrow []string
	for name := range fields {
		if strings.Contains(name, "*") {
			wide = append(wide, name)
		} else {
			narrow = append(narrow, name)
		}
	}
	slices.Sort(wide)
	slices.Sort(narrow)
	return append(wide, narrow...)
}

// quoteJSON returns a text as JSON.
func quoteJSON(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		return `""` // a string always has a JSON form
	}
	return string(data)
}
