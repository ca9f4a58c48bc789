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
	what    string
	command []string
	folder  string // relative to the module
	env     []string
	// fetches marks a command that downloads or installs something. Its failure counts as a fault of the
	// infrastructure.
	fetches bool
	// needed marks a command without which no group can follow.
	needed bool
	// beside marks a command that runs at the same time as the steps after it. The gate prints its output when those
	// steps have ended.
	beside bool
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
		{what: "tests under the race detector", command: append(append(compile, raceFlags...), packagesIn(raced)...), env: []string{"CGO_ENABLED=1"}, beside: true},
		{what: "packages of the interface", command: strings.Fields("make web/node_modules/.package-lock.json"), fetches: true, needed: true},
		{what: "tools", command: strings.Fields("scripts/tool --keep golangci-lint gotestsum"), needed: true},
		{what: "the interface", command: []string{"make", "web"}, needed: true},
		{what: "the program", command: []string{"go", "build", "-trimpath", "-buildvcs=false", "-o", g.binary(), "./cmd/fermata"},
			env: []string{"CGO_ENABLED=0"}, needed: true},
		{what: "tests", command: append(compile, "./..."), env: []string{"CGO_ENABLED=0"}},
	}
}

// static returns the checks that do not run the program.
func static(*gate) []step {
	return []step{
		// The types are checked when the interface is built.
		{what: "lint of the interface", command: []string{"scripts/lint-web"}, beside: true},
		{what: "format", command: []string{"make", "format"}},
		{what: "vet", command: []string{"make", "vet"}},
		{what: "lint", command: []string{"make", "lint"}},
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

// steps returns the run of a group of steps. They run one after another, except those marked beside.
func (g *gate) steps(list func(*gate) []step) func(context.Context) outcome {
	return func(ctx context.Context) outcome {
		var o outcome
		var beside []<-chan stepResult
		for _, s := range list(g) {
			if o.stopped != "" || ctx.Err() != nil {
				break
			}
			if s.beside {
				beside = append(beside, g.startStep(ctx, s))
				continue
			}
			fmt.Fprintf(g.out, "    %s\n", s.what)
			o.add(g.runStep(ctx, s, g.out).outcome)
		}
		for _, ended := range beside {
			r := <-ended
			fmt.Fprintf(g.out, "    %s\n%s", r.what, r.output)
			o.add(r.outcome)
		}
		return o
	}
}

// stepResult is the result of a step.
type stepResult struct {
	outcome

	what   string
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
	r := stepResult{what: s.what}
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
		r.slow = []slowTest{{name: s.what, took: time.Since(began)}}
		return r
	}
	if ctx.Err() != nil {
		return r
	}
	command := shellCommand(s.command)
	if s.folder != "" {
		command = "cd " + s.folder + " && " + command
	}
	r.failures = []failure{{what: s.what, why: err.Error(), output: r.output, command: strings.Join(append(s.env, command), " ")}}
	if s.needed {
		r.stopped, r.infrastructure = s.what, s.fetches
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
