package process

import (
	"os"
	"testing"

	"github.com/fermata-hq/fermata/test/patience"
)

// TempFolder returns a folder that is removed after the test. Unlike with [testing.TB.TempDir], processes that the test
// killed may write there until they have ended: the system ends them, and the processes that they started, a moment
// later.
func TempFolder(tb testing.TB) string {
	tb.Helper()
	folder, err := os.MkdirTemp("", "fermata-folder-") //nolint:usetesting // TempDir fails where a process still writes
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		patience.Await(tb, "nothing writes to "+folder+" any more", func() bool { return os.RemoveAll(folder) == nil })
	})
	return folder
}
