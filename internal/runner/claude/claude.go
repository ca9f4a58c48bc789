package claude

import (
	"strings"

	"github.com/fermata-hq/fermata/internal/agent"
)

// Name is this runner's name in tasks.
const Name = "claude"

// DefaultMode lets the agent edit the files of its working copy. For everything else it has to ask.
const DefaultMode = "acceptEdits"

// New returns a runner.
func New(o agent.Options) *agent.Runner {
	return agent.New(agent.Kind{
		Name: Name, Program: "claude", Resume: []string{"--resume"}, SessionEnv: []string{"CLAUDE_CONFIG_DIR"},
		PassEnv: []string{
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_CUSTOM_HEADERS",
			"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_TMPDIR", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
			"DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "IS_SANDBOX",
		},
		Command: command,
		Reader:  func() func([]byte) []agent.Event { return (&reader{}).read },
		Mode:    mode, ReadsInstructions: true, HooksStop: true, TellsEnd: true,
	}, o)
}

// mode returns the permission mode that the arguments set.
func mode(extra []string) string {
	mode := DefaultMode
	for i, arg := range extra {
		if value, ok := strings.CutPrefix(arg, modeFlag+"="); ok {
			mode = value
		} else if arg == modeFlag && i+1 < len(extra) {
			mode = extra[i+1]
		}
	}
	return mode
}

const modeFlag = "--permission-mode"

// askTools are the tools of Fermata's MCP server that the agent may use without asking. The tool for permission prompts
// is not for the agent.
var askTools = []string{
	"ask_user", "post_question", "request_approval", "check_answer", "cancel_question", "report_progress", "read_messages",
}

// command writes the files of the turn and returns the arguments that name them. The user's arguments come last, so
// that they override these.
func command(t *agent.Turn) (args, env []string, err error) {
	settings, servers, err := writeConfigFiles(t)
	if err != nil {
		return nil, nil, err
	}
	allowed := make([]string, 0, len(askTools))
	for _, tool := range askTools {
		allowed = append(allowed, "mcp__fermata__"+tool)
	}
	args = []string{
		"-p", "--output-format", "stream-json", "--verbose",
		"--mcp-config", servers, "--strict-mcp-config", "--settings", settings,
		modeFlag, DefaultMode, "--permission-prompt-tool", "mcp__fermata__approve",
		"--allowedTools", strings.Join(allowed, ","),
	}
	if t.Session != "" {
		args = append(args, "--resume", t.Session)
	}
	return append(args, t.ExtraArgs...), nil, nil
}
