package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// gate runs groups one after another and reports what they prove.
type gate struct {
	root         string // the folder of the module
	results      string // the folder for the events of the tests
	cache        string // the folder for data from run to run: tools, seconds, the lock
	tool         string // the script that runs gotestsum
	out          io.Writer
	groups       []*group
	selection    selection
	flags        []string // of every go test
	rowFile      string   // the file to which a line about the run is appended; "" for none
	minDiskBytes uint64   // the bytes that must be free
	// withPostgres is the script that runs a command beside a cluster.
	withPostgres string

	scratch   string // the folder for the data of tests
	processes *processes
	postgres  *postgres
}

// group is a part of the gate.
type group struct {
	name        string
	description string // a description of its content
	// always marks a group that all others need.
	always bool
	// includes chooses the packages of a group of tests. Such a group needs PostgreSQL. It is nil in other groups.
	includes chooser
	run      func(ctx context.Context) outcome
}

// outcome is the result of a group.
type outcome struct {
	passed   int // tests, or steps
	failures []failure
	repeats  []repeat
	slow     []slowTest
	// failedStep names the step that failed, if no group can follow.
	failedStep string
	// infrastructure is true if the sources did not cause the failure.
	infrastructure bool
}

// failure is a reason for red.
type failure struct {
	subject string // the test or the step
	message string // the first error
	output  string // the helpful part of its output
	command string // a command that repeats it, or ""
}

// add adds the outcome of another run.
func (o *outcome) add(other outcome) {
	o.passed += other.passed
	o.failures = append(o.failures, other.failures...)
	o.repeats = append(o.repeats, other.repeats...)
	o.slow = slowest(append(o.slow, other.slow...))
	if other.failedStep != "" {
		o.failedStep, o.infrastructure = other.failedStep, other.infrastructure
	}
}

// addLeftProcesses adds a failure for each process that was left behind.
func (o *outcome) addLeftProcesses(processes []string) {
	for _, process := range processes {
		o.failures = append(o.failures, failure{subject: "left a process behind, which is ended now", message: process})
	}
}

func (o *outcome) addFailure(format string, a ...any) {
	o.failures = append(o.failures, failure{subject: fmt.Sprintf(format, a...)})
}

func groupNames(groups []*group) []string {
	var names []string
	for _, group := range groups {
		names = append(names, group.name)
	}
	return names
}

// chosenGroups returns the groups to run, in their order.
func (g *gate) chosenGroups() []*group {
	var chosen []*group
	for _, group := range g.groups {
		if g.selection.group == "" || group.name == g.selection.group || group.always {
			chosen = append(chosen, group)
		}
	}
	return chosen
}

// run runs the groups, prints the report and returns the exit status.
func (g *gate) run(ctx context.Context) int {
	unlock, err := waitForTurn(ctx, g.cache, g.out)
	if err != nil {
		fmt.Fprintln(g.out, "gate:", err)
		return exitInfrastructure
	}
	defer unlock()
	if err := g.prepareFolders(); err != nil {
		fmt.Fprintln(g.out, "gate:", err)
		return exitInfrastructure
	}
	if g.scratch, err = makeScratch("/dev/shm"); err != nil {
		fmt.Fprintln(g.out, "gate:", err)
		return exitInfrastructure
	}
	defer func() { _ = os.RemoveAll(g.scratch) }()
	if g.processes, err = adoptOrphans(); err != nil {
		fmt.Fprintln(g.out, "gate:", err)
		return exitInfrastructure
	}
	report := g.runGroups(ctx)
	if g.postgres != nil {
		g.postgres.stop()
	}
	left := g.processes.endAll(nil)
	if ctx.Err() != nil {
		if len(report.groups) > 0 {
			g.printTable(report)
		}
		g.printFailures(report)
		fmt.Fprintf(g.out, "==> interrupted%s; the processes of the gate are ended\n", g.interruptedGroup(report))
		return exitInterrupted
	}
	if len(left) > 0 {
		report.groups[len(report.groups)-1].addLeftProcesses(left)
	}
	return g.conclude(ctx, report)
}

func (g *gate) runGroups(ctx context.Context) *report {
	chosen := g.chosenGroups()
	history := readHistory(g.cache)
	if g.selection.isPart() {
		// A part of the gate proves nothing about the whole.
		history = nil
	}
	report := &report{began: time.Now(), history: history}
	for i, group := range chosen {
		fmt.Fprintf(g.out, "==> group %d of %d: %s – %s (%s so far%s)\n", i+1, len(chosen), group.name, group.description,
			formatMinutes(time.Since(report.began)), describeLastTime(history[group.name]))
		began, machine := time.Now(), watchMachine()
		o := g.runGroup(ctx, group)
		done := groupResult{name: group.name, outcome: o, took: time.Since(began), lastTook: history[group.name]}
		done.load, done.memory = machine.stop()
		if ctx.Err() != nil {
			return report
		}
		report.groups = append(report.groups, done)
		if o.failedStep != "" {
			break
		}
	}
	return report
}

// runGroup runs one group. It starts PostgreSQL for the first group that needs it, and ends processes that were left behind.
func (g *gate) runGroup(ctx context.Context, group *group) outcome {
	if group.includes != nil && g.postgres == nil {
		postgres, err := startPostgres(ctx, g)
		if err != nil {
			return outcome{failedStep: fmt.Sprintf("PostgreSQL did not start: %v", err), infrastructure: true}
		}
		g.postgres = postgres
	}
	o := group.run(ctx)
	if ctx.Err() != nil {
		return o
	}
	o.addLeftProcesses(g.processes.endAll(g.postgres))
	return o
}

// interruptedGroup returns the end of a sentence: the group that ran when the gate was interrupted.
func (g *gate) interruptedGroup(r *report) string {
	if chosen := g.chosenGroups(); len(r.groups) < len(chosen) {
		return " in the group " + chosen[len(r.groups)].name
	}
	return ""
}

func (g *gate) prepareFolders() error {
	if err := os.RemoveAll(g.pictures()); err != nil {
		return err
	}
	for _, folder := range []string{g.cache, g.results} {
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return err
		}
	}
	return checkDisk(g.minDiskBytes, g.root, os.TempDir())
}

// commit returns the short name of the commit, with a mark if files have changed since. It returns "" outside git.
func (g *gate) commit(ctx context.Context) string {
	cmd := g.command(ctx, []string{"git", "describe", "--always", "--dirty=*", "--exclude=*"}, nil)
	var out strings.Builder
	cmd.Stdout = &out
	_ = g.processes.run(cmd)
	return strings.TrimSpace(out.String())
}
