package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Env is the whole environment of an agent program, as NAME=value.
type Env []string

// Names returns the names of the variables, to be passed on by a worker.
func (e Env) Names() []string {
	names := make([]string, 0, len(e))
	for _, v := range e {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	return names
}

// common is what every program gets.
func (r *Room) common() Env {
	return Env{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.Home, "TMPDIR=" + r.Temp, "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1",
		"XDG_CONFIG_HOME=" + filepath.Join(r.Home, ".config"), "XDG_DATA_HOME=" + filepath.Join(r.Home, ".local", "share"),
		"XDG_CACHE_HOME=" + filepath.Join(r.Home, ".cache"),
	}
}

// Claude is the environment of Claude Code.
func (r *Room) Claude() Env {
	return append(r.common(),
		"ANTHROPIC_BASE_URL="+r.URL, "ANTHROPIC_API_KEY=sk-dummy", "CLAUDE_CODE_TMPDIR="+r.Temp,
		"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	)
}

// codexConfig knows no provider but the scripted one.
const codexConfig = `model = "scripted"
model_provider = "local"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.local]
name = "local"
base_url = "%s/v1"
wire_api = "responses"
env_key = "DUMMY_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
`

// Codex is the environment of Codex. It writes its configuration.
func (r *Room) Codex(tb testing.TB) Env {
	tb.Helper()
	home := filepath.Join(r.Home, ".codex")
	r.write(tb, filepath.Join(home, "config.toml"), fmt.Sprintf(codexConfig, r.URL))
	return append(r.common(), "CODEX_HOME="+home, "DUMMY_KEY=sk-dummy")
}

// openCodeConfig knows no provider but the scripted one.
const openCodeConfig = `{
  "autoupdate": false, "share": "disabled",
  "model": "local/scripted", "small_model": "local/scripted", "enabled_providers": ["local"],
  "provider": {"local": {
    "npm": "@ai-sdk/openai-compatible", "name": "local", "options": {"baseURL": "%s/v1", "apiKey": "dummy"},
    "models": {"scripted": {"name": "scripted", "tool_call": true, "limit": {"context": 100000, "output": 8000}}}
  }}
}
`

// OpenCode is the environment of opencode. It writes its configuration.
func (r *Room) OpenCode(tb testing.TB) Env {
	tb.Helper()
	r.write(tb, filepath.Join(r.Home, ".config", "opencode", "opencode.json"), fmt.Sprintf(openCodeConfig, r.URL))
	return append(r.common(),
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
	)
}

// geminiConfig lets the program start without a question.
const geminiConfig = `{
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
  "model": {"name": "gemini-2.5-pro"}
}
`

// Gemini is the environment of Gemini CLI. It writes its configuration.
func (r *Room) Gemini(tb testing.TB) Env {
	tb.Helper()
	r.write(tb, filepath.Join(r.Home, ".gemini", "settings.json"), geminiConfig)
	return append(r.common(), "GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL="+r.URL)
}

func (r *Room) write(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}
