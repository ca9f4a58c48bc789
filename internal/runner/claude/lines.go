package claude

import (
	"bytes"
	"io"
)

// longestLine is how long a line of events may be, in bytes: tools report
// whole files. What is longer is no event, and passed on as it comes.
const longestLine = 32 << 20

// lines cuts a stream into lines. What cannot be an event, because it does not
// begin like one, goes to rest at once.
type lines struct {
	each func(line []byte)
	rest io.Writer
	line []byte
	// raw says that the current line is no event.
	raw bool
}

// Write takes a piece of the stream. It never fails.
func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		piece, after, whole := bytes.Cut(p, []byte{'\n'})
		l.take(piece)
		if whole {
			l.end()
		}
		p = after
	}
	return n, nil
}

func (l *lines) take(piece []byte) {
	if l.raw || len(piece) == 0 {
		l.pass(piece)
		return
	}
	l.line = append(l.line, piece...)
	if l.line[0] != '{' || len(l.line) > longestLine {
		l.raw = true
		l.pass(l.line)
		l.line = l.line[:0]
	}
}

// end takes what was read as a whole line.
func (l *lines) end() {
	switch {
	case l.raw:
		l.pass([]byte{'\n'})
	case len(l.line) > 0:
		l.each(l.line)
	}
	l.line, l.raw = l.line[:0], false
}

func (l *lines) pass(p []byte) {
	l.rest.Write(p) //nolint:errcheck // the log of a run never fails
}

// tail passes a stream on and remembers its end.
type tail struct {
	to   io.Writer
	last []byte
}

// tailSize is how much is remembered, in bytes.
const tailSize = 2000

// Write takes a piece of the stream. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.last = append(t.last, p...)
	t.last = append([]byte(nil), t.last[max(0, len(t.last)-tailSize):]...)
	return t.to.Write(p)
}
