package cli

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// run runs a command line without a terminal.
func run(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, talk bytes.Buffer
	code = Main(t.Context(), args, strings.NewReader(stdin), &out, &talk, Hooks{Version: "1.2.3"})
	return code, out.String(), talk.String()
}

func TestCompletionNamesEveryCommand(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, out, _ := run(t, "", "completion", shell)
		if code != 0 {
			t.Fatalf("%s: exit code %d", shell, code)
		}
		for _, want := range []string{"ask", "respond", "token create", "audit verify", "on-timeout", "completion"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is missing", shell, want)
			}
		}
	}
}

func TestBashCompletes(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	_, script, _ := run(t, "", "completion", "bash")
	for line, want := range map[string]string{
		"fermata app":                  "approve",
		"fermata token cr":             "create",
		"fermata --json ask --recomme": "--recommended",
		"fermata token create x --mem": "--member",
	} {
		words := strings.Fields(line)
		script := script + "\nCOMP_WORDS=(" + line + "); COMP_CWORD=" + string(rune('0'+len(words)-1)) + "; _fermata; echo \"${COMPREPLY[*]}\""
		out, err := exec.CommandContext(t.Context(), bash, "-c", script).CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%q: got %q, %v, want %q", line, out, err, want)
		}
	}
}

func TestEveryCommandHasExamples(t *testing.T) {
	t.Parallel()
	var cli root
	parser, err := newParser(&cli, newSession(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(true) {
		if !strings.Contains(leaf.Detail, "Examples:") {
			t.Errorf("%s has no examples", leaf.Path())
		}
	}
}
