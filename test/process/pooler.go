package process

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/ports"
)

// StartPooler starts pgbouncer in transaction mode in front of its own empty database. It returns the flags with which a
// server connects through pgbouncer, and the address of the database.
func StartPooler(tb testing.TB) (database []string, behind string) {
	tb.Helper()
	return StartPoolerOver(tb, func(host string) string { return host })
}

// StartPoolerOver is like [StartPooler], but pgbouncer itself reaches PostgreSQL at the host that reach returns.
func StartPoolerOver(tb testing.TB, reach func(host string) string) (database []string, behind string) {
	tb.Helper()
	database, _, _ = OwnDatabase(tb)
	behind = database[1]
	u, err := url.Parse(behind)
	if err != nil {
		tb.Fatal(err)
	}
	u.Host = reach(u.Host)
	database[1] = StartPoolerTo(tb, u)
	return database, behind
}

// StartPoolerTo starts pgbouncer in transaction mode in front of the databases of a PostgreSQL. It returns the address
// through pgbouncer.
func StartPoolerTo(tb testing.TB, u *url.URL) string {
	tb.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		tb.Fatal("pgbouncer is missing: run scripts/setup pgbouncer")
	}
	port := reservePort(tb)
	cmd := exec.Command(program, poolerArgs(poolerConfig(tb, u, port))...) //nolint:noctx // it ends with the test
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	pooled := *u
	pooled.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	patience.Await(tb, "pgbouncer listens", func() bool {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(tb.Context(), "tcp", pooled.Host)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return pooled.String()
}

func reservePort(tb testing.TB) int {
	tb.Helper()
	block, err := ports.Reserve()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(block.Release)
	return block.First
}

// poolerConfig writes the configuration into a folder that any user may read.
func poolerConfig(tb testing.TB, to *url.URL, port int) string {
	tb.Helper()
	folder, err := os.MkdirTemp("", "fermata-pgbouncer-") //nolint:usetesting // pgbouncer reads it as another user
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil { //nolint:gosec // pgbouncer does not run as root
		tb.Fatal(err)
	}
	file := filepath.Join(folder, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = host=%s port=%s user=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\n"+
		"auth_type = any\npool_mode = transaction\nunix_socket_dir =\n", to.Hostname(), to.Port(), to.User.Username(), port)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // it holds no secret
		tb.Fatal(err)
	}
	return file
}

// poolerArgs returns the arguments. They name a user, because pgbouncer refuses to run as root.
func poolerArgs(config string) []string {
	if os.Geteuid() == 0 {
		return []string{"-q", "-u", "nobody", config}
	}
	return []string{"-q", config}
}
