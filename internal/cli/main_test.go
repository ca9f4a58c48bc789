package cli

import (
	"os"
	"strings"
	"testing"
)

// TestMain removes the Fermata settings of the person who runs the tests.
func TestMain(m *testing.M) {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "FERMATA_") {
			_ = os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}
