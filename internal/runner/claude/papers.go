package claude

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/process"
)

// Variables by which the runner and `fermata hook claude` talk.
const (
	// folderEnv names the folder of the run's papers. The hook leaves in it the
	// id of the question for which it stopped the agent.
	folderEnv = "FERMATA_RUN_FOLDER"
	// deferredEnv names a call that an earlier run deferred, and of which this
	// one tells the agent in its prompt: it is not deferred again.
	deferredEnv = "FERMATA_CLAUDE_DEFERRED"
	// stoppedFile is where the hook leaves the question.
	stoppedFile = "stopped"
)

// passed are the variables that Claude Code needs to be itself, beside the
// usual ones.
var passed = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_CUSTOM_HEADERS",
	"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_TMPDIR", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
	"DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "IS_SANDBOX",
}

// askTools are the tools of Fermata's MCP server that the agent may use
// without asking. The one for permission prompts is not the agent's.
var askTools = []string{
	"ask_user", "post_question", "request_approval", "check_answer", "cancel_question", "report_progress", "read_messages",
}

// papers are the files of one run.
type papers struct {
	dir, settings, mcp string
	prompts            int
}

// newPapers writes the settings with the hooks, and where the MCP server is.
func newPapers(o Options, claim *fermata.Claim) (*papers, error) {
	dir, err := os.MkdirTemp("", "fermata-run-")
	if err != nil {
		return nil, err
	}
	p := &papers{dir: dir, settings: filepath.Join(dir, "settings.json"), mcp: filepath.Join(dir, "mcp.json")}
	err = errors.Join(writeJSON(p.settings, settings(o)), writeJSON(p.mcp, mcpConfig(o, claim)))
	if err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

func (p *papers) remove() { os.RemoveAll(p.dir) } //nolint:errcheck // the system clears what is left

// object is a JSON object that is written out.
type object = map[string]any

// settings switch the hooks on. A hook that does not end in time lets the tool
// pass, so `fermata hook` gives itself less time than it has here.
func settings(o Options) object {
	hook := func(matcher string) []any {
		return []any{object{"matcher": matcher, "hooks": []any{object{
			"type": "command", "command": quote(o.Fermata) + " hook claude", "timeout": 60,
		}}}}
	}
	return object{"hooks": object{
		"PreToolUse":  hook("*"),
		"PostToolUse": hook("mcp__fermata__(ask_user|request_approval)"),
	}}
}

// quote makes one word of a path for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// mcpConfig names Fermata's MCP server, whose tools are always on offer.
func mcpConfig(o Options, claim *fermata.Claim) object {
	env := object{"FERMATA_URL": o.URL, "FERMATA_TASK": claim.Task.ID, "FERMATA_RUN": claim.Run.ID}
	if o.Token != "" {
		env["FERMATA_TOKEN"] = o.Token
	}
	return object{"mcpServers": object{"fermata": object{
		"type": "stdio", "command": o.Fermata, "args": []string{"mcp"}, "env": env, "alwaysLoad": true,
	}}}
}

func writeJSON(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o600)
}

// prompt writes a prompt down and opens it for reading.
func (p *papers) prompt(text string) (*os.File, error) {
	p.prompts++
	name := filepath.Join(p.dir, "prompt-"+strconv.Itoa(p.prompts)+".md")
	if err := os.WriteFile(name, []byte(plain(text)), 0o600); err != nil {
		return nil, err
	}
	return os.Open(name)
}

// stopped returns the question for which the hook stopped the agent, and
// forgets it.
func (p *papers) stopped() string {
	name := filepath.Join(p.dir, stoppedFile)
	data, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	os.Remove(name) //nolint:errcheck // the folder goes with the run
	return strings.TrimSpace(string(data))
}

// args are the arguments of a turn. The prompt is on standard input.
func (p *papers) args(o Options, session string) []string {
	allowed := make([]string, 0, len(askTools))
	for _, tool := range askTools {
		allowed = append(allowed, "mcp__fermata__"+tool)
	}
	args := []string{
		o.Program, "-p", "--output-format", "stream-json", "--verbose",
		"--mcp-config", p.mcp, "--strict-mcp-config", "--settings", p.settings,
		"--permission-mode", o.PermissionMode, "--permission-prompt-tool", "mcp__fermata__approve",
		"--allowedTools", strings.Join(allowed, ","),
	}
	if session != "" {
		args = append(args, "--resume", session)
	}
	return append(args, o.ExtraArgs...)
}

// env is the environment of a turn. What the run is about comes last, so that
// nothing else can take its place.
func (p *papers) env(o Options, claim *fermata.Claim, deferred string) []string {
	env := append(process.Environ(append(passed, o.PassEnv...)), o.SetEnv...)
	resumed := "0"
	if claim.Context != nil && claim.Context.Resumed {
		resumed = "1"
	}
	env = append(env,
		"FERMATA_TASK="+claim.Task.ID, "FERMATA_RUN="+claim.Run.ID, "FERMATA_ATTEMPT="+strconv.Itoa(claim.Run.Attempt),
		"FERMATA_RESUMED="+resumed, "FERMATA_URL="+o.URL, folderEnv+"="+p.dir, deferredEnv+"="+deferred,
	)
	if o.Token != "" {
		env = append(env, "FERMATA_TOKEN="+o.Token)
	}
	return env
}
