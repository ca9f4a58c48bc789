package agent

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/process"
)

// isolatedEnv is the variable that is set in the second process of [Main], whose network is sealed.
const isolatedEnv = "FERMATA_TEST_SEALED"

// Main runs the tests of a package in a second process whose network has only loopback, so that nothing that the agents
// do can leave the machine. If the system forbids that, Main prints a notice, and only the environment seals the agents
// off.
func Main(m *testing.M) {
	if os.Getenv(isolatedEnv) != "" {
		if err := raiseLoopback(); err != nil {
			fmt.Fprintln(os.Stderr, "no loopback in the sealed network:", err)
			os.Exit(1)
		}
		process.Main(m)
		return
	}
	code, err := runIsolated()
	if err != nil {
		fmt.Fprintf(os.Stderr, "WARNING: the agents of these tests run WITHOUT a sealed network, because this machine forbids one: %v.\n"+
			"WARNING: only their environment keeps them on loopback.\n", err)
		process.Main(m)
		return
	}
	os.Exit(code)
}

// runIsolated runs this test program again in a sealed network. The error says why it could not be started there.
func runIsolated() (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	// Build the program here: the build may have to download modules, and the sealed network has no way out.
	folder, err := os.MkdirTemp("", "fermata-agent-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	binary := os.Getenv(process.BinaryEnv)
	if binary == "" {
		binary = folder + "/fermata"
		if err := process.Build(binary); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1, nil
		}
	}
	cmd := exec.Command(self, os.Args[1:]...) //nolint:gosec,noctx // this very program; go test ends it
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), isolatedEnv+"=network", process.BinaryEnv+"="+binary)
	if address := os.Getenv(storetest.PostgresEnv); address != "" && address != "none" {
		inside, err := exposeDatabase(folder, address)
		if err != nil {
			fmt.Fprintln(os.Stderr, "no database in the sealed network:", err)
			return 1, nil
		}
		cmd.Env = append(cmd.Env, storetest.PostgresEnv+"="+inside)
	}
	if cmd.SysProcAttr, err = isolatedAttributes(); err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), nil
}

// Fermata returns the path of the program under test.
func Fermata(tb testing.TB) string {
	tb.Helper()
	return process.Binary(tb)
}
