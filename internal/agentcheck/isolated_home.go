package agentcheck

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Env is the whole environment of an agent program, as NAME=value.
type Env []string

// Names returns the names of the variables, so that a worker can pass them on.
func (e Env) Names() []string {
	names := make([]string, 0, len(e))
	for _, v := range e {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	return names
}

// IsolatedHome holds the folders in which agent programs run, apart from the user's own configuration, sessions and
// keys.
type IsolatedHome struct {
	// URL is the address of the scripted model.
	URL string
	// Home, Work and Temp are the programs' folders. The programs start in Work.
	Home, Work, Temp string
}

// NewIsolatedHome creates the folders of an isolated home below base.
func NewIsolatedHome(base, url string) (*IsolatedHome, error) {
	r := &IsolatedHome{
		URL: url, Home: filepath.Join(base, "home"), Work: filepath.Join(base, "work"), Temp: filepath.Join(base, "tmp"),
	}
	for _, dir := range []string{r.Home, r.Work, r.Temp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Env returns the environment of the program with that name, and writes its configuration.
func (h *IsolatedHome) Env(program string) (Env, error) {
	switch program {
	case "claude":
		return h.claude(), nil
	case "codex":
		return h.codex()
	case "gemini":
		return h.gemini()
	case "opencode":
		return h.openCode()
	default:
		return nil, fmt.Errorf("there is no room for %s", program)
	}
}

// common returns the variables that every program gets.
func (h *IsolatedHome) common() Env {
	return Env{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.Home, "TMPDIR=" + h.Temp, "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1",
		"XDG_CONFIG_HOME=" + filepath.Join(h.Home, ".config"), "XDG_DATA_HOME=" + filepath.Join(h.Home, ".local", "share"),
		"XDG_CACHE_HOME=" + filepath.Join(h.Home, ".cache"),
	}
}

// claude returns the environment of Claude Code.
func (h *IsolatedHome) claude() Env {
	return append(h.common(),
		"ANTHROPIC_BASE_URL="+h.URL, "ANTHROPIC_API_KEY=sk-dummy", "CLAUDE_CODE_TMPDIR="+h.Temp,
		"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	)
}

// codexConfig names only the scripted provider.
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

// codex returns the environment of Codex, and writes its configuration.
func (h *IsolatedHome) codex() (Env, error) {
	home := filepath.Join(h.Home, ".codex")
	err := write(filepath.Join(home, "config.toml"), fmt.Sprintf(codexConfig, h.URL))
	return append(h.common(), "CODEX_HOME="+home, "DUMMY_KEY=sk-dummy"), err
}

// openCodeConfig names only the scripted provider.
const openCodeConfig = `{
  "autoupdate": false, "share": "disabled",
  "model": "local/scripted", "small_model": "local/scripted", "enabled_providers": ["local"],
  "provider": {"local": {
    "npm": "@ai-sdk/openai-compatible", "name": "local", "options": {"baseURL": "%s/v1", "apiKey": "dummy"},
    "models": {"scripted": {"name": "scripted", "tool_call": true, "limit": {"context": 100000, "output": 8000}}}
  }}
}
`

// openCode returns the environment of opencode, and writes its configuration. A plugin makes opencode install a package
// first. Without a network this takes more than a minute, unless opencode is told that it is offline. It works without
// the package.
func (h *IsolatedHome) openCode() (Env, error) {
	err := write(filepath.Join(h.Home, ".config", "opencode", "opencode.json"), fmt.Sprintf(openCodeConfig, h.URL))
	return append(h.common(),
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "npm_config_offline=true",
	), err
}

// geminiConfig lets the program start without a prompt.
const geminiConfig = `{
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
  "model": {"name": "gemini-2.5-pro"}
}
`

// gemini returns the environment of Gemini CLI, and writes its configuration.
func (h *IsolatedHome) gemini() (Env, error) {
	err := write(filepath.Join(h.Home, ".gemini", "settings.json"), geminiConfig)
	return append(h.common(), "GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL="+h.URL), err
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}
