package cli

import (
	"os"
	"strings"
	"testing"
)

// TestMain takes the settings of whoever runs the tests away.
func TestMain(m *testing.M) {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "FERMATA_") {
			_ = os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}
