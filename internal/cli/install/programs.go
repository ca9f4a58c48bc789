package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/cli/hook"
)

// deskWait is how long hooks wait for a person. hookSeconds is the timeout that the programs get for these hooks. Some
// programs run the tool after the timeout, so hookSeconds is longer than deskWait.
const (
	deskWait    = "5m"
	hookSeconds = 420
	gateSeconds = 60
)

// gateHookLine returns the command line of a gate. If the hook fails in any way, even because fermata is missing, the
// line ends with 2: only 0 lets the tool run.
func (p target) gateHookLine(program, flags string) string {
	return p.mirrorHookLine(program, flags) + " || { echo 'fermata: the gate failed, so this call may not run' >&2; exit 2; }"
}

// mirrorHookLine returns the command line of a hook that only mirrors.
func (p target) mirrorHookLine(program, flags string) string {
	line := quoteShellWord(p.program) + " hook " + program
	for _, word := range p.server {
		line += " " + quoteShellWord(word)
	}
	if flags != "" {
		line += " " + flags
	}
	return line
}

func quoteShellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// hookHandler is one hook of Claude Code, Codex or Gemini CLI.
type hookHandler struct {
	Name    string `json:"name,omitempty"`
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
	// Wakes makes Claude Code run the hook in the background. If the hook ends with hook.exitBlocked, Claude Code wakes an
	// idle session.
	Wakes bool `json:"asyncRewake,omitempty"`
}

// hookGroup is a group of hooks for some tools.
type hookGroup struct {
	Matcher string        `json:"matcher,omitempty"`
	Hooks   []hookHandler `json:"hooks"`
}

// hasWakingHook reports whether the group wakes an idle session.
func (m hookGroup) hasWakingHook() bool {
	return slices.ContainsFunc(m.Hooks, func(h hookHandler) bool { return h.Wakes })
}

func commandHook(line string, timeout int) hookGroup {
	return hookGroup{Hooks: []hookHandler{{Type: "command", Command: line, Timeout: timeout}}}
}

// wakingHook returns a hook that waits in the background until it wakes the session.
func wakingHook(line string) hookGroup {
	return hookGroup{Hooks: []hookHandler{{Type: "command", Command: line, Timeout: int(hook.MaxWakeWait.Seconds()), Wakes: true}}}
}

// stdioServer is an MCP server that the program starts.
type stdioServer struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	// AlwaysLoad makes Claude Code show the tools to its model without a search.
	AlwaysLoad bool `json:"alwaysLoad,omitempty"`
	Timeout    int  `json:"timeout,omitempty"`
	// Tools are the only tools that Gemini CLI offers. Trust makes it run them without a dialog.
	Tools []string `json:"includeTools,omitempty"`
	Trust bool     `json:"trust,omitempty"`
}

// claudeTools returns the names of Fermata's tools in Claude Code.
func claudeTools() []string {
	tools := agent.ToolNames(agent.AskUser)
	for i, tool := range tools {
		tools[i] = hook.ClaudeToolPrefix + tool
	}
	return tools
}

// allowParts let Claude Code run Fermata's tools, by their exact names, without a dialog. Otherwise each question
// would first wait for a person at the desk before anyone else is asked.
func allowParts() []jsonPart {
	var parts []jsonPart
	for _, tool := range claudeTools() {
		parts = append(parts, jsonPart{path: []string{"permissions", "allow"}, value: tool, inList: true, isOwn: func(value []byte) bool {
			var name string
			return json.Unmarshal(value, &name) == nil && name == tool
		}})
	}
	return parts
}

// allowedNote returns a note for the person: the tools that the program runs without a dialog.
func allowedNote(tools []string) string {
	return "allowed without a dialog, and nothing else: " + strings.Join(tools, ", ")
}

// mcpArgs returns the arguments with which an agent program starts the MCP server.
func (p target) mcpArgs(flags ...string) []string {
	args := append([]string{"mcp"}, flags...)
	if p.url != "" {
		args = append(args, "--url", p.url)
	}
	return args
}

func (p target) claude() *installation {
	dir := envOr("CLAUDE_CONFIG_DIR", filepath.Join(p.home, ".claude"))
	settings, servers := filepath.Join(dir, "settings.json"), filepath.Join(p.home, ".claude.json")
	if os.Getenv("CLAUDE_CONFIG_DIR") != "" {
		servers = filepath.Join(dir, ".claude.json")
	}
	if p.project {
		settings, servers = filepath.Join(p.dir, ".claude", "settings.json"), filepath.Join(p.dir, ".mcp.json")
	}
	return &installation{
		files: []configFile{
			jsonFile(servers, jsonPart{path: []string{"mcpServers", hook.OwnServerName}, isOwn: isOwnServer,
				value: stdioServer{Type: "stdio", Command: p.program, Args: p.mcpArgs(), AlwaysLoad: true}}),
			jsonFile(settings, slices.Concat(allowParts(), []jsonPart{
				hookPart("PreToolUse", commandHook(p.gateHookLine("claude", ""), gateSeconds)),
				hookPart("PermissionRequest", commandHook(p.mirrorHookLine("claude", "--wait "+deskWait), hookSeconds)),
				hookPart("UserPromptSubmit", commandHook(p.mirrorHookLine("claude", ""), gateSeconds)),
				hookPart("SessionStart", commandHook(p.mirrorHookLine("claude", ""), gateSeconds)),
				hookPart("Stop", commandHook(p.mirrorHookLine("claude", ""), gateSeconds)),
				hookPart("Stop", wakingHook(p.mirrorHookLine("claude", "--wake"))),
			})...),
		},
		notes: []string{allowedNote(claudeTools()), "sessions that run already have to be started again"},
	}
}

