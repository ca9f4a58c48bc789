package terminal

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Column is one column of a table.
type Column struct {
	// Head is the name of the column, which only a terminal shows.
	Head string
	// Flex reports whether the column may shrink to fit the terminal.
	Flex bool
}

// Table is a list for people and for scripts. On a terminal it is aligned and
// cut to the width. Elsewhere it is separated by tabs, complete and without a
// header.
type Table struct {
	Columns []Column
	rows    [][]string
	// Sublines are lines under the rows on a terminal. They are not shown if the
	// table is empty.
	Sublines []string
}

// Add appends a row. The cells may hold any text.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// PrintTable writes the table to standard output. For an empty table it writes
// emptyText to standard error, so that no program takes the text for a row.
func (c *Console) PrintTable(t *Table, emptyText string) {
	if len(t.rows) == 0 {
		if emptyText != "" {
			c.Stderr().Line("%s", emptyText)
		}
		return
	}
	if !c.OutTerm {
		for _, row := range t.rows {
			cells := make([]string, len(row))
			for i, cell := range row {
				cells[i] = OneLine(cell)
			}
			fmt.Fprintln(c.Out, strings.Join(cells, "\t"))
		}
		return
	}
	p := c.Stdout()
	for i, line := range t.lines(c.Width) {
		if i == 0 {
			line = p.Dim(line)
		}
		p.Line("%s", line)
		if i > 0 && i <= len(t.Sublines) {
			p.Line("%s", p.Dim(ansi.Truncate("        "+OneLine(t.Sublines[i-1]), c.Width, "…")))
		}
	}
}

// lines returns the table as lines of at most width columns.
func (t *Table) lines(width int) []string {
	rows := [][]string{make([]string, len(t.Columns))}
	for i, c := range t.Columns {
		rows[0][i] = c.Head
	}
	for _, row := range t.rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = OneLine(cell)
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
func (t *Table) widths(rows [][]string, width int) []int {
	widths := make([]int, len(t.Columns))
	total := -2
	for i := range t.Columns {
		for _, row := range rows {
			widths[i] = max(widths[i], ansi.StringWidth(row[i]))
		}
		total += widths[i] + 2
	}
	for ; total > width; total-- {
		widest := -1
		for i, c := range t.Columns {
			if c.Flex && widths[i] > 8 && (widest < 0 || widths[i] > widths[widest]) {
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
