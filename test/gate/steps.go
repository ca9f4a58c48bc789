package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// step is a command that must succeed.
type step struct {
	name    string
	command []string
	folder  string // relative to the module
	env     []string
	// fetches marks a command that downloads or installs something. Its failure counts as a fault of the
	// infrastructure.
	fetches bool
	// needed marks a command without which no group can follow.
	needed bool
	// concurrent marks a command that runs at the same time as the steps after it. The gate prints its output when those
	// steps have ended.
	concurrent bool
}

// prepare returns the steps that install, download and build what the groups need.
func prepare(g *gate) []step {
	compile := []string{"go", "list", "-trimpath", "-test", "-export", "-deps", "-f", "{{with .Error}}{{.}}{{end}}"}
	return []step{
		{name: "programs of the system", fetches: true, needed: true,
			command: strings.Fields("scripts/setup go git curl cc bwrap tmux postgres pgbouncer mail node chromium examples")},
		{name: "real agents", command: strings.Fields("scripts/setup claude codex"), fetches: true, needed: true},
		{name: "Go modules", command: strings.Fields("go mod download"), fetches: true, needed: true},
		{name: "Go modules of the tools", command: strings.Fields("go mod download -modfile=tools/go.mod"), fetches: true, needed: true},
		{name: "tests under the race detector", command: append(append(compile, raceFlags...), packagesIn(racedPackages)...), env: []string{"CGO_ENABLED=1"}, concurrent: true},
		{name: "packages of the interface", command: strings.Fields("make web/node_modules/.package-lock.json"), fetches: true, needed: true},
		{name: "tools", command: strings.Fields("scripts/tool --keep golangci-lint gotestsum"), needed: true},
		{name: "the interface", command: []string{"make", "web"}, needed: true},
		{name: "the program", command: []string{"go", "build", "-trimpath", "-ldflags=-s -w", "-buildvcs=false", "-o", g.binary(), "./cmd/fermata"},
			env: []string{"CGO_ENABLED=0"}, needed: true},
		{name: "tests", command: append(compile, "./..."), env: []string{"CGO_ENABLED=0"}},
	}
}

// static returns the checks that do not run the program.
func static(*gate) []step {
	return []step{
		// The types are checked when the interface is built.
		{name: "lint of the interface", command: []string{"scripts/lint-web"}, concurrent: true},
		{name: "format", command: []string{"make", "format"}},
		{name: "vet", command: []string{"make", "vet"}},
		{name: "lint", command: []string{"make", "lint"}},
		{name: "tests of the interface", command: strings.Fields("npm run --silent test"), folder: "web"},
	}
}

func packagesIn(folders []string) []string {
	var patterns []string
	for _, folder := range folders {
		patterns = append(patterns, "./"+folder+"/...")
	}
	return patterns
}

// steps returns the function that runs a group of steps. They run one after another, except those marked concurrent.
func (g *gate) steps(list func(*gate) []step) func(context.Context) outcome {
	return func(ctx context.Context) outcome {
		var o outcome
		var beside []<-chan stepResult
		for _, s := range list(g) {
			if o.failedStep != "" || ctx.Err() != nil {
				break
			}
			if s.concurrent {
				beside = append(beside, g.startStep(ctx, s))
				continue
			}
			fmt.Fprintf(g.out, "    %s\n", s.name)
			o.add(g.runStep(ctx, s, g.out).outcome)
		}
		for _, ended := range beside {
			r := <-ended
			fmt.Fprintf(g.out, "    %s\n%s", r.name, r.output)
			o.add(r.outcome)
		}
		return o
	}
}

// stepResult is the result of a step.
type stepResult struct {
	outcome

	name   string
	output string
}

// startStep starts a step and returns the channel that gets its result.
func (g *gate) startStep(ctx context.Context, s step) <-chan stepResult {
	ended := make(chan stepResult, 1)
	go func() { ended <- g.runStep(ctx, s, io.Discard) }()
	return ended
}

// runStep runs a step. It copies the output of the command to out at once.
func (g *gate) runStep(ctx context.Context, s step, out io.Writer) stepResult {
	r := stepResult{name: s.name}
	began := time.Now()
	cmd := g.command(ctx, s.command, s.env)
	cmd.Dir = filepath.Join(g.root, s.folder)
	var output bytes.Buffer
	both := io.MultiWriter(out, &output)
	cmd.Stdout, cmd.Stderr = both, both
	err := g.processes.run(cmd)
	r.output = output.String()
	if err == nil {
		r.passed = 1
		r.slow = []slowTest{{name: s.name, took: time.Since(began)}}
		return r
	}
	if ctx.Err() != nil {
		return r
	}
	command := shellCommand(s.command)
	if s.folder != "" {
		command = "cd " + s.folder + " && " + command
	}
	r.failures = []failure{{subject: s.name, message: err.Error(), output: r.output, command: strings.Join(append(s.env, command), " ")}}
	if s.needed {
		r.failedStep, r.infrastructure = s.name, s.fetches
	}
	return r
}

// shellCommand returns a command in the syntax of a shell.
func shellCommand(args []string) string {
	var words []string
	for _, arg := range args {
		if !plainWord.MatchString(arg) {
			arg = quote(arg)
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// quote returns a text as one word of a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

var plainWord = regexp.MustCompile(`^[\w./:=@,+-]+$`)
