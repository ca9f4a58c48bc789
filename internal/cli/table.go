package cli

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// column is one column of a table.
type column struct {
	head string
	// flex reports whether the column may shrink to fit the terminal.
	flex bool
}

// table is a list for people and for scripts. On a terminal it is aligned and
// cut to the width. Elsewhere it is separated by tabs, complete and without a
// header.
type table struct {
	columns []column
	rows    [][]string
	// sublines are lines under the rows on a terminal. They are not shown if the
	// table is empty.
	sublines []string
}

// add appends a row. The cells may hold any text.
func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// printTable writes the table to standard output. For an empty table it writes
// emptyText to standard error, so that no program takes the text for a row.
func (s *console) printTable(t *table, emptyText string) {
	if len(t.rows) == 0 {
		if emptyText != "" {
			s.stderr().line("%s", emptyText)
		}
		return
	}
	if !s.outTerm {
		for _, row := range t.rows {
			cells := make([]string, len(row))
			for i, cell := range row {
				cells[i] = oneLine(cell)
			}
			fmt.Fprintln(s.out, strings.Join(cells, "\t"))
		}
		return
	}
	p := s.stdout()
	for i, line := range t.lines(s.width) {
		if i == 0 {
			line = p.dim(line)
		}
		p.line("%s", line)
		if i > 0 && i <= len(t.sublines) {
			p.line("%s", p.dim(ansi.Truncate("        "+oneLine(t.sublines[i-1]), s.width, "…")))
		}
	}
}

// lines returns the table as lines of at most width columns.
func (t *table) lines(width int) []string {
	rows := [][]string{make([]string, len(t.columns))}
	for i, c := range t.columns {
		rows[0][i] = c.head
	}
	for _, row := range t.rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = oneLine(cell)
		}
		rows = append(rows, cells)
	}
	widths := t.widths(rows, width)
	lines := make([]string, 0, len(rows))
	for _, row := range rows {
		var sb strings.Builder
		for i, cell := range row {
			cell = ansi.Truncate(cell, widths[i], "…")
			sb.WriteString(cell)
			sb.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+2))
		}
		lines = append(lines, strings.TrimRight(sb.String(), " "))
	}
	return lines
}

// widths returns the width of each column. If the table is too wide, it shrinks
// the widest flexible column, one character at a time.
func (t *table) widths(rows [][]string, width int) []int {
	widths := make([]int, len(t.columns))
	total := -2
	for i := range t.columns {
		for _, row := range rows {
			widths[i] = max(widths[i], ansi.StringWidth(row[i]))
		}
		total += widths[i] + 2
	}
	for ; total > width; total-- {
		widest := -1
		for i, c := range t.columns {
			if c.flex && widths[i] > 8 && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}
