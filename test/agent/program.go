package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/test/checkout"
)

// Program returns the path of an agent program: claude, codex, opencode, gemini or claude-agent-acp. A variable such as
// FERMATA_TEST_CLAUDE may name the path. Otherwise it is the program that scripts/setup-agents installed. The test
// fails if there is none.
func Program(tb testing.TB, name string) string {
	tb.Helper()
	env := "FERMATA_TEST_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	path := os.Getenv(env)
	if path == "" {
		var err error
		if path, err = installedPath(name); err != nil {
			tb.Fatal(err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.IsDir() { //nolint:gosec // the person who runs the tests names it
		tb.Fatalf("%s is not installed: run scripts/setup %s, or name the program with %s (looked for %s)", name, name, env, path)
	}
	return path
}

// installedPath returns the path at which scripts/setup-agents installs the pinned version.
func installedPath(name string) (string, error) {
	version, err := Version(name)
	if err != nil {
		return "", err
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(home, ".cache")
	}
	return filepath.Join(cache, "fermata", "agents", name+"-"+version, "node_modules", ".bin", name), nil
}

// Version returns the version of a program that scripts/agents pins.
func Version(name string) (string, error) {
	list, err := checkout.Path("scripts", "agents")
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(list)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == name {
			return fields[2], nil
		}
	}
	return "", fmt.Errorf("scripts/agents does not name %s", name)
}
