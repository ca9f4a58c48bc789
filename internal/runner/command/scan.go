package command

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// maxLine is the length at which lines are cut, in bytes.
const maxLine = 1 << 20

// How much of the end of a program's output is kept, in bytes. maxOutput goes into the result of every program, and
// maxJSONOutput is searched for the JSON of a program that must print some.
const (
	maxOutput     = 64 << 10
	maxJSONOutput = 1 << 20
)

// progressMark begins a line that reports progress.
const progressMark = "::progress "

// scanner reads the lines of a stream. It keeps the last non-empty line, and the beginnings of a few lines before it.
// It also keeps the end of the whole output as it is, without reports of progress.
type scanner struct {
	progress func(fermata.Progress)
	line     []byte
	last     string
	tail     []string
	output   []byte
	// keep is how much of the output is kept, in bytes: at least maxOutput.
	keep int
	// written counts the bytes of the output, including those that were dropped.
	written int
}

func newScanner(progress func(fermata.Progress), keep int) *scanner {
	return &scanner{progress: progress, keep: keep}
}

// Write takes a piece of the stream. It never fails.
func (s *scanner) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		piece, rest, whole := bytes.Cut(p, []byte{'\n'})
		if room := maxLine - len(s.line); len(piece) >= room {
			piece, rest, whole = p[:room], p[room:], true
		}
		s.line = append(s.line, piece...)
		if whole {
			s.takeLine("\n")
		}
		p = rest
	}
	return n, nil
}

// end takes the rest of the stream as its last line.
func (s *scanner) end() {
	if len(s.line) > 0 {
		s.takeLine("")
	}
}

// takeLine handles the collected line, with its line end.
func (s *scanner) takeLine(end string) {
	raw := validText(string(s.line))
	line := strings.TrimSpace(raw)
	s.line = s.line[:0]
	if s.progress == nil || !strings.HasPrefix(line, progressMark) {
		s.addOutput(raw + end)
	}
	switch {
	case line == "":
	case s.progress != nil && strings.HasPrefix(line, progressMark):
		s.report(strings.TrimSpace(strings.TrimPrefix(line, progressMark)))
	default:
		s.last = line
		s.tail = agent.AppendTail(s.tail, line)
	}
}

// addOutput adds to the output, and drops the beginning of the output when it gets too long.
func (s *scanner) addOutput(text string) {
	s.written += len(text)
	s.output = append(s.output, text...)
	if len(s.output) > 2*s.keep {
		s.output = append(s.output[:0], s.output[len(s.output)-s.keep:]...)
	}
}

// outputEnd returns the end of the output, at most size bytes.
func (s *scanner) outputEnd(size int) string {
	return strings.ToValidUTF8(string(s.output[max(0, len(s.output)-size):]), "")
}

// report passes a progress line on. A line that is no JSON is the message. JSON that is no valid progress is the
// message too, followed by its error.
func (s *scanner) report(text string) {
	p := fermata.Progress{Message: text}
	if raw := []byte(text); strings.HasPrefix(text, "{") && json.Valid(raw) {
		var parsed fermata.Progress
		err := strictjson.Unmarshal(raw, &parsed)
		switch {
		case err != nil:
			p.Message += " (" + err.Error() + ")"
		case parsed.Message == "":
			p.Message += " (message: is missing)"
		default:
			p = parsed
		}
	}
	p.Token = 0
	s.progress(p)
}

// validText replaces invalid UTF-8 and zero bytes.
func validText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
