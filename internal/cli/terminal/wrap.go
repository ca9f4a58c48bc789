package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// WrapLines breaks lines that are too long for the screen. The rest of such a line stands behind a bar.
func WrapLines(lines []string, width int) []string {
	var list []string
	for _, line := range lines {
		first, rest, more := strings.Cut(ansi.Hardwrap(line, width, true), "\n")
		list = append(list, first)
		if !more {
			continue
		}
		rest = ansi.Hardwrap(strings.ReplaceAll(rest, "\n", ""), max(width-ansi.StringWidth(BarContinued), 8), true)
		for part := range strings.SplitSeq(rest, "\n") {
			list = append(list, BarContinued+part)
		}
	}
	return list
}

// expandTabs replaces each tab with the spaces up to the next tab stop. There is one every 8 columns.
func expandTabs(text string) string {
	if !strings.Contains(text, "\t") {
		return text
	}
	var sb strings.Builder
	column := 0
	for _, r := range text {
		switch r {
		case '\t':
			n := 8 - column%8
			sb.WriteString(strings.Repeat(" ", n))
			column += n
		case '\n':
			sb.WriteRune(r)
			column = 0
		default:
			sb.WriteRune(r)
			column += ansi.StringWidth(string(r))
		}
	}
	return sb.String()
}

// Fit cuts a line to the width of the terminal.
func (c *Console) Fit(line string) string {
	if !c.OutTerm {
		return line
	}
	return strings.TrimRight(ansi.Truncate(line, c.Width, "…"), " ")
}
