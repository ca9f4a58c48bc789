package cli

import (
	"os"
	"strings"

	"github.com/fermata-hq/fermata"
)

// marks are the symbols of drawings. Each symbol stands beside a word, because
// no symbol or colour may carry a meaning alone.
type marks struct {
	states             map[fermata.TaskState]string
	branch, last, down string
	waits, asks        string
	// steps maps the states of steps to symbols. notStarted is the symbol of
	// a step that has not begun.
	steps      map[fermata.StepState]string
	notStarted string
	// For drawings of steps: their beginning and end, the kinds of steps, and
	// the arrows forward and back.
	begin, end, box, ask, child, jump, back string
}

var symbols = marks{
	states: map[fermata.TaskState]string{
		fermata.TaskOpen: "○", fermata.TaskBlocked: "⊘", fermata.TaskDeferred: "◷", fermata.TaskInProgress: "▶",
		fermata.TaskAwaitingInput: "?", fermata.TaskAwaitingApproval: "!", fermata.TaskInputReceived: "◆",
		fermata.TaskDone: "✓", fermata.TaskFailed: "✗", fermata.TaskCancelled: "⊗", fermata.TaskSkipped: "»",
	},
	branch: "├─ ", last: "└─ ", down: "│ ", waits: "⊘", asks: "?",
	steps: map[fermata.StepState]string{
		fermata.StepRunning: "▶", fermata.StepWaiting: "◷", fermata.StepDone: "✓", fermata.StepSkipped: "»", fermata.StepFailed: "✗",
		fermata.StepRejected: "⊝", fermata.StepCancelled: "⊗",
	},
	notStarted: "○", begin: "○", end: "●", box: "■", ask: "?", child: "▤", jump: "→", back: "↺",
}

var letters = marks{
	states: map[fermata.TaskState]string{
		fermata.TaskOpen: "[ ]", fermata.TaskBlocked: "[#]", fermata.TaskDeferred: "[z]", fermata.TaskInProgress: "[>]",
		fermata.TaskAwaitingInput: "[?]", fermata.TaskAwaitingApproval: "[!]", fermata.TaskInputReceived: "[*]",
		fermata.TaskDone: "[v]", fermata.TaskFailed: "[x]", fermata.TaskCancelled: "[-]", fermata.TaskSkipped: "[/]",
	},
	branch: "|- ", last: "`- ", down: "| ", waits: "#", asks: "?",
	steps: map[fermata.StepState]string{
		fermata.StepRunning: "[>]", fermata.StepWaiting: "[z]", fermata.StepDone: "[v]", fermata.StepSkipped: "[/]", fermata.StepFailed: "[x]",
		fermata.StepRejected: "[n]", fermata.StepCancelled: "[-]",
	},
	notStarted: "[ ]", begin: "(o)", end: "(x)", box: "[ ]", ask: "[?]", child: "[+]", jump: "->", back: "<-",
}

// marks returns the symbols that the output can show.
func (s *console) marks(plain bool) marks {
	if plain || os.Getenv("TERM") == "dumb" || s.outTerm && !utf8Locale() {
		return letters
	}
	return symbols
}

// state returns the symbol of a task's state.
func (m marks) state(state fermata.TaskState) string { return m.states[state] }

// step returns the symbol of a step. A waiting step shows whether it waits for
// an answer or for a task.
func (m marks) step(step *fermata.WorkflowStep) string {
	if step.State == fermata.StepWaiting && step.QuestionID != "" {
		return m.states[fermata.TaskAwaitingInput]
	}
	if step.State == fermata.StepWaiting && step.ChildID != "" {
		return m.states[fermata.TaskBlocked]
	}
	return m.steps[step.State]
}

// utf8Locale reports whether the locale uses UTF-8, or is not set.
func utf8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}
