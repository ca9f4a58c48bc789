// Package clitest runs command lines for the tests of the rooms of cli.
package clitest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/cli"
)

// Main runs the tests of a package without the Fermata settings of the person who runs them.
func Main(m *testing.M) {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "FERMATA_") {
			_ = os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}

// WriteFile writes a text to a file and returns its path.
func WriteFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Run runs a command line without a terminal.
func Run(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, talk bytes.Buffer
	code = cli.Main(t.Context(), args, strings.NewReader(stdin), &out, &talk, cli.Hooks{Version: "1.2.3"})
	return code, out.String(), talk.String()
}
