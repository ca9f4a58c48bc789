package agent_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fermata-hq/fermata/internal/agent"
)

// FuzzPlain checks that the cleaned text is accepted by the server and has no escapes that a terminal obeys.
func FuzzPlain(f *testing.F) {
	for _, s := range []string{
		"\x1b[31mred\x1b[0m", "\x1b]8;;https://evil.test\x07here", "\x1b\x1b[m[31m", "\x1b[é", "\x1b[", "\x1b", "\x1b[1;2$r", "\x1b[?25l", "a\x00b\xff",
		strings.Repeat("\x1b[m", 1000),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := agent.PlainText(s); !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\x1b") {
			t.Errorf("%q became %q", s, got)
		}
	})
}

// An agent may write a line that consists only of escapes. The time to clean it grows with its length, not with the
// square of its length. With the square, this test would not end.
func TestALineOfEscapesIsCleaned(t *testing.T) {
	t.Parallel()
	if got := agent.PlainText(strings.Repeat("\x1b[0m", 4<<20) + "end"); got != "end" {
		t.Errorf("it became %d bytes", len(got))
	}
}
