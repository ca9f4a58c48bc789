package acp

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/fermata-hq/fermata/internal/agent"
)

// transcript writes the agent's messages, which come in pieces, and lines about other events into the log of a run.
type transcript struct {
	to io.Writer
	mu sync.Mutex
	// voice is the prefix of the current line's text. inLine is true if the line has begun.
	voice  string
	inLine bool
}

// say adds a piece of text. Another voice begins a new line.
func (t *transcript) say(voice, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text == "" {
		return
	}
	if t.voice != voice {
		t.newLine()
		io.WriteString(t.to, voice) //nolint:errcheck // the log never fails
	}
	t.voice = voice
	io.WriteString(t.to, agent.PlainText(text)) //nolint:errcheck // the log never fails
	t.inLine = !strings.HasSuffix(text, "\n")
}

// line adds a line of its own.
func (t *transcript) line(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.newLine()
	fmt.Fprintf(t.to, "%s\n", agent.PlainText(fmt.Sprintf(format, args...)))
}

// flush ends the line.
func (t *transcript) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.newLine()
}

func (t *transcript) newLine() {
	if t.inLine {
		io.WriteString(t.to, "\n") //nolint:errcheck // the log never fails
	}
	t.inLine, t.voice = false, "\x00"
}
