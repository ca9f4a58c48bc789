package agentcheck_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/agentcheck"
)

// This test changes the environment, so it does not run in parallel.
func TestNothingOfTheUserIsHandedOn(t *testing.T) {
	const secret = "of the user"
	for _, name := range []string{
		"HOME", "XDG_CONFIG_HOME", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENAI_API_KEY",
		"GEMINI_API_KEY", "GEMINI_CLI_HOME", "OPENCODE_CONFIG", "FERMATA_TOKEN", "HTTPS_PROXY",
	} {
		t.Setenv(name, secret)
	}
	base := t.TempDir()
	room, err := agentcheck.NewIsolatedHome(base, "http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"claude", "codex", "gemini", "opencode"} {
		env, err := room.Env(program)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range env {
			if strings.Contains(v, secret) {
				t.Errorf("%s gets %s", program, v)
			}
		}
		if !slices.Contains(env, "HOME="+room.Home) || !strings.HasPrefix(room.Home, base) {
			t.Errorf("the home of %s is not the room's: %v", program, env)
		}
	}
	if _, err := room.Env("nobody"); err == nil {
		t.Error("there is a room for a program that nobody knows")
	}
}
