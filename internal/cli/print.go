package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata"
)

// printer writes lines to one stream, in colour where that is a terminal.
type printer struct {
	w     io.Writer
	color bool
	width int
}

// data returns the printer of standard output.
func (s *session) data() printer { return printer{s.out, s.color && s.outTerm, s.width} }

// talk returns the printer of standard error.
func (s *session) talk() printer { return printer{s.err, s.color && s.errTerm, s.width} }

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

// text writes text of several lines, wrapped and indented. It cleans it.
func (p printer) text(indent, text string) {
	text = strings.TrimRight(clean(text), "\n")
	if text == "" {
		return
	}
	room := max(p.width-len(indent), 20)
	for line := range strings.SplitSeq(text, "\n") {
		for part := range strings.SplitSeq(ansi.Wrap(line, room, ""), "\n") {
			fmt.Fprintln(p.w, strings.TrimRight(indent+part, " "))
		}
	}
}

// json writes a document to standard output.
func (s *session) json(v any) error {
	data, err := encode(v, "  ")
	if err != nil {
		return err
	}
	_, err = s.out.Write(data)
	return err
}

// jsonLine writes a document on one line of standard output.
func (s *session) jsonLine(v any) error {
	data, err := encode(v, "")
	if err != nil {
		return err
	}
	_, err = s.out.Write(data)
	return err
}

// encode writes JSON in which no character can hide: those that a terminal
// would obey or not show stand as escapes, which mean the same.
func encode(v any, indent string) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, fermata.Internal("write JSON", err)
	}
	return escapeHidden(buf.Bytes()), nil
}
