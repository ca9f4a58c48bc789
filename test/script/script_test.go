package script

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// A script runs although the test starts other processes while it writes the script.
func TestScriptsRunBesideOthers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var writers sync.WaitGroup
	for writer := range 8 {
		writers.Go(func() {
			for n := range 50 {
				path := filepath.Join(folder, fmt.Sprintf("%d-%d", writer, n))
				Write(t, path, "exit 0")
				if err := exec.CommandContext(t.Context(), path).Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
}
