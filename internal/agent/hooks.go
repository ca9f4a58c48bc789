package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What the hooks of a run tell its runner are files of a folder, which the
// variable [FolderEnv] names.
const (
	// FolderEnv is only there where the runner has hooks for every call of a tool.
	FolderEnv = "FERMATA_RUN_FOLDER"
	// StoppedFile holds the question for which a hook stopped the agent.
	StoppedFile = "stopped"
	// GatedFile is there once a session began with the hooks.
	GatedFile = "gated"
	// DeferredFile holds the call that the turn puts off.
	DeferredFile = "deferred"
	// DeferredEnv names a call that an earlier turn put off, and of which this one
	// tells the agent in its prompt: it is not put off again.
	DeferredEnv = "FERMATA_DEFERRED"
)

// HookSeconds is how long the programs give a hook. One that is late lets the tool
// run, so the hook gives itself less.
const HookSeconds = 60

// Hook is the command line of the hook that the program calls for every use of a
// tool, with the tools about which nobody needs to be asked. Whatever becomes of
// it, also when fermata is gone: only 0 lets the tool run.
func (t *Turn) Hook(program string, unasked ...string) string {
	line := quote(t.Fermata) + " hook " + program + " --worker"
	if len(unasked) > 0 {
		line += " --unasked " + quote(strings.Join(unasked, ","))
	}
	return line + " || { echo 'fermata: the gate failed, so this call may not run' >&2; exit 2; }"
}

// quote makes one word of a text for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// ServerEnv names what Fermata's MCP server needs of a run's environment.
var ServerEnv = []string{"FERMATA_URL", "FERMATA_TOKEN", "FERMATA_TASK", "FERMATA_RUN"}

// hookLook is how often the runner looks what hooks left for it.
const hookLook = 25 * time.Millisecond

// forget clears what the hooks of an earlier turn left.
func (t *Turn) forget() error {
	var errs []error
	for _, name := range []string{StoppedFile, GatedFile, DeferredFile} {
		if err := os.Remove(filepath.Join(t.Folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// gated reports whether the session began with the hooks.
func (t *Turn) gated() bool {
	_, err := os.Stat(filepath.Join(t.Folder, GatedFile))
	return err == nil
}

// look takes the question for which a hook stops the agent.
func (t *turn) look(ctx context.Context) {
	data, err := os.ReadFile(filepath.Join(t.Folder, StoppedFile))
	if err != nil {
		return
	}
	t.mu.Lock()
	known := t.Asked != ""
	if !known {
		t.Asked = strings.TrimSpace(string(data))
		t.ends = t.ends || t.kind.HooksStop
	}
	t.mu.Unlock()
	if !known {
		t.consider(ctx)
	}
}
