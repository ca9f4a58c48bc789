package agent

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What the hooks of a run tell its runner are files of a folder, which the
// variable [FolderEnv] names.
const (
	// FolderEnv is only there where the runner gates every call of a tool. By itself it
	// proves nothing: [process.InRun] tells whether the folder is that of a run.
	FolderEnv = "FERMATA_RUN_FOLDER"
	// DirEnv names the folder in which the agent of a run works, for hooks whose command line does not.
	DirEnv = "FERMATA_RUN_DIR"
	// TokenFile holds the token with which hooks ask.
	TokenFile = "token"
	// CallsFolder has a file for every call that a hook has decided about.
	CallsFolder = "calls"
	// PassedCall begins the name of such a file where the call was let through.
	PassedCall = "passed-"
	// RefusedCall begins it where the call was not.
	RefusedCall = "refused-"
	// StoppedFile holds the question for which a hook stopped the agent.
	StoppedFile = "stopped"
	// GatedFile is there once a session began with the hooks.
	GatedFile = "gated"
	// DeferredFile holds the call that the turn puts off.
	DeferredFile = "deferred"
	// WordsFile holds what the agent is told when that call comes again.
	WordsFile = "words"
	// DeferredEnv names a call that an earlier turn put off, and with whose refusal
	// this one tells the agent something: it is not put off again.
	DeferredEnv = "FERMATA_DEFERRED"
)

// HookSeconds is how long the programs give a hook. One that is late lets the tool
// run, so the hook gives itself less.
const HookSeconds = 60

// Hook is the command line of the hook that the program calls for every use of a
// tool, with the tools about which nobody needs to be asked. Whatever becomes of
// it, also when fermata is gone: only 0 lets the tool run. All that it needs stands on
// it, so that settings of a project which change the environment change nothing.
func (t *Turn) Hook(program string, unasked ...string) string {
	words := []string{"--run-folder", t.Folder, "--task", t.Getenv("FERMATA_TASK"), "--run", t.Getenv("FERMATA_RUN")}
	if t.Dir != "" {
		words = append(words, "--dir", t.Dir)
	}
	if t.URL != "" {
		words = append(words, "--server", t.URL, "--token-file", filepath.Join(t.Folder, TokenFile))
		words = append(words, ProxyFlag(t.URL)...)
	}
	return t.hook(program, words, unasked)
}

// SharedHook is [Turn.Hook] for a program whose runs share their settings: what the
// hook needs is in the environment.
func (t *Turn) SharedHook(program string, unasked ...string) string {
	return t.hook(program, nil, unasked)
}

func (t *Turn) hook(program string, words, unasked []string) string {
	line := quote(t.Fermata) + " hook " + program + " --worker"
	if len(unasked) > 0 {
		words = append(words, "--unasked", strings.Join(unasked, ","))
	}
	for i, word := range words {
		if i%2 == 1 {
			word = quote(word)
		}
		line += " " + word
	}
	return line + " || { echo 'fermata: the gate failed, so this call may not run' >&2; exit 2; }"
}

// ProxyFlag is the flag that names the proxy by which this process reaches the server;
// none where there is none. Hooks do not look for one in their environment.
func ProxyFlag(server string) []string {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, server, http.NoBody)
	if err != nil {
		return nil
	}
	proxy, err := http.ProxyFromEnvironment(request)
	if err != nil || proxy == nil {
		return nil
	}
	return []string{"--proxy", proxy.String()}
}

// quote makes one word of a text for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// ServerEnv names what Fermata's MCP server needs of a run's environment.
var ServerEnv = []string{"FERMATA_URL", "FERMATA_TOKEN", "FERMATA_TASK", "FERMATA_RUN"}

// hookLook is how often the runner looks what hooks left for it.
const hookLook = 25 * time.Millisecond

// forget clears what the hooks of an earlier turn left.
func (t *Turn) forget() error {
	calls := filepath.Join(t.Folder, CallsFolder)
	errs := []error{os.RemoveAll(calls), os.MkdirAll(calls, 0o700)}
	for _, name := range []string{StoppedFile, GatedFile, DeferredFile, WordsFile} {
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
