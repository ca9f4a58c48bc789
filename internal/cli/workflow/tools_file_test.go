package workflow

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestToolsFile(t *testing.T) {
	t.Parallel()
	f := readToolsFile([]byte(`tools:
  analyze:
    description: Looks
    agent: {runner: claude, agent: code, prompt: "Look at {{ inputs.issue }}", size: small}
    schema: {type: object, required: [confidence]}
    timeout: 30m
  "check": {command: [make, test], isolated: true}
mcp_servers:
  tracker: {url: "https://t.example.com", headers: {Authorization: "env:T"}}
  local: {command: [server, --stdio], env: {KEY: "env:KEY"}}
`))
	if len(f.problems) > 0 || len(f.tools) != 4 {
		t.Fatalf("%+v", f)
	}
	analyze, check, tracker, local := f.tools[0], f.tools[1], f.tools[2], f.tools[3]
	if analyze.Agent.Prompt != "Look at {{ inputs.issue }}" || analyze.Agent.Size != "small" || analyze.Timeout != "30m" ||
		string(analyze.Schema) != `{"required":["confidence"],"type":"object"}` {
		t.Errorf("analyze %+v", analyze)
	}
	if check.name != "check" || !slices.Equal(check.Command, []string{"make", "test"}) || check.line != 7 || !check.Isolated || analyze.Isolated {
		t.Errorf("check %+v", check)
	}
	if tracker.Server.Headers["Authorization"] != "env:T" || local.Server.Env["KEY"] != "env:KEY" || len(local.Server.Command) != 2 {
		t.Errorf("servers %+v %+v", tracker, local)
	}
}

func TestToolsFileSaysEverythingThatIsWrong(t *testing.T) {
	t.Parallel()
	for source, want := range map[string][]string{
		"":                           {"1:1"},
		"# nothing":                  {"1:1"},
		"- a":                        {"1:1"},
		"tools:":                     {"1:1"},
		"tools: {a: {command: [x]}":  {"1:8"},
		"tool: {}\nserver: {}":       {"1:1", "2:1"},
		"tools:\n  a: {}\n  b: null": {"2:3", "3:3"},
		"tools:\n  a: {command: make}\n  b: {command: [x], retries: 3}\nmcp_servers:\n  c: {}": {"2:16", "3:21", "5:3"},
		"tools:\n  a: {command: [x]}\nmcp_servers:\n  a: {url: \"https://a\"}":                 {"4:3"},
	} {
		f := readToolsFile([]byte(source))
		var got []string
		for _, p := range f.problems {
			got = append(got, fmt.Sprintf("%d:%d", p.Line, p.Column))
			if p.Message == "" || strings.Contains(p.Message, "\n") {
				t.Errorf("%q: message %q", source, p.Message)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: problems at %v, want %v: %+v", source, got, want, f.problems)
		}
	}
}
