package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// suite is one call of go test for some packages.
type suite struct {
	name      string // of the file with its events
	packages  chooser
	flags     []string
	cgo       bool
	noRepeats bool // no test is repeated
	// limit is how long the tests of one package may take. A package that exceeds it is red.
	limit time.Duration
}

// suites returns the function that runs a group of tests.
func (g *gate) suites(group string, list ...suite) func(context.Context) outcome {
	return func(ctx context.Context) outcome {
		var o outcome
		module, err := g.goList(ctx, "-m")
		if err != nil {
			o.addFailure("%v", err)
			return o
		}
		from := source{group: group, module: module[0]}
		ran := false
		for _, s := range list {
			packages, err := g.choosePackages(ctx, s, from.module)
			if err != nil {
				o.addFailure("%v", err)
				continue
			}
			if len(packages) == 0 {
				continue
			}
			ran = true
			g.runSuite(ctx, s, packages, from, &o)
		}
		if ctx.Err() == nil && (!ran || o.passed+len(o.failures)+len(o.repeats) == 0) {
			o.addFailure("%s", g.selection.nothingRunMessage())
		}
		return o
	}
}

// choosePackages returns the selected packages of the suite, the slow ones first.
func (g *gate) choosePackages(ctx context.Context, s suite, module string) ([]string, error) {
	patterns := g.selection.packages
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	all, err := g.goList(ctx, patterns...)
	if err != nil {
		return nil, err
	}
	folder := func(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, module), "/") }
	chosen := slices.DeleteFunc(all, func(path string) bool { return !s.packages(folder(path)) })
	rank := func(path string) int {
		if at := slices.Index(slowPackages, folder(path)); at >= 0 {
			return at
		}
		return len(slowPackages)
	}
	slices.SortStableFunc(chosen, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return chosen, nil
}

func (g *gate) goList(ctx context.Context, args ...string) ([]string, error) {
	cmd := g.command(ctx, append([]string{"go", "list"}, args...), nil)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := g.processes.run(cmd); err != nil {
		return nil, fmt.Errorf("go list %s: %w\n%s", strings.Join(args, " "), err, &complaint)
	}
	return strings.Fields(out.String()), nil
}

// runSuite tests the packages with gotestsum, which repeats failed tests, and judges its output.
func (g *gate) runSuite(ctx context.Context, s suite, packages []string, from source, o *outcome) {
	events := filepath.Join(g.results, s.name+".json")
	if err := os.Remove(events); err != nil && !errors.Is(err, os.ErrNotExist) {
		o.addFailure("remove the last events: %v", err)
		return
	}
	args := []string{g.tool, "gotestsum", "--format=pkgname-and-test-fails", "--format-hide-empty-pkg", "--no-color",
		"--hide-summary=failed", "--jsonfile=" + events, "--packages=" + strings.Join(packages, " ")}
	if !s.noRepeats {
		args = append(args, "--rerun-fails=1", "--rerun-fails-max-failures=5", "--rerun-fails-abort-on-data-race")
	}
	args = append(args, "--", "-vet=off", "-count=1", "-trimpath", "-timeout="+s.limit.String())
	args = append(append(args, s.flags...), g.flags...)
	if g.selection.tests != "" {
		args = append(args, "-run="+g.selection.tests)
	}
	cgo := "CGO_ENABLED=0"
	if s.cgo {
		cgo = "CGO_ENABLED=1"
	}
	cmd := g.command(ctx, args, append(g.postgres.env(), cgo, "FERMATA_TEST_BINARY="+g.binary(), "FERMATA_TEST_PICTURES="+g.pictures()))
	cmd.Stdout, cmd.Stderr = g.out, g.out
	result := g.processes.run(cmd)
	if ctx.Err() != nil {
		return
	}
	g.readEvents(events, from, result, o)
}

// readEvents judges the events and adds the result to the outcome. If gotestsum failed without a failed test, the outcome is
// red.
func (g *gate) readEvents(events string, from source, result error, o *outcome) {
	file, err := os.Open(events)
	if err != nil {
		o.addFailure("no events of the tests: %v (%v)", err, result)
		return
	}
	defer func() { _ = file.Close() }()
	v, err := judge(file, from)
	if err != nil {
		o.addFailure("read the events of the tests: %v", err)
		return
	}
	if result != nil && len(v.failures) == 0 {
		o.addFailure("gotestsum: %v, though no test failed", result)
	}
	o.add(v)
}

// rareCollection returns environment variables that make programs in Go and JavaScript collect garbage less often than
// by default. They take more memory and less processor time: the start of the program takes a third less.
func rareCollection() []string {
	return []string{"GOGC=400", "GOMEMLIMIT=3GiB", "NODE_OPTIONS=--max-semi-space-size=64"}
}

// command returns a command with a process group of its own. Ctrl-C in a terminal does not reach the group. An
// interrupted gate ends it.
func (g *gate) command(ctx context.Context, args, env []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = g.root
	// If two variables have the same name, the last one counts.
	cmd.Env = slices.Concat(rareCollection(), os.Environ(), []string{"TMPDIR=" + g.scratch}, env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}
