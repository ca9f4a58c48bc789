// Package web drives the real program with a real browser, as people do. The
// journeys are the files *.test.mjs beside this one.
package web

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/ports"
	"github.com/fermata-hq/fermata/test/process"
)

func TestMain(m *testing.M) { process.Main(m) }

// longest returns the time limit of a journey. A journey that hangs is ended
// with its browser and its server, and reports how far it came.
func longest() time.Duration { return 5 * patience.Limit() / 2 }

// atOnce returns how many journeys run side by side. Journeys also wait: on two processors, three at once take a tenth
// less time than two.
func atOnce() int {
	if runtime.NumCPU() == 1 {
		return 1
	}
	return 3
}

// longOnes are the journeys that take longest, the longest first. They begin
// first, so that the journeys that run alone at the end are short.
var longOnes = []string{"looks", "workflow_runs", "tasks", "pages", "workflows", "settings", "sign_out", "channels"}

// TestJourneys runs every journey. `make test` builds the interface before and
// installs the browser. FERMATA_TEST_SHOTS names a folder for screenshots.
func TestJourneys(t *testing.T) {
	if _, err := os.Stat("../../web/dist/index.html"); err != nil {
		t.Fatal("the web interface is not built: run make web")
	}
	limit := longest()
	env := []string{"FERMATA_BINARY=" + process.Binary(t), "FERMATA_TEST_BROWSER=" + startBrowser(t)}
	journeys := make(chan string)
	var runners sync.WaitGroup
	// t.Parallel would begin the journeys in any order.
	for range atOnce() {
		runners.Go(func() {
			for journey := range journeys {
				t.Run(journey, func(t *testing.T) { run(t, journey, limit, env) })
			}
		})
	}
	for _, journey := range find(t) {
		journeys <- journey
	}
	close(journeys)
	runners.Wait()
}

// find returns the files of the journeys in the order in which they begin.
func find(t *testing.T) []string {
	journeys, err := filepath.Glob("*.test.mjs")
	if err != nil || len(journeys) == 0 {
		t.Fatalf("no journeys: %v", err)
	}
	place := func(journey string) int {
		if at := slices.Index(longOnes, strings.TrimSuffix(journey, ".test.mjs")); at >= 0 {
			return at
		}
		return len(longOnes)
	}
	slices.SortStableFunc(journeys, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	return journeys
}

// startBrowser starts the browser that the journeys share, and returns its address. It ends with the test.
func startBrowser(t *testing.T) string {
	cmd := exec.Command("node", "browser_server.mjs")
	cmd.Stderr = os.Stderr
	return process.StartHelper(t, cmd)
}

// run runs a journey. Its output is in a file at once, so that it can be read
// while the journey runs. A journey that is killed leaves the file.
func run(t *testing.T, journey string, limit time.Duration, env []string) {
	log, err := os.CreateTemp("", "fermata-"+journey+"-*.log") //nolint:usetesting // it can be read after a kill
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	block, err := ports.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	defer block.Release()
	env = append(slices.Clip(env), fmt.Sprint("FERMATA_TEST_PORT=", block.First))
	err = follow(t, log, limit, env, "--test-force-exit", "--test-reporter=spec", journey)
	said, _ := os.ReadFile(log.Name())
	_ = os.Remove(log.Name())
	if err != nil {
		t.Fatalf("%s%v\n%s", firstFailure(said), err, said)
	}
	t.Logf("%s", said)
}

// firstFailure returns the name of the first test that failed and its error, as failure.mjs prints them, or "" if none
// failed.
func firstFailure(said []byte) string {
	found := failedTest.FindSubmatch(said)
	if found == nil {
		return ""
	}
	return fmt.Sprintf("%s: %s; ", found[1], found[2])
}

var failedTest = regexp.MustCompile(`(?m)^✖ (.+)\n +(.+)$`)

// follow runs node with the arguments until it ends or the limit is reached.
// Everything that it started ends with it, even if these tests die.
func follow(t *testing.T, log *os.File, limit time.Duration, env []string, args ...string) error {
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, fmt.Errorf("it did not end within %s", limit))
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	// The system watches the thread that starts the program, so the thread must last as long as the program.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Run(); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	return nil
}
