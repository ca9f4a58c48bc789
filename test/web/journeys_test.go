// Package web drives the real program with a real browser, as people do. The
// journeys are the files *.test.mjs beside this one.
package web

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestJourneys runs every journey. `make test` builds the interface before and
// installs the browser; FERMATA_TEST_SHOTS names a folder for pictures.
func TestJourneys(t *testing.T) {
	if _, err := os.Stat("../../web/dist/index.html"); err != nil {
		t.Fatal("the web interface is not built: run make web")
	}
	binary := filepath.Join(t.TempDir(), "fermata")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "../../cmd/fermata").CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	journeys, err := filepath.Glob("*.test.mjs")
	if err != nil || len(journeys) == 0 {
		t.Fatalf("no journeys: %v", err)
	}
	for _, journey := range journeys {
		t.Run(journey, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			cmd := exec.Command("node", "--test-reporter=spec", journey)
			cmd.Env = append(os.Environ(), "FERMATA_BINARY="+binary)
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Run(); err != nil {
				t.Errorf("%v\n%s", err, &out)
				return
			}
			t.Log(out.String())
		})
	}
}
