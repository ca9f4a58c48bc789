package cli

import (
	"os"
	"strings"

	"github.com/fermata-hq/fermata"
)

// marks are the symbols of drawings. Each stands beside the word for it: no
// symbol and no colour says anything alone.
type marks struct {
	states             map[fermata.TaskState]string
	branch, last, down string
	waits, asks        string
}

var symbols = marks{
	states: map[fermata.TaskState]string{
		fermata.TaskOpen: "○", fermata.TaskBlocked: "⊘", fermata.TaskDeferred: "◷", fermata.TaskInProgress: "▶",
		fermata.TaskAwaitingInput: "?", fermata.TaskAwaitingApproval: "!", fermata.TaskInputReceived: "◆",
		fermata.TaskDone: "✓", fermata.TaskFailed: "✗", fermata.TaskCancelled: "⊗", fermata.TaskSkipped: "»",
	},
	branch: "├─ ", last: "└─ ", down: "│ ", waits: "⊘", asks: "?",
}

var letters = marks{
	states: map[fermata.TaskState]string{
		fermata.TaskOpen: "[ ]", fermata.TaskBlocked: "[#]", fermata.TaskDeferred: "[z]", fermata.TaskInProgress: "[>]",
		fermata.TaskAwaitingInput: "[?]", fermata.TaskAwaitingApproval: "[!]", fermata.TaskInputReceived: "[*]",
		fermata.TaskDone: "[v]", fermata.TaskFailed: "[x]", fermata.TaskCancelled: "[-]", fermata.TaskSkipped: "[/]",
	},
	branch: "|- ", last: "`- ", down: "| ", waits: "#", asks: "?",
}

// marks returns the symbols that the output can show.
func (s *session) marks(plain bool) marks {
	if plain || os.Getenv("TERM") == "dumb" || s.outTerm && !utf8Locale() {
		return letters
	}
	return symbols
}

// state returns the symbol of a state.
func (m marks) state(state fermata.TaskState) string { return m.states[state] }

// utf8Locale reports whether the locale has UTF-8, or does not say.
func utf8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}
