package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Printer writes lines to one stream. It uses colour if the stream is a terminal.
type Printer struct {
	Out io.Writer
	// Color reports whether the printer uses colours. Width is the number of columns to wrap at.
	Color bool
	Width int
	// IsTerm reports whether a terminal shows the lines. A terminal continues a long line at its left edge, where the
	// program's own text stands.
	IsTerm bool
	// ExactBytes reports whether actions are shown as exact bytes, not in parts.
	ExactBytes bool
}

// Stdout returns the printer of standard output.
func (c *Console) Stdout() Printer {
	return Printer{Out: c.Out, Color: c.Color && c.OutTerm, Width: c.Width, IsTerm: c.OutTerm}
}

// Stderr returns the printer of standard error.
func (c *Console) Stderr() Printer {
	return Printer{Out: c.Err, Color: c.Color && c.ErrTerm, Width: c.Width, IsTerm: c.ErrTerm}
}

// Line writes one line. The caller cleans the arguments.
func (p Printer) Line(format string, args ...any) { fmt.Fprintf(p.Out, format+"\n", args...) }

// Paint returns a text with an ANSI code, or the bare text if the printer has no colour.
func (p Printer) Paint(code, text string) string {
	if !p.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold returns a text in bold.
func (p Printer) Bold(text string) string { return p.Paint("1", text) }

// Dim returns a text in a fainter colour.
func (p Printer) Dim(text string) string { return p.Paint("2", text) }

// Red returns a text in red.
func (p Printer) Red(text string) string { return p.Paint("31", text) }

// Green returns a text in green.
func (p Printer) Green(text string) string { return p.Paint("32", text) }

// Yellow returns a text in yellow.
func (p Printer) Yellow(text string) string { return p.Paint("33", text) }

// PrintText writes wrapped text of several lines. It cleans the text.
func (p Printer) PrintText(text string) {
	text = strings.TrimRight(Clean(text), "\n")
	if text == "" {
		return
	}
	room := max(p.Width, 20)
	for line := range strings.SplitSeq(text, "\n") {
		for part := range strings.SplitSeq(ansi.Wrap(line, room, ""), "\n") {
			fmt.Fprintln(p.Out, strings.TrimRight(part, " "))
		}
	}
}

// PrintWhole writes text without wrapping, so that a program can read it. On a terminal it wraps the text. It cleans
// the text.
func (p Printer) PrintWhole(text string) {
	if p.IsTerm {
		p.PrintText(text)
		return
	}
	p.Line("%s", strings.TrimRight(Clean(text), "\n"))
}

// Bars stand before text of other authors, so that no such text looks like a line of the program. BarStart begins
// a line, and BarContinued continues it.
const (
	BarStart     = "  │ "
	BarContinued = "  ┊ "
)

// PrintQuoted writes prose of other authors behind a bar, wrapped at words. It cleans the text.
func (p Printer) PrintQuoted(indent, text string) {
	text = strings.TrimRight(Clean(text), "\n")
	if text == "" {
		return
	}
	room := max(p.Width-len(indent)-ansi.StringWidth(BarStart), 16)
	for line := range strings.SplitSeq(expandTabs(text), "\n") {
		for part := range strings.SplitSeq(ansi.Wrap(line, room, ""), "\n") {
			fmt.Fprintln(p.Out, strings.TrimRight(indent+BarStart+part, " "))
		}
	}
}

// PrintBarred writes lines that must not change behind a bar. On a terminal a long line continues below, behind a bar of
// its own. The text must be clean.
func (p Printer) PrintBarred(text string) {
	room := max(p.Width-ansi.StringWidth(BarStart), 16)
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if !p.IsTerm {
			p.Line("%s", BarStart+line)
			continue
		}
		for i, part := range strings.Split(ansi.Hardwrap(expandTabs(line), room, true), "\n") {
			if i == 0 {
				p.Line("%s", BarStart+part)
			} else {
				p.Line("%s", BarContinued+part)
			}
		}
	}
}

// PrintLabelled writes text of other authors after a label. If the text fits, it stands on the same line, or else
// behind a bar below.
func (p Printer) PrintLabelled(label, text string) {
	text = strings.TrimRight(text, "\n")
	line := Clean(text)
	if label != "" && !strings.ContainsAny(line, "\n\t") && ansi.StringWidth(label+line)+1 < p.Width {
		p.Line("%s %s", label, line)
		return
	}
	if label != "" {
		p.Line("%s", label)
	}
	p.PrintQuoted("", text)
}

// PrintTitle writes a headline of another author. A long headline continues behind a bar.
func (p Printer) PrintTitle(text string) {
	lines := []string{OneLine(text)}
	if p.IsTerm {
		lines = strings.Split(ansi.Wrap(lines[0], max(p.Width-ansi.StringWidth(BarStart), 16), ""), "\n")
	}
	for i, line := range lines {
		if i > 0 {
			p.Line("%s", BarStart+p.Bold(line))
		} else {
			p.Line("%s", p.Bold(line))
		}
	}
}
