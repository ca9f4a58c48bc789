package cli_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/cli/clitest"
)

func TestCompletionNamesEveryCommand(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, out, _ := clitest.Run(t, "", "completion", shell)
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
	_, script, _ := clitest.Run(t, "", "completion", "bash")
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
