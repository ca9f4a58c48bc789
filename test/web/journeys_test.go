// Package web drives the real program with a real browser, as people do. The
// journeys are the files *.test.mjs beside this one.
package web

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/test/process"
)

func TestMain(m *testing.M) { process.Main(m) }

// longest is how long a journey may take. One that hangs is ended with its
// browser and its server, and says how far it came.
const longest = 12 * time.Minute

// TestJourneys runs every journey. `make test` builds the interface before and
// installs the browser; FERMATA_TEST_SHOTS names a folder for pictures.
func TestJourneys(t *testing.T) {
	if _, err := os.Stat("../../web/dist/index.html"); err != nil {
		t.Fatal("the web interface is not built: run make web")
	}
	binary := process.Binary(t, "")
	journeys, err := filepath.Glob("*.test.mjs")
	if err != nil || len(journeys) == 0 {
		t.Fatalf("no journeys: %v", err)
	}
	for _, journey := range journeys {
		t.Run(journey, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), longest)
			defer cancel()
			var out bytes.Buffer
			cmd := exec.CommandContext(ctx, "node", "--test-force-exit", "--test-reporter=spec", journey)
			cmd.Env = append(os.Environ(), "FERMATA_BINARY="+binary)
			cmd.Stdout, cmd.Stderr = &out, &out
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
			cmd.WaitDelay = time.Second
			if err := cmd.Run(); err != nil {
				t.Errorf("%v (%v)\n%s", err, context.Cause(ctx), &out)
				return
			}
			t.Log(out.String())
		})
	}
}