func (p target) codex() (*installation, error) {
	if p.project {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "Codex keeps its MCP servers and hooks per user").
			WithHint("fermata install codex")
	}
	dir := envOr("CODEX_HOME", filepath.Join(p.home, ".codex"))
	return &installation{
		files: []configFile{
			tomlFile(filepath.Join(dir, "config.toml"), p.program, p.mcpArgs()),
			jsonFile(filepath.Join(dir, "hooks.json"),
				hookPart("PreToolUse", commandHook(p.gateHookLine("codex", "--wait "+deskWait), hookSeconds)),
				hookPart("PermissionRequest", commandHook(p.mirrorHookLine("codex", "--wait "+deskWait), hookSeconds)),
				hookPart("UserPromptSubmit", commandHook(p.mirrorHookLine("codex", ""), gateSeconds)),
				hookPart("SessionStart", commandHook(p.mirrorHookLine("codex", ""), gateSeconds)),
				hookPart("Stop", commandHook(p.mirrorHookLine("codex", ""), gateSeconds))),
		},
		notes: []string{"Codex runs hooks only after you trusted them: start codex and enter /hooks. Until then nothing is gated, and Codex does not say so."},
	}, nil
}

func (p target) opencode() (*installation, error) {
	dir := filepath.Join(envOr("XDG_CONFIG_HOME", filepath.Join(p.home, ".config")), "opencode")
	plugins := filepath.Join(dir, "plugins")
	if p.project {
		dir, plugins = p.dir, filepath.Join(p.dir, ".opencode", "plugins")
	}
	path := filepath.Join(dir, "opencode.json")
	if _, err := os.Stat(filepath.Join(dir, "opencode.jsonc")); err == nil {
		path = filepath.Join(dir, "opencode.jsonc")
	}
	server := struct {
		Type    string   `json:"type"`
		Command []string `json:"command"`
		Enabled bool     `json:"enabled"`
		Timeout int      `json:"timeout"`
	}{"local", append([]string{p.program}, p.mcpArgs()...), true, 600_000}
	gate, err := agent.OpenCodePlugin(p.gateHookLine("opencode", "--wait "+deskWait), false)
	if err != nil {
		return nil, err
	}
	return &installation{
		files: []configFile{
			jsonFile(path, jsonPart{path: []string{"mcp", hook.OwnServerName}, isOwn: isOwnServer, value: server}),
			wholeFile(filepath.Join(plugins, "fermata.js"), gate),
		},
		notes: []string{"sessions that run already have to be started again"},
	}, nil
}

// wholeFile returns the configFile of a file that belongs to Fermata alone. Its first line identifies it.
func wholeFile(path string, content []byte) configFile {
	first, _, _ := bytes.Cut(content, []byte("\n"))
	return configFile{path: path, edit: func(have []byte, remove bool) ([]byte, error) {
		switch {
		case len(have) > 0 && !bytes.HasPrefix(have, first):
			if remove {
				return have, nil
			}
			return nil, errors.New("is there already, and was not written by fermata install; rename or remove it first")
		case remove:
			return nil, nil
		default:
			return content, nil
		}
	}}
}

func (p target) gemini() *installation {
	dir := p.home
	if p.project {
		dir = p.dir
	}
	gate := commandHook(p.gateHookLine("gemini", "--wait "+deskWait), hookSeconds*1000)
	gate.Matcher, gate.Hooks[0].Name = ".*", "fermata"
	return &installation{
		files: []configFile{jsonFile(filepath.Join(dir, ".gemini", "settings.json"),
			jsonPart{path: []string{"mcpServers", hook.OwnServerName}, isOwn: isOwnServer,
				value: stdioServer{Command: p.program, Args: p.mcpArgs("--ask-tool", agent.AskPerson), Timeout: 600_000, Tools: agent.ToolNames(agent.AskPerson), Trust: true}},
			hookPart("BeforeTool", gate))},
		notes: []string{allowedNote(agent.ToolNames(agent.AskPerson)), "sessions that run already have to be started again"},
	}
}
