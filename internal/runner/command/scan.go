package command

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/fermata-hq/fermata"
)

// longestLine is where lines are cut, in bytes.
const longestLine = 1 << 20

// tailLines is how many of the last lines are remembered.
const tailLines = 10

// tailLine is how much of each of these is remembered, in bytes.
const tailLine = 1000

// progressMark begins a line that reports progress.
const progressMark = "::progress "

// scanner reads the lines of a stream that passes by. It keeps the last line
// that is not empty whole, and the beginnings of a few before it.
type scanner struct {
	progress func(fermata.Progress)
	line     []byte
	last     string
	tail     []string
}

func newScanner(progress func(fermata.Progress)) *scanner { return &scanner{progress: progress} }

// Write takes a piece of the stream. It never fails.
func (s *scanner) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		piece, rest, whole := bytes.Cut(p, []byte{'\n'})
		if room := longestLine - len(s.line); len(piece) >= room {
			piece, rest, whole = p[:room], p[room:], true
		}
		s.line = append(s.line, piece...)
		if whole {
			s.end()
		}
		p = rest
	}
	return n, nil
}

// end takes what was read as a whole line.
func (s *scanner) end() {
	line := strings.TrimSpace(validText(string(s.line)))
	s.line = s.line[:0]
	switch {
	case line == "":
	case s.progress != nil && strings.HasPrefix(line, progressMark):
		s.report(strings.TrimSpace(strings.TrimPrefix(line, progressMark)))
	default:
		s.last = line
		s.tail = append(s.tail, clip(line, tailLine))
		s.tail = s.tail[max(0, len(s.tail)-tailLines):]
	}
}

// report passes a progress line on. One that is no JSON object of a progress is taken
// as text.
func (s *scanner) report(text string) {
	var p fermata.Progress
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &p) != nil || p.Message == "" {
		p = fermata.Progress{Message: text}
	}
	p.Token = 0
	s.progress(p)
}

// validText replaces what is no UTF-8, and zero bytes.
func validText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// clip cuts text to n characters.
func clip(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}
