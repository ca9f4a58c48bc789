// Package gemini runs Gemini CLI as an agent. Gemini CLI cannot take settings for a single run: its system settings
// count only if root owns them. So the runner keeps a separate home for it. In that home the user's files are links,
// and the settings are the user's with Fermata's added.
package gemini

import (
	"slices"
	"strings"

	"github.com/fermata-hq/fermata/internal/agent"
)

// Name is this runner's name in tasks.
const Name = "gemini"

// New returns a runner.
func New(o agent.Options) *agent.Runner {
	return agent.New(agent.Kind{
		Name: Name, Program: "gemini", Resume: []string{"--resume"}, SessionEnv: []string{homeVariable},
		PassEnv: []string{
			homeVariable, "GEMINI_API_KEY", "GEMINI_MODEL", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_APPLICATION_CREDENTIALS",
			"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA",
			"GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
		},
		AskTool: agent.AskPerson, HooksStop: true, TellsEnd: true,
		Command: command,
		Reader:  func() func([]byte) []agent.Event { return (&reader{calls: map[string]call{}}).read },
	}, o)
}

// command lets the agent use every tool, unless the user says otherwise, because the gate checks each call. Without the
// gate, it allows only edits. The working copy belongs to the worker, so it is trusted.
func command(t *agent.Turn) (args, env []string, err error) {
	args = []string{"--output-format", "stream-json"}
	switch {
	case slices.ContainsFunc(t.ExtraArgs, isModeFlag):
	case t.Fermata == "":
		args = append(args, "--approval-mode", "auto_edit")
	default:
		args = append(args, "--approval-mode", "yolo")
	}
	args = append(args, t.ExtraArgs...)
	if t.Session != "" {
		args = append(args, "--resume", t.Session)
	}
	env = []string{"GEMINI_CLI_TRUST_WORKSPACE=true"}
	if t.Fermata == "" {
		return args, env, nil
	}
	home, err := makeHome(t)
	return args, append(env, homeVariable+"="+home), err
}

// unaskedTools are the tools that look, plan, or edit files of the working copy. They need no question unless a rule
// says so. The tool that saves memories for later runs is not among them, because it changes the user's own files.
var unaskedTools = []string{
	"read_file", "read_many_files", "list_directory", "glob", "grep_search", "search_file_content", "write_todos",
	"get_internal_docs", "activate_skill", "codebase_investigator", "cli_help", "write_file", "replace",
}

// isModeFlag reports whether an argument sets what needs approval.
func isModeFlag(arg string) bool {
	return strings.HasPrefix(arg, "--approval-mode") || strings.HasPrefix(arg, "--yolo") || arg == "-y"
}
