package definition_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// quotedYAML matches a field with its value in a text, such as suspend: true or escalation: [{timeout: 1h}].
var quotedYAML = regexp.MustCompile(`\b([a-zA-Z_]{2,}: (?:\[[^ \]"]+[^\]"]*\]|\{[^{"}]+\}|[a-z0-9]+))(?:$|[,;) ])`)

// hintCases are files that get a hint with YAML, and the files that do what the hint says.
var hintCases = []struct{ hint, file, mended string }{
	{"triggers: [{manual: true}]", start, "triggers: [{manual: true}]\n" + start},
	{
		"escalation: [{timeout: 1h, on_timeout: fail}]", start + questionStep("timeout: 1h, timeoutAction: escalate"),
		start + questionStep("timeout: 1h, timeoutAction: escalate, escalation: [{timeout: 1h, on_timeout: fail}]"),
	},
	{
		"escalation: [{timeout: 1h, on_timeout: fail}]", start + questionStep("timeout: 1h, on_timeout: escalate"),
		start + questionStep("timeout: 1h, on_timeout: escalate, escalation: [{timeout: 1h, on_timeout: fail}]"),
	},
	{"options: [a, b]", start + questionStep("responseType: choice"), start + questionStep("responseType: choice, options: [a, b]")},
	{"responseType: choice", start + questionStep("responseType: text, options: [a, b]"), start + questionStep("responseType: choice, options: [a, b]")},
	{"response_type: choice", start + questionStep("response_type: text, options: [a, b]"), start + questionStep("response_type: choice, options: [a, b]")},
	{"issueNumber: 42", start + questionStep("issueNumber: x"), start + questionStep("issueNumber: 42")},
	{"suspend: true", start + "  - {id: q, tool: post_question, input: {question: x}}\n", start + "  - {id: q, tool: post_question, suspend: true, input: {question: x}}\n"},
	{"suspend: true", start + "on_resume: {goto: a}\n", start + ask + "on_resume: {goto: a}\n"},
	{"type: approval", start + ask + "    on_reject: skip\n", start + questionStep("type: approval, action: {tool: x}") + "    on_reject: skip\n"},
	{"on_reject: skip", start + approvalStep("on_error: continue", "timeoutAction: skip"), start + approvalStep("on_error: continue, on_reject: skip", "timeoutAction: skip")},
	{"on_timeout: {goto: …}", start + approvalStep("on_error: continue", "timeoutAction: skip"), start + approvalStep("on_timeout: {goto: a}", "timeoutAction: skip")},
	{"timeoutAction: skip", start + approvalStep("on_timeout: {goto: a}", "action: {tool: x}"), start + approvalStep("on_timeout: {goto: a}", "timeoutAction: skip")},
	{"on_timeout: skip", start + approvalStep("on_timeout: {goto: a}", "on_timeout: fail"), start + approvalStep("on_timeout: {goto: a}", "on_timeout: skip")},
	{
		"on_timeout: skip", start + approvalStep("on_timeout: {goto: a}", "escalation: [{timeout: 1h, on_timeout: fail}]"),
		start + approvalStep("on_timeout: {goto: a}", "escalation: [{timeout: 1h, on_timeout: skip}]"),
	},
	{"timeout: 1h", start + approvalStep("on_timeout: {goto: a}", "timeout: never"), start + approvalStep("on_timeout: {goto: a}", "timeout: 1h, timeoutAction: skip")},
	{"on_failure: none", start + "on_failure: x\n", start + "on_failure: none\n"},
	{"working_copy: own", start + step + "    input: {a: \"{{ steps.a.branch }}\"}\n", strings.Replace(start, "    tool", "    working_copy: own\n    tool", 1) + step + "    input: {a: \"{{ steps.a.branch }}\"}\n"},
	{
		"on_reject: {goto: a}", start + approvalStep("on_resume: {goto: {reject: a}}", "action: {tool: x}"),
		start + approvalStep("on_reject: {goto: a}", "action: {tool: x}"),
	},
	{"inputs: {x: …}", "inputs: {x: {type: string, required: true}}\ntriggers: [{schedule: \"0 9 * * *\"}]\n" + start, "inputs: {x: {type: string, required: true}}\ntriggers: [{schedule: \"0 9 * * *\", inputs: {x: y}}]\n" + start},
	{"input: {x: …}", start + "  - {id: s, tool: needs_x}\n", start + "  - {id: s, tool: needs_x, input: {x: 1}}\n"},
}

// approvalStep returns a step that asks for an approval.
func approvalStep(settings, input string) string {
	return "  - {id: q, tool: request_approval, input: {title: x, " + input + "}, " + settings + "}\n"
}

// A hint with YAML is taken by the next check: the problem is gone, and no other one is there.
func TestHintsAreTaken(t *testing.T) {
	t.Parallel()
	names := known
	names.NeededInputs = map[string]definition.NeededInputs{"needs_x": {StepInputs: []string{"x"}}}
	names.AllowUnknownTools = true
	for _, tt := range hintCases {
		_, problems := definition.Load([]byte(tt.file), names)
		message := ""
		for _, p := range problems {
			if strings.Contains(p.Hint, tt.hint) {
				message = p.Message
			}
		}
		if message == "" {
			t.Errorf("no hint says %q: %v", tt.hint, problems)
			continue
		}
		w, problems := definition.Load([]byte(tt.mended), names)
		if w == nil {
			t.Errorf("what the hint %q says is refused: %v", tt.hint, problems)
		}
		for _, p := range problems {
			if p.Message == message && strings.Contains(p.Hint, tt.hint) {
				t.Errorf("the hint %q does not help: %s", tt.hint, p)
			}
		}
	}
}

// isSetting reports whether a name with its value sets a field, and is no part of a sentence with a colon.
func isSetting(text string) bool {
	name, value, _ := strings.Cut(text, ": ")
	words := []string{"skip", "fail", "true", "none", "own", "choice", "approval", "continue", "1h", "42"}
	return strings.ContainsAny(value[:1], "[{") || strings.Contains(name, "_") || slices.Contains(words, value)
}

// Every field with a value that a text of this package quotes is in a case of [TestHintsAreTaken], or is listed here with
// the reason why not.
func TestEveryHintWithYAMLIsTried(t *testing.T) {
	t.Parallel()
	elsewhere := []string{
		"on_timeout: only",      // a sentence
		"on_error: continue",    // what the warning speaks of
		"on_reject: {goto: %s}", // with the name in place of %s
		"inputs: {%s: …}",       // the same
	}
	for _, tt := range hintCases {
		elsewhere = append(elsewhere, tt.hint)
	}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(literal.Value)
			for _, match := range quotedYAML.FindAllStringSubmatch(text, -1) {
				quoted, tried := match[1], !isSetting(match[1])
				for _, hint := range elsewhere {
					tried = tried || strings.Contains(hint, quoted)
				}
				if !tried {
					t.Errorf("no case tries %q in %q", quoted, text)
				}
			}
			return true
		})
	}
}
