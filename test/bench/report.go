package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// report is the table of results.
type report struct {
	machine []string
	short   bool
	rows    []row
	missed  int
}

// row is one measured fact with its limit.
type row struct {
	what, where, result, bar, status string
}

func (b *bench) newReport(ctx context.Context) (*report, error) {
	machine, err := b.describeMachine(ctx)
	return &report{machine: machine, short: b.short}, err
}

// judge adds a fact, and whether it is within its limit.
func (b *bench) judge(what, where, result, bar string, kept bool) {
	status := "ok"
	if !kept {
		status = "**MISSED**"
		b.report.missed++
	}
	b.report.rows = append(b.report.rows, row{what, where, result, bar, status})
	b.say("%s, %s: %s (%s): %s", what, where, result, bar, status)
}

// reportFact adds a fact that has no limit.
func (b *bench) reportFact(what, where, result string) {
	b.report.rows = append(b.report.rows, row{what, where, result, "", "reported"})
	b.say("%s, %s: %s", what, where, result)
}

const howTo = `To repeat it:

    make bench                                  # everything, about an hour
    make bench BENCH_FLAGS=-short               # a quick look, about six minutes
    make bench BENCH_FLAGS="-run latency"       # one part: throughput, workers, bare, idle, latency, waiting, streams, start, gates, agentstart, attention, channels, workflows, steps, web, big, day, workspaces

Every server is the real program on the loopback address, and shares the machine with its clients and with
PostgreSQL. Absolute numbers belong to the machine. Bars on throughput are ratios to the raw limit: a bare handler
that writes the same rows, with the same statements and grouped commits, onto the same kind of database, measured in
turns in the same run with the same client, plain net/http and bodies prepared by hand on both sides. Every
acknowledgement comes after its fsync. PostgreSQL's disk is reported: it keeps 28 bytes a row and every former version
of a row until vacuum frees them, so the bar belongs to the default database. One cycle is six requests: create, claim, finish with a question, answer,
claim again, finish.
`

// mergePage adds the rows of an existing page to those of this run. A row of this run replaces the one with the same name.
func (r *report) mergePage(page string) {
	fresh := map[[2]string]row{}
	for _, row := range r.rows {
		fresh[row.name()] = row
	}
	var rows []row
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) != 5 || cells[0] == "what" || cells[0] == "---" {
			continue
		}
		old := row{cells[0], cells[1], cells[2], strings.TrimSpace(cells[3]), cells[4]}
		if again, ok := fresh[old.name()]; ok {
			old = again
			delete(fresh, old.name())
		}
		rows = append(rows, old)
	}
	for _, row := range r.rows {
		if _, ok := fresh[row.name()]; ok {
			rows = append(rows, row)
		}
	}
	r.rows = rows
}

// name returns what a row measures, and where.
func (r row) name() [2]string { return [2]string{r.what, r.where} }

// markdown returns the page.
func (r *report) markdown(took time.Duration) string {
	var sb strings.Builder
	sb.WriteString("# Benchmarks\n\nWritten by `test/bench`; do not edit.\n\n")
	for _, line := range r.machine {
		sb.WriteString("- " + line + "\n")
	}
	fmt.Fprintf(&sb, "- the last run took %s; a part that is measured again replaces its own lines", took.Round(time.Second))
	if r.short {
		sb.WriteString("; it was a short one, with small numbers")
	}
	sb.WriteString("\n\n| what | where | result | bar | |\n| --- | --- | --- | --- | --- |\n")
	for _, row := range r.rows {
		fmt.Fprintf(&sb, "| %s | %s | %s | %s | %s |\n", row.what, row.where, row.result, row.bar, row.status)
	}
	sb.WriteString("\n" + howTo)
	return sb.String()
}
