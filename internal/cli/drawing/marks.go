package drawing

import (
	"os"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// Marks are the symbols of drawings. Each symbol stands beside a word, because
// no symbol or colour may carry a meaning alone.
type Marks struct {
	states map[fermata.TaskState]string
	// branch, last and Down are the lines that connect a row with those above it.
	branch, last, Down string
	// Waits stands before what a task waits for, and Asks before its question.
	Waits, Asks string
	// steps maps the states of steps to symbols. NotStarted is the symbol of
	// a step that has not begun.
	steps      map[fermata.StepState]string
	NotStarted string
	// For drawings of steps: their beginning and end, the kinds of steps, and
	// the arrows forward and back.
	Begin, End, Box, Ask, Child, Jump, Back string
}

// Symbols are the marks of an output that can show Unicode.
var Symbols = Marks{
	states: map[fermata.TaskState]string{
		fermata.TaskOpen: "○", fermata.TaskBlocked: "⊘", fermata.TaskDeferred: "◷", fermata.TaskInProgress: "▶",
		fermata.TaskAwaitingInput: "?", fermata.TaskAwaitingApproval: "!", fermata.TaskInputReceived: "◆",
		fermata.TaskDone: "✓", fermata.TaskFailed: "✗", fermata.TaskCancelled: "⊗", fermata.TaskSkipped: "»",
	},
	branch: "├─ ", last: "└─ ", Down: "│ ", Waits: "⊘", Asks: "?",
	steps: map[fermata.StepState]string{
		fermata.StepRunning: "▶", fermata.StepWaiting: "◷", fermata.StepDone: "✓", fermata.StepSkipped: "»", fermata.StepFailed: "✗",
		fermata.StepRejected: "⊝", fermata.StepCancelled: "⊗",
	},
	NotStarted: "○", Begin: "○", End: "●", Box: "■", Ask: "?", Child: "▤", Jump: "→", Back: "↺",
}

// Letters are the marks of an output that shows only ASCII.
var Letters = Marks{
	states: map[fermata.TaskState]string{
		fermata.TaskOpen: "[ ]", fermata.TaskBlocked: "[#]", fermata.TaskDeferred: "[z]", fermata.TaskInProgress: "[>]",
		fermata.TaskAwaitingInput: "[?]", fermata.TaskAwaitingApproval: "[!]", fermata.TaskInputReceived: "[*]",
		fermata.TaskDone: "[v]", fermata.TaskFailed: "[x]", fermata.TaskCancelled: "[-]", fermata.TaskSkipped: "[/]",
	},
	branch: "|- ", last: "`- ", Down: "| ", Waits: "#", Asks: "?",
	steps: map[fermata.StepState]string{
		fermata.StepRunning: "[>]", fermata.StepWaiting: "[z]", fermata.StepDone: "[v]", fermata.StepSkipped: "[/]", fermata.StepFailed: "[x]",
		fermata.StepRejected: "[n]", fermata.StepCancelled: "[-]",
	},
	NotStarted: "[ ]", Begin: "(o)", End: "(x)", Box: "[ ]", Ask: "[?]", Child: "[+]", Jump: "->", Back: "<-",
}

// ChooseMarks returns the marks that the output can show. If plain is true, it returns [Letters].
func ChooseMarks(c *terminal.Console, plain bool) Marks {
	if plain || os.Getenv("TERM") == "dumb" || c.OutTerm && !utf8Locale() {
		return Letters
	}
	return Symbols
}

// State returns the symbol of a task's state.
func (m Marks) State(state fermata.TaskState) string { return m.states[state] }

// Step returns the symbol of a step. A waiting step shows whether it waits for
// an answer or for a task.
func (m Marks) Step(step *fermata.WorkflowStep) string {
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
