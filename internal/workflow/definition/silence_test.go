package definition_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// askAndGo returns a workflow whose step q asks and goes on with the step c after silence.
func askAndGo(tool, input, more string) string {
	return start + fmt.Sprintf("  - {id: q, tool: %s, suspend: true, input: {%s}, on_timeout: {goto: c}%s}\n  - {id: c, tool: run_checks}\n", tool, input, more)
}

// An on_timeout that never happens is refused, and the hint makes it happen. Where only the run knows what silence does, the
// file is accepted.
func TestOnTimeoutHappensOnlyAfterSkip(t *testing.T) {
	t.Parallel()
	const approval, question = "request_approval", "post_question"
	for name, tt := range map[string]struct{ tool, input, message, hint string }{
		"an approval":                     {approval, "title: x, action: {tool: x}, timeout: 1s", "the step fails", "add timeoutAction: skip to the input"},
		"an approval that fails":          {approval, "title: x, timeoutAction: fail", "the step fails", "write timeoutAction: skip in the input"},
		"a failure by the other name":     {approval, "title: x, on_timeout: fail", "the step fails", "write on_timeout: skip in the input"},
		"a default":                       {question, "question: x, options: [a], default: a", "takes its default", "add timeoutAction: skip"},
		"a default that the run fills in": {question, "question: x, options: [a], default: \"{{ done.x }}\"", "takes its default", "add timeoutAction: skip"},
		"a default for each item":         {question, "items: [{key: a, prompt: x, default: y}]", "takes its default, or the step fails", "add timeoutAction: skip"},
		"a default by its name":           {question, "question: x, options: [a], default: a, timeoutAction: default", "takes its default", "write timeoutAction: skip"},
		"no default":                      {question, "question: x", "the step fails", "add timeoutAction: skip"},
		"no deadline":                     {question, "question: x, timeout: never, timeoutAction: skip", "no deadline", "timeout: 1h"},
		"levels that fail":                {question, "question: x, timeoutAction: escalate, escalation: [{timeout: 1h}, {timeout: 1h, on_timeout: fail}]", "the step fails", "on_timeout: skip in the last level"},
		"levels without escalate":         {question, "question: x, escalation: [{timeout: 1h, on_timeout: fail}]", "the step fails", "on_timeout: skip in the last level"},
		"levels that skip":                {question, "question: x, escalation: [{timeout: 1h, on_timeout: skip}]", "", ""},
		"levels that the run fills in":    {question, "question: x, escalation: \"{{ done.x }}\"", "", ""},
		"skip":                            {approval, "title: x, timeoutAction: skip", "", ""},
		"an action that the run fills in": {question, "question: x, timeoutAction: \"{{ done.x }}\"", "", ""},
		"a timeout that the run fills in": {question, "question: x, timeoutAction: skip, timeout: \"{{ done.x }}\"", "", ""},
	} {
		_, problems := loadWithoutNote(askAndGo(tt.tool, tt.input, ""))
		if tt.message == "" {
			if len(problems) > 0 {
				t.Errorf("%s: %v", name, problems)
			}
			continue
		}
		if len(problems) != 1 || !strings.HasPrefix(problems[0].Message, "on_timeout never happens: ") || !strings.Contains(problems[0].Message, tt.message) || !strings.Contains(problems[0].Hint, tt.hint) {
			t.Errorf("%s: %v", name, problems)
		}
		stored := known
		stored.WasChecked = true
		if w, problems := definition.Load([]byte(askAndGo(tt.tool, tt.input, "")), stored); w == nil {
			t.Errorf("%s: a run that is under way is refused: %v", name, problems)
		}
	}
}

// The on_timeout of the workflow is warned of if silence skips no question for which it is meant.
func TestTheOnTimeoutOfAWorkflowHappens(t *testing.T) {
	t.Parallel()
	for steps, isWarned := range map[string]bool{
		"  - {id: q, tool: request_approval, input: {title: x}}\n":                                                    true,
		"  - {id: q, tool: request_approval, input: {title: x, timeoutAction: skip}}\n":                               false,
		"  - {id: q, tool: request_approval, input: {title: x, timeoutAction: skip}, on_timeout: {goto: a}}\n":        true,
		"finally:\n  - {id: q, tool: request_approval, input: {title: x, timeoutAction: skip}}\n":                     true,
		ask + "  - {id: r, tool: request_approval, input: {title: x}}\n":                                              false,
		"  - {id: q, tool: request_approval, foreach: [1], input: {title: x, timeoutAction: skip, action: {a: b}}}\n": true,
	} {
		_, problems := loadWithoutNote("on_timeout: {goto: a}\n" + start + steps)
		if got := len(problems) == 1 && problems[0].Warning; got != isWarned || !isWarned && len(problems) > 0 {
			t.Errorf("%s: %v", steps, problems)
		}
	}
}

// An approval whose on_error is continue is told what it still needs.
func TestTheWaysOnWithoutAnApproval(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]string{
		"input: {title: x}": "say on_reject: skip; for silence, add timeoutAction: skip to the input, and say where to go: on_timeout: {goto: …}",
		"input: {title: x, timeoutAction: fail}, on_reject: skip":                        "write timeoutAction: skip in the input, and say where to go: on_timeout: {goto: …}",
		"input: {title: x, timeoutAction: skip}, on_reject: skip":                        "say where to go: on_timeout: {goto: …}",
		"input: {title: x}, on_reject: skip, on_timeout: {goto: a}":                      "add timeoutAction: skip to the input",
		"input: {title: x, timeoutAction: skip}, on_timeout: {goto: a}":                  "say on_reject: skip",
		"input: {title: x, timeoutAction: skip}, on_reject: skip, on_timeout: {goto: a}": "remove it",
	} {
		_, problems := loadWithoutNote(start + "  - {id: q, tool: request_approval, on_error: continue, " + step + "}\n")
		found := false
		for _, p := range problems {
			found = found || p.Path == "steps[1].on_error" && p.Hint == want
		}
		if !found {
			t.Errorf("%s: %v", step, problems)
		}
	}
}
