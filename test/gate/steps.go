package main

import (
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
	// fetches says that the command brings something from outside: that it cannot is no fault of the sources.
	fetches bool
	// needed says that nothing can follow when the command fails.
	needed bool
}

// prepare brings and builds what the groups need.
func prepare(g *gate) []step {
	compile := []string{"go", "list", "-test", "-export", "-deps", "-f", "{{with .Error}}{{.}}{{end}}"}
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
		{what: "tests", command: append(compile, "-trimpath", "./..."), env: []string{"CGO_ENABLED=0"}},
		{what: "tests under the race detector", command: append(append(compile, raceFlags...), packagesIn(raced)...), env: []string{"CGO_ENABLED=1"}},
	}
}

// static reads the sources without running the program.
func static(*gate) []step {
	return []step{
		{what: "format", command: []string{"make", "format"}},
		{what: "vet", command: []string{"make", "vet"}},
		{what: "lint", command: []string{"make", "lint"}},
		{what: "types of the interface", command: strings.Fields("npm run --silent check"), folder: "web"},
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
	output := &tail{to: g.out, limit: 40}
	cmd.Stdout, cmd.Stderr = output, output
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

// tail keeps the last lines that were written to it, and passes everything on.
type tail struct {
	to    io.Writer
	limit int
	lines []string
	begun string
}

func (t *tail) Write(p []byte) (int, error) {
	parts := strings.Split(t.begun+string(p), "\n")
	t.begun = parts[len(parts)-1]
	t.lines = append(t.lines, parts[:len(parts)-1]...)
	t.lines = t.lines[max(0, len(t.lines)-t.limit):]
	return t.to.Write(p)
}

func (t *tail) String() string {
	lines := t.lines
	if t.begun != "" {
		lines = append(lines, t.begun)
	}
	return strings.Join(lines, "\n")
}
