package process_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/fermata-hq/fermata/internal/process"
	"github.com/fermata-hq/fermata/test/patience"
)

// runSandboxed runs a script in a sandbox that was created for the folder own, and returns the output. In the sandbox,
// "$SELF" is this test program, which reports whether it is in the run of the folder asked.
func runSandboxed(t *testing.T, own, asked, script string) string {
	t.Helper()
	program, err := process.FindSandbox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := &process.Sandbox{Program: program, Read: []string{self}, Write: []string{asked}}
	state, err := process.Program{
		Argv: []string{"sh", "-c", script}, Dir: "/", Folder: own, Stdout: &out, Stderr: &out,
		Env: append(os.Environ(), "SELF="+self, "FOLDER="+asked, "OWN="+own, inRunEnv+"="+asked),
	}.Run(process.WithSandbox(t.Context(), s))
	if err != nil || !state.Success() {
		t.Fatalf("%v, %v: %s", state, err, out.String())
	}
	return strings.TrimSpace(out.String())
}

// ask makes the test program report whether it is in the run.
const ask = `"$SELF"; true`

// In a hidden folder of PATH, only the programs become visible, and never more than a sandbox can start with.
func TestOnlyProgramsOfAFolderAreOpened(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, mode := range map[string]os.FileMode{"program": 0o700, "data": 0o600} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"link": "program", "to-data": "data", "to-nothing": "nothing"} {
		if err := os.Symlink(target, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	full := t.TempDir()
	for i := range 400 {
		if err := os.WriteFile(filepath.Join(full, strconv.Itoa(i)), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := &process.Sandbox{Hide: []string{folder, full}}
	left := s.OpenPath([]string{"", ".", filepath.Join(folder, "nothing"), full + "/..", folder, full})
	if want := []string{filepath.Join(folder, "link"), filepath.Join(folder, "program")}; !slices.Equal(s.Programs, want) || !slices.Equal(left, []string{full}) {
		t.Errorf("opened %v and left out %v, want %v and %v", s.Programs, left, want, full)
	}
}

// Another process namespace hides the worker. Of the processes in sandboxes, only those in a sandbox that the worker
// created for the folder count as part of its run.
func TestOnlyItsSandboxIsInTheRun(t *testing.T) {
	t.Parallel()
	const inRun = "in the run"
	for name, tt := range map[string]struct {
		// held is true if the worker holds the folder. another is true if the sandbox belongs to another run.
		held, another bool
		script, want  string
	}{
		"the run's own":                 {held: true, script: ask, want: inRun},
		"a session of a child":          {held: true, script: `(setsid sh -c '"$SELF"; true' & wait)`, want: inRun},
		"another run's":                 {held: true, another: true, script: ask},
		"a link to what another locked": {held: true, another: true, script: `ln -s "$OWN"/sandbox-* "$FOLDER"/sandbox-1; ` + ask},
		"no run's":                      {script: ask},
		"a file that nobody holds":      {script: `: >"$FOLDER/worker"; ` + ask},
		"an agent that holds it":        {script: holdBeside + ask},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			own := folder
			if tt.another {
				own = t.TempDir()
			}
			if tt.held {
				release, err := process.HoldRun(folder)
				if err != nil {
					t.Fatal(err)
				}
				defer release()
			}
			if got := runSandboxed(t, own, folder, tt.script); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Two programs of one run may run at the same time, each in its own sandbox.
func TestTwoSandboxesOfARun(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	release, err := process.HoldRun(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := syscall.Mkfifo(filepath.Join(folder, "first"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "second"), 0o600); err != nil {
		t.Fatal(err)
	}
	said := make(chan string)
	go func() { said <- runSandboxed(t, folder, folder, `: >"$FOLDER/first"; read go <"$FOLDER/second"; `+ask) }()
	if got := runSandboxed(t, folder, folder, `: <"$FOLDER/first"; `+ask+`; echo go >"$FOLDER/second"`); got != "in the run" {
		t.Errorf("the second one says %q", got)
	}
	if got := patience.Receive(t, "the run says something", said); got != "in the run" {
		t.Errorf("the first one says %q", got)
	}
}

// holdBeside makes a process that is no ancestor of the asking one hold the folder.
const holdBeside = `mkfifo "$FOLDER/said"
	sleep 1000 | env TEST_HOLD="$FOLDER" "$SELF" >"$FOLDER/said" & read held <"$FOLDER/said"; test "$held" = held || echo "nobody holds it"
	`
