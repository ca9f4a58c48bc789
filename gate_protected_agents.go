package fermata

import (
	"path"
	"slices"
	"strings"
)

// agentSettingWords are the commands and options by which an allow rule permits changes to the settings of agent programs.
var agentSettingWords = []string{
	"mcp add", "mcp remove", "claude mcp", "claude plugin", "claude config", "codex mcp", "codex features", "gemini mcp", "gemini extensions", "opencode mcp", "opencode plugin",
	"fermata install", "fermata gate", "--settings", "--mcp-config", "--setting-sources",
}

// agentPrograms maps the command and package names of agent programs to the options that start them with other settings.
var agentPrograms = map[string][]string{
	"claude":      {"--settings", "--setting-sources", "--mcp-config", "--plugin-dir", "--bare"},
	"claude-code": {"--settings", "--setting-sources", "--mcp-config", "--plugin-dir", "--bare"},
	"codex":       {"--enable", "--disable", "--dangerously-bypass-hook-trust"},
	"gemini":      nil,
	"gemini-cli":  nil,
	"opencode":    {"--pure"},
	"opencode-ai": {"--pure"},
}

// Words that agent programs use to change their settings: the thing that is changed, and the verb.
var (
	agentSettings = []string{"mcp", "plugin", "plugins", "plug", "extension", "extensions", "config", "features", "skill", "skills", "hooks", "agent"}
	agentChanges  = []string{
		"add", "add-json", "add-from-claude-desktop", "remove", "rm", "delete", "install", "uninstall", "link", "enable", "disable", "set", "update", "upgrade", "new", "migrate",
		"import", "marketplace", "reset-project-choices", "create", "edit", "config",
	}
)

// reconfiguresAgentOrGate reports whether a command changes the settings of an agent program, starts one with other
// settings, or removes the gate.
func reconfiguresAgentOrGate(words []string) bool {
	name := path.Base(words[0])
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name = name[:at] // the version of a package
	}
	arguments := slices.DeleteFunc(slices.Clone(words[1:]), func(word string) bool { return strings.HasPrefix(word, "-") })
	isChange := func(i int) bool {
		return i+1 < len(arguments) && slices.Contains(agentSettings, arguments[i]) && slices.Contains(agentChanges, arguments[i+1])
	}
	if name == "fermata" {
		return changesGate(words[1:], arguments)
	}
	options, isAgent := agentPrograms[name]
	if !isAgent {
		return len(words) > 2 && words[1] == "mcp" && isChange(0)
	}
	for i, word := range arguments {
		if isChange(i) || i == 0 && len(arguments) > 1 && name != "claude" && strings.HasPrefix(word, "plug") && arguments[1] != "list" {
			return true
		}
	}
	return slices.ContainsFunc(words[1:], func(word string) bool {
		option, _, _ := strings.Cut(word, "=")
		return slices.Contains(options, option)
	}) || name == "codex" && givesCodexSetting(words[1:])
}

// givesCodexSetting reports whether the words give Codex a setting other than its model.
func givesCodexSetting(words []string) bool {
	for i, word := range words {
		value, isSetting := strings.CutPrefix(word, "--config")
		if !isSetting {
			value, isSetting = strings.CutPrefix(word, "-c")
			isSetting = isSetting && !strings.HasPrefix(word, "--")
		}
		value = strings.TrimPrefix(value, "=")
		if isSetting && value == "" && i+1 < len(words) {
			value = words[i+1]
		}
		if isSetting && !strings.HasPrefix(value, "model") {
			return true
		}
	}
	return false
}

// changesGate reports whether a fermata command with these words installs or removes gates, or changes their rules.
func changesGate(words, arguments []string) bool {
	if len(words) > 0 && strings.HasPrefix(words[0], "-") {
		arguments = arguments[min(1, len(arguments)):]
		if len(arguments) > 0 && len(words) > 0 && strings.Contains(words[0], "=") {
			arguments = words[1:]
		}
	}
	switch {
	case len(arguments) == 0:
		return false
	case arguments[0] == "install":
		return !slices.Contains(words, "--dry-run")
	default:
		return arguments[0] == "gate" && len(arguments) > 1 && slices.Contains([]string{"add", "remove"}, arguments[1])
	}
}

// redirectsAgentSettings reports whether a variable makes agent programs read other settings.
func redirectsAgentSettings(name, value string) bool {
	return value != "" && slices.Contains([]string{
		"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_MANAGED_SETTINGS_PATH", "CODEX_HOME", "GEMINI_CLI_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
		"OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT",
	}, name)
}

// startsAgentWithOtherHome reports whether a line starts an agent program and sets its home or configuration folder.
func startsAgentWithOtherHome(line ShellLine) bool {
	return slices.ContainsFunc(line.Calls, func(words []string) bool {
		if len(words) == 0 {
			return false
		}
		_, isAgent := agentPrograms[words[0]]
		return isAgent
	}) && setsOneOf(line, []string{"HOME", "XDG_CONFIG_HOME"})
}
