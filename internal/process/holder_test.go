//go:build unix

package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/process"
)

// inRunEnv is a variable that names a folder. If it is set, this test program reports whether it belongs to the run of
// that folder.
const inRunEnv = "TEST_IN_RUN"

func TestMain(m *testing.M) {
	if folder := os.Getenv(inRunEnv); folder != "" {
		if hold := os.Getenv("TEST_HOLD"); hold != "" {
			holdForChild(hold)
		}
		if process.IsInRun(folder) {
			say("in the run")
		}
		return
	}
	os.Exit(m.Run())
}

// holdForChild makes a process other than the test hold a folder. That process is not an ancestor of the process that
// asks.
func holdForChild(folder string) {
	if _, err := process.HoldRun(folder); err != nil {
		panic(err)
	}
	say("held\n")
	_, _ = os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}

// say writes to the process that started this one.
func say(text string) {
	if _, err := os.Stdout.WriteString(text); err != nil {
		panic(err)
	}
}

// askInRun starts this program again, below a shell, and returns its output.
func askInRun(t *testing.T, folder string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `"$0"; true`, self)
	cmd.Env = append(os.Environ(), inRunEnv+"="+folder)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// Only processes that the holder of a folder started belong to its run, and only while it holds the folder. An agent
// cannot change that by writing a file.
func TestOnlyTheHoldersProcessesAreInItsRun(t *testing.T) {
	t.Parallel()
	held, forged, empty := t.TempDir(), t.TempDir(), t.TempDir()
	release, err := process.HoldRun(held)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(forged, "worker"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{held: "in the run", forged: "", empty: "", filepath.Join(empty, "none"): "", "relative": ""} {
		if got := askInRun(t, folder); got != want {
			t.Errorf("%s: got %q, want %q", folder, got, want)
		}
	}
	release()
	if got := askInRun(t, held); got != "" {
		t.Errorf("after the run: got %q", got)
	}
}

// A holder that is no ancestor of the process does not count.
func TestAnotherHolderProvesNothing(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), inRunEnv+"=x", "TEST_HOLD="+folder)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, len("held\n"))
	if _, err := out.Read(said); err != nil || !strings.HasPrefix(string(said), "held") {
		t.Fatalf("got %q, %v", said, err)
	}
	if got := askInRun(t, folder); got != "" {
		t.Errorf("got %q", got)
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
