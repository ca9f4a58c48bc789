package agent

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// maxLine is the maximum length of a line, in bytes. Tools report whole files.
const maxLine = 32 << 20

// lines cuts a stream into lines.
type lines struct {
	each func(line []byte)
	line []byte
	// dropped is how many bytes of the line were over the limit.
	dropped int
}

// Write takes a piece of the stream. It never fails.
func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		piece, rest, whole := bytes.Cut(p, []byte{'\n'})
		keep := min(len(piece), maxLine-len(l.line))
		l.line = append(l.line, piece[:keep]...)
		l.dropped += len(piece) - keep
		if whole {
			l.end()
		}
		p = rest
	}
	return n, nil
}

// end passes on the bytes since the last line end as a whole line.
func (l *lines) end() {
	if len(l.line) > 0 || l.dropped > 0 {
		l.each(l.line)
	}
	l.line, l.dropped = l.line[:0], 0
}

// Limits of the output that the reason of a failure quotes: the number of lines, and the length of a line in
// characters.
const (
	tailLines   = 10
	maxTailLine = 1000
)

// AppendTail appends a line to the last lines of a stream. It cuts a long line, and drops the first of too many lines.
func AppendTail(last []string, line string) []string {
	last = append(last, fermata.Truncate(line, maxTailLine))
	return last[max(0, len(last)-tailLines):]
}

// tail passes a stream on and keeps its last lines.
type tail struct {
	lines
	to   io.Writer
	kept []string
}

func newTail(to io.Writer) *tail {
	t := &tail{to: to}
	t.each = func(line []byte) {
		if text := strings.TrimSpace(PlainText(string(line))); text != "" {
			t.kept = AppendTail(t.kept, text)
		}
	}
	return t
}

func (t *tail) Write(p []byte) (int, error) {
	t.to.Write(p) //nolint:errcheck // the log never fails
	return t.lines.Write(p)
}

// lastLines returns the last lines.
func (t *tail) lastLines() string {
	t.end()
	return strings.Join(t.kept, "\n")
}

// PlainText returns text that the server accepts: UTF-8 without zero bytes, and without the escapes of terminals.
func PlainText(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	return escape().ReplaceAllString(s, "")
}

// escape matches the escape character and the control sequence that it begins (ECMA-48, section 5.4).
var escape = lazyregexp.New(`\x1b(\[[0-?]*[ -/]*[@-~]?)?`)

// OneLine returns text on one line, cut to 300 characters for a log.
func OneLine(format string, args ...any) string {
	return fermata.Truncate(strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " "), 300)
}
