package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata/test/patience"
)

// BugSettleClosed is the build tag of the seeded bug that closes a question a second time.
const BugSettleClosed = "bug_settle_closed"

// TagFlag returns the flag that builds the program with a build tag.
func TagFlag(name string) string { return "-tags=" + name }

// BinaryEnv names the environment variable with the path of the program, if it is built already. `make test` sets it,
// so that each package does not build the program again.
const BinaryEnv = "FERMATA_TEST_BINARY"

// programs holds the programs that this test binary has built.
var programs = struct {
	mu     sync.Mutex
	folder string
	built  map[string]func() (string, error)
}{built: map[string]func() (string, error){}}

// Main runs the tests of a package and removes the programs that they built. Call it from TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if programs.folder != "" {
		if err := os.RemoveAll(programs.folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

// NextVersion returns the path of a newer version of the program: the same one, with one more migration.
func NextVersion(tb testing.TB, statement string) string {
	tb.Helper()
	return Binary(tb, `-ldflags=-s -w -X "github.com/fermata-hq/fermata/internal/store.nextStatement=`+statement+`"`)
}

// Binary returns the path of the program, built with these flags of go build. It builds each variant once. Without
// flags it returns the program that [BinaryEnv] names, if there is one. The program is built without the race detector,
// so that servers are as fast as in production.
func Binary(tb testing.TB, flags ...string) string {
	tb.Helper()
	if built := os.Getenv(BinaryEnv); built != "" && len(flags) == 0 {
		return built
	}
	variant := strings.Join(flags, " ")
	programs.mu.Lock()
	if programs.folder == "" {
		folder, err := os.MkdirTemp("", "fermata-program-") //nolint:usetesting // it outlives the test: Main removes it
		if err != nil {
			programs.mu.Unlock()
			tb.Fatal(err)
		}
		programs.folder = folder
	}
	once := programs.built[variant]
	if once == nil {
		out := filepath.Join(programs.folder, fmt.Sprintf("fermata%d", len(programs.built)))
		once = sync.OnceValues(func() (string, error) { return out, Build(out, flags...) })
		programs.built[variant] = once
	}
	programs.mu.Unlock()
	path, err := once()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// Build builds the program with the flags of `make build`, so that both share Go's cache, and with the given flags.
func Build(out string, flags ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience.Limit())
	defer cancel()
	args := append([]string{"build", "-trimpath", "-ldflags=-s -w", "-buildvcs=false", "-o", out}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "github.com/fermata-hq/fermata/cmd/fermata")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, text)
	}
	return nil
}
