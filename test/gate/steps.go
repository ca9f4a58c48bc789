package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
)

// step is a command that must succeed.
type step struct {
	what    string
	command []string
	folder  string // relative to the module
	env     []string
	// fetches marks a command that downloads or installs something. Its failure is a fault of the infrastructure.
	fetches bool
	// needed marks a command without which no group can follow.
	needed bool
}

// prepare returns the steps that install, download and build what the groups need.
func prepare(g *gate) []step {
	compile := []string{"go", "list", "-trimpath", "-test", "-export", "-deps", "-f", "{{with .Error}}{{.}}{{end}}"}
	return []step{
		{what: "programs of the system", fetches: true, needed: true,
			command: strings.Fields("scripts/setup go git cc bwrap tmux postgres pgbouncer mail node chromium examples")},
		{what: "real agents", command: strings.Fields("scripts/setup claude codex"), fetches: true, needed: true},
		{what: "Go modules", command: strings.Fields("go mod download"), fetches: true, needed: true},
		{what: "Go modules of the tools", command: strings.Fields("go mod download -modfile=tools/go.mod"), fetches: true, needed: true},
		{what: "packages of the interface", command: strings.Fields("make web/node_modules/.package-lock.json"), fetches: true, needed: true},
		{what: "tools", command: strings.Fields("scripts/tool --keep golangci-lint gotestsum"), needed: true},
		{what: "the interface", command: []string{"make", "web"}, needed: true},
		{what: "the program", command: []string{"go", "build", "-trimpath", "-buildvcs=false", "-o", g.binary(), "./cmd/fermata"},
			env: []string{"CGO_ENABLED=0"}, needed: true},
		{what: "tests", command: append(compile, "./..."), env: []string{"CGO_ENABLED=0"}},
		{what: "tests under the race detector", command: append(append(compile, raceFlags...), packagesIn(raced)...), env: []string{"CGO_ENABLED=1"}},
	}
}

// static returns the checks that do not run the program.
func static(*gate) []step {
	return []step{
		{what: "format", command: []string{"make", "format"}},
		{what: "vet", command: []string{"make", "vet"}},
		{what: "lint", command: []string{"make", "lint"}},
		// The types are checked where the interface is built.
		{what: "lint of the interface", command: strings.Fields("npm run --silent lint"), folder: "web"},
		{what: "tests of the interface", command: strings.Fields("npm run --silent test"), folder: "web"},
	}
}

func packagesIn(folders []string) []string {
	var patterns []string
	for _, folder := range folders {
		patterns = append(patterns, "./"+folder+"/...")
	}
	return patterns
}

// steps returns the run of a group of steps.
func (g *gate) steps(list func(*gate) []step) func(context.Context) outcome {
	return func(ctx context.Context) outcome {
		var o outcome
		for _, s := range list(g) {
			if o.stopped != "" || ctx.Err() != nil {
				break
			}
			g.runStep(ctx, s, &o)
		}
		return o
	}
}

func (g *gate) runStep(ctx context.Context, s step, o *outcome) {
	fmt.Fprintf(g.out, "    %s\n", s.what)
	began := time.Now()
	cmd := g.command(ctx, s.command, s.env)
	cmd.Dir = filepath.Join(g.root, s.folder)
	var output bytes.Buffer
	both := io.MultiWriter(g.out, &output)
	cmd.Stdout, cmd.Stderr = both, both
	err := g.processes.run(cmd)
	if err == nil {
		o.passed++
		o.slow = slowest(append(o.slow, slowTest{name: s.what, took: time.Since(began)}))
		return
	}
	if ctx.Err() != nil {
		return
	}
	command := strings.Join(s.command, " ")
	if s.folder != "" {
		command = "cd " + s.folder + " && " + command
	}
	o.failures = append(o.failures, failure{what: s.what, why: err.Error(), output: output.String(), command: strings.Join(append(s.env, command), " ")})
	if s.needed {
		o.stopped, o.infrastructure = s.what, s.fetches
	}
}
