package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// groupResult is a group that ran.
type groupResult struct {
	outcome

	name     string
	took     time.Duration
	lastTook time.Duration // how long it took before; 0 if unknown
	load     float64       // busy cores on average
	memory   uint64        // the most memory in use at once, in bytes
}

// report holds the outcomes of the groups.
type report struct {
	began   time.Time
	history history
	groups  []groupResult
}

// conclude prints the report, stores the durations for the next run and returns the exit status.
func (g *gate) conclude(ctx context.Context, r *report) int {
	g.printTable(r)
	g.printSlowest(r)
	g.printFailures(r)
	g.printRepeats(r)
	if err := g.saveHistory(r); err != nil {
		fmt.Fprintln(g.out, "gate: keep the seconds of the groups:", err)
	}
	text, status := r.conclusion()
	fmt.Fprintf(g.out, "==> %s\n", text)
	if g.rowFile != "" {
		if err := r.appendRow(g.commit(ctx), g.rowFile, text); err != nil {
			fmt.Fprintln(g.out, "gate: append a line to the table of runs:", err)
			return exitRed
		}
	}
	return status
}

func (g *gate) printTable(r *report) {
	fmt.Fprintf(g.out, "==> the groups of the gate\n    %-10s %8s %8s %6s %8s %6s %6s %9s\n",
		"group", "seconds", "before", "cores", "memory", "ok", "failed", "run again")
	for _, f := range r.groups {
		before := "–"
		if f.lastTook > 0 {
			before = fmt.Sprintf("%.0f", f.lastTook.Seconds())
		}
		fmt.Fprintf(g.out, "    %-10s %8.0f %8s %6.1f %5.1f GB %6d %6d %9d\n", f.name, f.took.Seconds(), before, f.load,
			float64(f.memory)/1e9, f.passed, len(f.failures), len(f.repeats))
	}
}

func (g *gate) printSlowest(r *report) {
	var all []slowTest
	for _, f := range r.groups {
		all = append(all, f.slow...)
	}
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(g.out, "==> the slowest tests and steps")
	for _, test := range slowest(all) {
		fmt.Fprintf(g.out, "    %6.1f s  %s\n", test.took.Seconds(), test.name)
	}
}

func (g *gate) printFailures(r *report) {
	for _, f := range r.groups {
		for _, failure := range f.failures {
			fmt.Fprintf(g.out, "==> red: %s: %s\n", f.name, failure.subject)
			for _, line := range []string{shorten(failure.message, 200), lastLines(failure.output, 60)} {
				if line != "" {
					fmt.Fprintln(g.out, indent(line))
				}
			}
			if failure.command != "" {
				fmt.Fprintln(g.out, "    once more:", failure.command)
			}
		}
	}
	if err := checkDisk(100<<20, g.root, os.TempDir()); err != nil {
		fmt.Fprintln(g.out, "==> red because of the disk, perhaps:", err)
	}
}

// printRepeats prints the tests that passed only when repeated, and whether they are known flakes.
func (g *gate) printRepeats(r *report) {
	known, _ := os.ReadFile(filepath.Join(g.root, "test", "flakes.md"))
	for _, f := range r.groups {
		for _, repeat := range f.repeats {
			fmt.Fprintf(g.out, "==> passed only when repeated: %s.%s\n", repeat.pkg, repeat.test)
			if repeat.isIn(string(known)) {
				fmt.Fprintln(g.out, "    test/flakes.md knows it: its cause was not fixed, or there is another")
			} else {
				fmt.Fprintln(g.out, "    its cause is the next thing to fix; write it into test/flakes.md")
			}
			fmt.Fprintf(g.out, "    when it failed:\n%s\n    when it passed:\n%s\n", indent(repeat.failedOutput), indent(repeat.passedOutput))
		}
	}
}

// saveHistory stores how long the groups took, unless only a part of one ran.
func (g *gate) saveHistory(r *report) error {
	if g.selection.isPart() {
		return nil
	}
	for _, f := range r.groups {
		if f.failedStep == "" {
			r.history[f.name] = f.took.Round(time.Second)
		}
	}
	return r.history.write(g.cache)
}

// conclusion returns the last line of the gate and its exit status.
func (r *report) conclusion() (string, int) {
	failed, repeated := 0, 0
	for _, f := range r.groups {
		if f.infrastructure {
			return fmt.Sprintf("infrastructure: %s could not be had, and nothing is proven", f.failedStep), exitInfrastructure
		}
		failed += len(f.failures)
		repeated += len(f.repeats)
	}
	took := formatMinutes(time.Since(r.began))
	switch {
	case failed > 0:
		return fmt.Sprintf("red: %d failed (%s)", failed, took), exitRed
	case repeated > 0:
		return fmt.Sprintf("green, but %d passed only when repeated (%s)", repeated, took), exitGreen
	}
	return fmt.Sprintf("green (%s)", took), exitGreen
}

// appendRow appends the run to a table in Markdown: the time, the commit, what ran beside it, the verdict, the seconds
// of the run and of each group, and the repeated tests.
func (r *report) appendRow(commit, path, conclusion string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644) //nolint:gosec // a table for everybody
	if err != nil {
		return err
	}
	word, _, _ := strings.Cut(conclusion, " (")
	var seconds, repeated []string
	for _, f := range r.groups {
		seconds = append(seconds, fmt.Sprintf("%s %.0f", f.name, f.took.Seconds()))
		for _, repeat := range f.repeats {
			repeated = append(repeated, repeat.test)
		}
	}
	_, err = fmt.Fprintf(file, "| %s | %s | %s | %s | %.0f | %s | %s |\n", time.Now().UTC().Format("2006-01-02 15:04"), commit, os.Getenv("GATE_BESIDE"), word,
		time.Since(r.began).Seconds(), strings.Join(seconds, ", "), strings.Join(repeated, ", "))
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}

func formatMinutes(d time.Duration) string {
	return fmt.Sprintf("%d:%02d min", int(d.Minutes()), int(d.Seconds())%60)
}

// describeLastTime returns how long a group took before, as text.
func describeLastTime(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return "; last time it took " + formatMinutes(d)
}

func indent(text string) string {
	return "      " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n      ")
}

// shorten cuts a line that is longer than maxBytes.
func shorten(line string, maxBytes int) string {
	if len(line) <= maxBytes {
		return line
	}
	return strings.ToValidUTF8(line[:maxBytes], "") + " …"
}

// lastLines returns the last n lines of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
