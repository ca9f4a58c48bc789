package app

import (
	"cmp"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

// Invalid options are reported as invalid requests, so that the exit code distinguishes them from the failure of a
// server or worker.
func TestOptionsThatCannotHold(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const token = "fmt_2CZ3mqZxvBZmDVNX9tMRCUJTR2bJkXdJ0rP3Ux"
	log := slog.New(slog.DiscardHandler)
	worker := func(o WorkerOptions) error {
		o.URL, o.Name, o.Log = "http://127.0.0.1:1", "w", log
		if o.Folder == "" {
			o.Folder = t.TempDir()
		}
		_, err := runners(o)
		if err == nil {
			err = o.check()
		}
		return err
	}
	serve := func(o ServeOptions) error {
		o.Listen, o.Log, o.Out = cmp.Or(o.Listen, "127.0.0.1:0"), log, io.Discard
		return Serve(t.Context(), o)
	}
	for want, err := range map[string]error{
		"the worker has nothing to run":          worker(WorkerOptions{}),
		"the agents need a token":                worker(WorkerOptions{Runners: []string{"claude"}}),
		"the runner acp has nothing to run":      worker(WorkerOptions{Runners: []string{"acp"}, AgentToken: token}),
		"--program goes with one runner only":    worker(WorkerOptions{Runners: []string{"claude", "codex"}, AgentToken: token, Program: "agent"}),
		"arguments behind -- go with one":        worker(WorkerOptions{Runners: []string{"claude", "codex"}, AgentToken: token, Command: []string{"--fast"}}),
		"--folder: " + file + " is no folder":    worker(WorkerOptions{Command: []string{"true"}, Folder: file}),
		"--data: " + file + " is no folder":      serve(ServeOptions{Data: file}),
		"--database must begin with":             serve(ServeOptions{Database: "sqlite:foo"}),
		"--listen: address":                      serve(ServeOptions{Data: t.TempDir(), Listen: "nope"}),
		"--public-url must be an address":        serve(ServeOptions{Data: t.TempDir(), PublicURL: "foo"}),
		"--secret-projects names the secret NO":  serve(ServeOptions{Data: t.TempDir(), SecretProjects: map[string]string{"NONE_OF_IT": "web"}}),
		"the witness git:" + file + " is no clo": serve(ServeOptions{Data: t.TempDir(), AuditWitnesses: []string{"git:" + file}}),
		"a witness of the audit needs a place":   serve(ServeOptions{Data: t.TempDir(), AuditWitnesses: []string{""}}),
		"--single-user serves without sign-in,":  serve(ServeOptions{Data: t.TempDir(), Listen: "0.0.0.0:0", SingleUser: true}),
	} {
		if fermata.CodeOf(err) != fermata.CodeInvalidRequest || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to be a wrong request: %s", err, want)
		}
	}
}
