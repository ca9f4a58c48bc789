package opencode

import (
	"net/url"
	"os"
	"path/filepath"

	"github.com/fermata-hq/fermata/internal/agent"
)

// unaskedTools are the tools that look, plan, or edit files of the working copy. They need no question unless a rule
// says so.
var unaskedTools = []string{
	"read", "glob", "grep", "list", "lsp", "todowrite", "todoread", "skill", "task", "invalid", "edit", "write", "multiedit", "patch", "apply_patch",
}

// writePlugin writes the plugin of a run, and returns its URL.
func writePlugin(t *agent.Turn) (string, error) {
	plugin, err := agent.OpenCodePlugin(t.HookCommand(Name, unaskedTools...), true)
	if err != nil {
		return "", err
	}
	name := filepath.Join(t.Folder, "gate.js")
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(name)}
	return address.String(), os.WriteFile(name, plugin, 0o600)
}
