package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fermata-hq/fermata/internal/agent"
)

// homeVariable names the folder in which Gemini CLI looks for its folder .gemini.
const homeVariable = "GEMINI_CLI_HOME"

// toolTimeout is how long a call of Fermata's tools may take, in milliseconds. It is longer than any wait that an agent
// can ask for.
const toolTimeout = 24 * 60 * 60 * 1000

// ownEntries are the entries of .gemini that are not links to the user's: the settings, and the files of sessions.
var ownEntries = map[string]bool{"settings.json": true, "tmp": true, "history": true, "projects.json": true, "projects.json.lock": true}

// makeHome creates the home for Gemini CLI, or updates it.
func makeHome(t *agent.Turn) (string, error) {
	home := t.Options.Folder
	if home == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return "", err
		}
		home = filepath.Join(dir, "fermata", "gemini")
	}
	userDir := t.Getenv(homeVariable)
	if userDir == "" {
		userDir = t.Getenv("HOME")
	}
	userDir, runDir := filepath.Join(userDir, ".gemini"), filepath.Join(home, ".gemini")
	if err := os.MkdirAll(runDir, 0o700); err != nil {
		return "", err
	}
	if err := linkUserFiles(userDir, runDir); err != nil {
		return "", err
	}
	settings, err := readSettings(filepath.Join(userDir, "settings.json"))
	if err != nil {
		return "", err
	}
	addSettings(settings, t)
	return home, replaceJSON(filepath.Join(runDir, "settings.json"), settings)
}

// linkUserFiles puts links to the user's files into the home of the runs. It keeps the files that Gemini CLI itself has
// put there.
func linkUserFiles(userDir, runDir string) error {
	entries, err := os.ReadDir(userDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if ownEntries[e.Name()] {
			continue
		}
		err := os.Symlink(filepath.Join(userDir, e.Name()), filepath.Join(runDir, e.Name()))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func readSettings(name string) (map[string]any, error) {
	settings := map[string]any{}
	data, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return settings, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(removeComments(data), &settings); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return settings, nil
}

// addSettings adds Fermata's settings: its server, the gate before every tool, and a hook that ends the turn after a
// question. The variables of the server come from the environment of the run.
func addSettings(settings map[string]any, t *agent.Turn) {
	env := map[string]string{}
	for _, name := range agent.ServerEnv {
		env[name] = "${" + name + "}"
	}
	childObject(settings, "mcpServers")["fermata"] = map[string]any{
		"command": t.Fermata, "args": []string{"mcp", "--ask-tool", agent.AskPerson}, "env": env, "trust": true, "timeout": toolTimeout,
	}
	childObject(settings, "general")["enableAutoUpdate"] = false
	childObject(settings, "hooksConfig")["enabled"] = true
	hooks, line := childObject(settings, "hooks"), t.SharedHookCommand(Name, unaskedTools...)
	addHook(hooks, "SessionStart", "*", line)
	addHook(hooks, "BeforeTool", ".*", line)
	addHook(hooks, "AfterTool", "mcp_fermata_.*", line)
}

// addHook adds a command to the hooks of an event.
func addHook(hooks map[string]any, event, tools, command string) {
	list, _ := hooks[event].([]any)
	hooks[event] = append(list, map[string]any{"matcher": tools, "hooks": []any{
		map[string]any{"name": "fermata-worker", "type": "command", "command": command, "timeout": agent.HookSeconds * 1000},
	}})
}

// childObject returns the object of that name, and creates it if there is none.
func childObject(parent map[string]any, name string) map[string]any {
	child, ok := parent[name].(map[string]any)
	if !ok {
		child = map[string]any{}
		parent[name] = child
	}
	return child
}

// replaceJSON replaces a file atomically, so that no reader sees half of it.
func replaceJSON(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".settings-*")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return os.Rename(file.Name(), name)
}

// removeComments removes comments, which Gemini CLI allows in its settings.
func removeComments(data []byte) []byte {
	var out strings.Builder
	text := string(data)
	for len(text) > 0 {
		size := 1
		switch {
		case strings.HasPrefix(text, "//"):
			text = text[lengthUpTo(text, "\n", 0):]
			continue
		case strings.HasPrefix(text, "/*"):
			text = text[lengthUpTo(text, "*/", len("*/")):]
			continue
		case text[0] == '"':
			size = stringLength(text)
		}
		out.WriteString(text[:size])
		text = text[size:]
	}
	return []byte(out.String())
}

// lengthUpTo returns the position of the first mark in the text plus more, or the length of the text if there is no mark.
func lengthUpTo(text, mark string, more int) int {
	if at := strings.Index(text, mark); at >= 0 {
		return at + more
	}
	return len(text)
}

// stringLength returns the length of the JSON string at the beginning of a text.
func stringLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
