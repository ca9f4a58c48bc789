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

// The hooks of a run report to its runner by files in a folder. The variable [FolderEnv] names the folder.
const (
	// FolderEnv is set by a runner that gates every tool call. Other programs can set it, too, so it proves nothing:
	// [process.IsInRun] reports whether this process belongs to the run of the folder.
	FolderEnv = "FERMATA_RUN_FOLDER"
	// DirEnv names the folder in which the agent of a run works, for hooks whose command line does not name it.
	DirEnv = "FERMATA_RUN_DIR"
	// TokenFile holds the token that hooks use to call the server.
	TokenFile = "token"
	// CallsFolder has a file for every call that a hook has decided about.
	CallsFolder = "calls"
	// PassedCall begins the name of such a file if the call was let through.
	PassedCall = "passed-"
	// RefusedCall begins the name of such a file if the call was refused.
	RefusedCall = "refused-"
	// StoppedFile holds the id of the question for which a hook stopped the agent.
	StoppedFile = "stopped"
	// GatedFile exists once a session began with the hooks.
	GatedFile = "gated"
	// DeferredFile holds the call that the turn defers.
	DeferredFile = "deferred"
	// RefusalReasonFile holds the text that the agent gets when a deferred call comes again: with the refusal of the
	// call, or with its result.
	RefusalReasonFile = "words"
	// DeferredEnv is the variable with the id of a call that an earlier turn deferred. The reply to this call carries a
	// text for the agent, so this turn does not defer the call again.
	DeferredEnv = "FERMATA_DEFERRED"
)

// HookSeconds is how long the agent programs let a hook run, in seconds. A program runs the tool when the hook is late,
// so the hook sets itself a shorter limit.
const HookSeconds = 60

// HookCommand returns the command line of the hook that the program calls for every tool call. The tools in unasked need no
// question, unless a rule of a gate names them or they write outside the agent's folder. Whatever happens to the hook,
// even if fermata is gone, only the exit code 0 lets the tool run. The command line holds everything that the hook
// needs, so project settings that change the environment have no effect.
func (t *Turn) HookCommand(program string, unasked ...string) string {
	words := []string{"--run-folder", t.Folder, "--task", t.Getenv("FERMATA_TASK"), "--run", t.Getenv("FERMATA_RUN")}
	if t.Dir != "" {
		words = append(words, "--dir", t.Dir)
	}
	if t.URL != "" {
		words = append(words, "--server", t.URL, "--token-file", filepath.Join(t.Folder, TokenFile))
		words = append(words, ProxyFlag(t.URL)...)
	}
	return t.hookCommand(program, words, unasked)
}

// SharedHookCommand returns a hook like [Turn.HookCommand] for a program whose runs share their settings. The hook reads what it
// needs from the environment.
func (t *Turn) SharedHookCommand(program string, unasked ...string) string {
	return t.hookCommand(program, nil, unasked)
}

func (t *Turn) hookCommand(program string, words, unasked []string) string {
	line := quoteShell(t.Fermata) + " hook " + program + " --worker"
	if len(unasked) > 0 {
		words = append(words, "--unasked", strings.Join(unasked, ","))
	}
	for i, word := range words {
		if i%2 == 1 {
			word = quoteShell(word)
		}
		line += " " + word
	}
	return line + " || { echo 'fermata: the gate failed, so this call may not run' >&2; exit 2; }"
}

// ProxyFlag returns the flag that names the proxy by which this process reaches the server, or nothing if there is
// none. Hooks do not look for a proxy in their environment.
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

// quoteShell returns the text as one word for a shell.
func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// ServerEnv names the variables of a run's environment that Fermata's MCP server needs.
var ServerEnv = []string{"FERMATA_URL", "FERMATA_TOKEN", "FERMATA_TASK", "FERMATA_RUN"}

// hookPollInterval is how often the runner looks for files from hooks.
const hookPollInterval = 25 * time.Millisecond

// removeHookFiles removes the files that the hooks of an earlier turn left.
func (t *Turn) removeHookFiles() error {
	calls := filepath.Join(t.Folder, CallsFolder)
	errs := []error{os.RemoveAll(calls), os.MkdirAll(calls, 0o700)}
	for _, name := range []string{StoppedFile, GatedFile, DeferredFile, RefusalReasonFile} {
		if err := os.Remove(filepath.Join(t.Folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// isGated reports whether the session began with the hooks.
func (t *Turn) isGated() bool {
	_, err := os.Stat(filepath.Join(t.Folder, GatedFile))
	return err == nil
}

// readStoppedQuestion reads the id of the question for which a hook stops the agent, and stops the agent as soon as
// possible.
func (t *turn) readStoppedQuestion(ctx context.Context) {
	data, err := os.ReadFile(filepath.Join(t.Folder, StoppedFile))
	if err != nil {
		return
	}
	t.mu.Lock()
	known := t.AskedQuestion != ""
	if !known {
		t.AskedQuestion = strings.TrimSpace(string(data))
		t.endsItself = t.endsItself || t.kind.HooksStop
	}
	t.mu.Unlock()
	if !known {
		t.stopIfDue(ctx)
	}
}
