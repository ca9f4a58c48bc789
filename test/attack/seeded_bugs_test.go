//go:build unix

package attack

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSeededBugsFit checks that the text that a seeded bug changes occurs once in its file.
func TestSeededBugsFit(t *testing.T) {
	t.Parallel()
	for _, bug := range seededBugs {
		if n := strings.Count(bug.source(t), bug.old); n != 1 {
			t.Errorf("%s: %q stands %d times in %s", bug.name, bug.old, n, bug.file)
		}
	}
}

// TestSeededBugsAreCaught puts a hole into the program and checks that the test for this place fails. The gate chooses one
// hole at random. The lab tries all.
func TestSeededBugsAreCaught(t *testing.T) {
	t.Parallel()
	chosen := seededBugs
	if !allBugs {
		chosen = seededBugs[rand.N(len(seededBugs)):][:1]
	}
	for _, bug := range chosen {
		t.Run(bug.name, func(t *testing.T) { bug.mustBeCaught(t) })
	}
}

func (b seededBug) path() string { return filepath.Join("..", "..", b.file) }

func (b seededBug) source(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(b.path())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// mustBeCaught runs the test on the program with the hole. No file of the repository changes: the compiler reads the
// changed file instead of the original.
func (b seededBug) mustBeCaught(t *testing.T) {
	t.Helper()
	run := exec.CommandContext(t.Context(), "go", "test", "-overlay", b.overlay(t), "-count=1", "-run", b.caughtBy, b.pkg)
	run.Dir, run.Env = filepath.Join("..", ".."), append(os.Environ(), "FERMATA_TEST_POSTGRES=none")
	out, err := run.CombinedOutput()
	caught := failedTest.FindAllSubmatch(out, -1)
	switch {
	case err == nil:
		t.Errorf("%s of %s passed", b.caughtBy, b.pkg)
	case caught == nil:
		t.Errorf("%s of %s did not run:\n%s", b.caughtBy, b.pkg, out)
	default:
		t.Logf("caught by %s", caught[0][1])
	}
}

// failedTest matches the line in which go test names a failed test.
var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// overlay writes the changed file and a file for go test -overlay, and returns the path of the second.
func (b seededBug) overlay(t *testing.T) string {
	t.Helper()
	right, err := filepath.Abs(b.path())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {right: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{changed: strings.Replace(b.source(t), b.old, b.new, 1), overlay: string(replace)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}

// The page about tests states the right number of holes.
func TestThePageCountsTheSeededBugs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/inside/tests.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("puts %d security holes ", len(seededBugs)); !strings.Contains(string(page), want) {
		t.Errorf("docs/inside/tests.md does not say %q", want)
	}
}
