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
	"github.com/fermata-hq/fermata/internal/config"
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
	worker := func(c config.Worker) error {
		o := WorkerOptions{Worker: c, Log: log}
		o.URL, o.Name = "http://127.0.0.1:1", "w"
		if o.Folder == "" {
			o.Folder = t.TempDir()
		}
		_, err := runners(o)
		if err == nil {
			err = o.check()
		}
		return err
	}
	serve := func(c config.Server) error {
		c.Listen = cmp.Or(c.Listen, "127.0.0.1:0")
		return Serve(t.Context(), ServeOptions{Server: c, Log: log, Out: io.Discard})
	}
	for want, err := range map[string]error{
		"the worker has nothing to run":          worker(config.Worker{}),
		"the agents need a token":                worker(config.Worker{Agents: config.Agents{Runners: []string{"claude"}}}),
		"the runner acp has nothing to run":      worker(config.Worker{Agents: config.Agents{Runners: []string{"acp"}, AgentToken: token}}),
		"--program is allowed only with one":     worker(config.Worker{Agents: config.Agents{Runners: []string{"claude", "codex"}, AgentToken: token, Program: "agent"}}),
		"arguments behind -- are allowed only":   worker(config.Worker{Agents: config.Agents{Runners: []string{"claude", "codex"}, AgentToken: token, Command: []string{"--fast"}}}),
		"--folder: " + file + " is no folder":    worker(config.Worker{Folder: file, Agents: config.Agents{Command: []string{"true"}}}),
		"--data: " + file + " is no folder":      serve(config.Server{Storage: config.Storage{Data: file}}),
		"--database must begin with":             serve(config.Server{Storage: config.Storage{Database: "sqlite:foo"}}),
		"--database-direct is for PostgreSQL":    serve(config.Server{Storage: config.Storage{Data: t.TempDir(), DatabaseDirect: "postgres://db/fermata"}}),
		"--database-read is for PostgreSQL":      serve(config.Server{Storage: config.Storage{Data: t.TempDir()}, DatabaseRead: "postgres://db/fermata"}),
		"--database-direct must begin with":      serve(config.Server{Storage: config.Storage{Database: "postgres://db/fermata", DatabaseDirect: "db"}}),
		"--listen: address":                      serve(config.Server{Storage: config.Storage{Data: t.TempDir()}, Listen: "nope"}),
		"--public-url must be an address":        serve(config.Server{Storage: config.Storage{Data: t.TempDir()}, PublicURL: "foo"}),
		"--secret-projects names the secret NO":  serve(config.Server{Storage: config.Storage{Data: t.TempDir()}, SecretProjects: map[string]string{"NONE_OF_IT": "web"}}),
		"the witness git:" + file + " is no clo": serve(config.Server{Storage: config.Storage{Data: t.TempDir()}, AuditWitnesses: []string{"git:" + file}}),
		"a witness of the audit needs a place":   serve(config.Server{Storage: config.Storage{Data: t.TempDir()}, AuditWitnesses: []string{""}}),
		"--single-user serves without sign-in,":  serve(config.Server{Storage: config.Storage{Data: t.TempDir()}, Listen: "0.0.0.0:0", SingleUser: true}),
	} {
		if fermata.CodeOf(err) != fermata.CodeInvalidRequest || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to be a wrong request: %s", err, want)
		}
	}
}
