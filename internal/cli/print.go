package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// printer writes lines to one stream. It uses colour if the stream is a terminal.
type printer struct {
	w     io.Writer
	color bool
	width int
	// term reports whether a terminal shows the lines. A terminal continues a long line at its left edge, where the
	// program's own text stands.
	term bool
	// exactBytes reports whether actions are shown as exact bytes, not in parts.
	exactBytes bool
}

// stdout returns the printer of standard output.
func (s *console) stdout() printer {
	return printer{w: s.out, color: s.color && s.outTerm, width: s.width, term: s.outTerm}
}

// stderr returns the printer of standard error.
func (s *console) stderr() printer {
	return printer{w: s.errOut, color: s.color && s.errTerm, width: s.width, term: s.errTerm}
}

func (p printer) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

func (p printer) paint(code, text string) string {
	if !p.color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p printer) bold(text string) string   { return p.paint("1", text) }
func (p printer) dim(text string) string    { return p.paint("2", text) }
func (p printer) red(text string) string    { return p.paint("31", text) }
func (p printer) green(text string) string  { return p.paint("32", text) }
func (p printer) yellow(text string) string { return p.paint("33", text) }

// printText writes wrapped text of several lines. It cleans the text.
func (p printer) printText(text string) {
	text = strings.TrimRight(clean(text), "\n")
	if text == "" {
		return
	}
	room := max(p.width, 20)
	for line := range strings.SplitSeq(text, "\n") {
		for part := range strings.SplitSeq(ansi.Wrap(line, room, ""), "\n") {
			fmt.Fprintln(p.w, strings.TrimRight(part, " "))
		}
	}
}

// printWhole writes text without wrapping, so that a program can read it. On a terminal it wraps the text. It cleans
// the text.
func (p printer) printWhole(text string) {
	if p.term {
		p.printText(text)
		return
	}
	p.line("%s", strings.TrimRight(clean(text), "\n"))
}

// Bars stand before text of other authors, so that no such text looks like a line of the program. barStart begins
// a line, and barContinued continues it.
const (
	barStart     = "  │ "
	barContinued = "  ┊ "
)

// printQuoted writes prose of other authors behind a bar, wrapped at words. It cleans the text.
func (p printer) printQuoted(indent, text string) {
	text = strings.TrimRight(clean(text), "\n")
	if text == "" {
		return
	}
	room := max(p.width-len(indent)-ansi.StringWidth(barStart), 16)
	for line := range strings.SplitSeq(expandTabs(text), "\n") {
		for part := range strings.SplitSeq(ansi.Wrap(line, room, ""), "\n") {
			fmt.Fprintln(p.w, strings.TrimRight(indent+barStart+part, " "))
		}
	}
}

// printBarred writes lines that must not change behind a bar. On a terminal a long line continues below, behind a bar of
// its own. The text must be clean.
func (p printer) printBarred(text string) {
	room := max(p.width-ansi.StringWidth(barStart), 16)
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if !p.term {
			p.line("%s", barStart+line)
			continue
		}
		for i, part := range strings.Split(ansi.Hardwrap(expandTabs(line), room, true), "\n") {
			if i == 0 {
				p.line("%s", barStart+part)
			} else {
				p.line("%s", barContinued+part)
			}
		}
	}
}

// printLabelled writes text of other authors after a label. If the text fits, it stands on the same line, or else
// behind a bar below.
func (p printer) printLabelled(label, text string) {
	text = strings.TrimRight(text, "\n")
	line := clean(text)
	if label != "" && !strings.ContainsAny(line, "\n\t") && ansi.StringWidth(label+line)+1 < p.width {
		p.line("%s %s", label, line)
		return
	}
	if label != "" {
		p.line("%s", label)
	}
	p.printQuoted("", text)
}

// printTitle writes a headline of another author. A long headline continues behind a bar.
func (p printer) printTitle(text string) {
	lines := []string{oneLine(text)}
	if p.term {
		lines = strings.Split(ansi.Wrap(lines[0], max(p.width-ansi.StringWidth(barStart), 16), ""), "\n")
	}
	for i, line := range lines {
		if i > 0 {
			p.line("%s", barStart+p.bold(line))
		} else {
			p.line("%s", p.bold(line))
		}
	}
}

// wrapLines breaks lines that are too long for the screen. The rest of such a line stands behind a bar.
func wrapLines(lines []string, width int) []string {
	var list []string
	for _, line := range lines {
		first, rest, more := strings.Cut(ansi.Hardwrap(line, width, true), "\n")
		list = append(list, first)
		if !more {
			continue
		}
		rest = ansi.Hardwrap(strings.ReplaceAll(rest, "\n", ""), max(width-ansi.StringWidth(barContinued), 8), true)
		for part := range strings.SplitSeq(rest, "\n") {
			list = append(list, barContinued+part)
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

// writeJSON writes a document to standard output.
func (s *console) writeJSON(v any) error {
	data, err := encodeJSON(v, "  ")
	if err != nil {
		return err
	}
	_, err = s.out.Write(data)
	return err
}

// writeJSONLine writes a document on one line of standard output.
func (s *console) writeJSONLine(v any) error {
	data, err := encodeJSON(v, "")
	if err != nil {
		return err
	}
	_, err = s.out.Write(data)
	return err
}

// encodeJSON returns JSON in which no character is hidden. Characters that a terminal would obey or not show are
// escaped, which means the same in JSON.
func encodeJSON(v any, indent string) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, fermata.Internal("write JSON", err)
	}
	return notice.EscapeHidden(buf.Bytes()), nil
}
