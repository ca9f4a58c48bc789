package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/process"
)

// Providers make PostgreSQL read-only before a disk is full. Meanwhile the server is not ready, and reads continue.
// Afterwards the server recovers by itself, although its connections were opened while PostgreSQL was read-only.
func TestPostgresBecomesReadOnly(t *testing.T) {
	const reason = "PostgreSQL is read-only"
	binary := process.Binary(t)
	database, name, run := process.OwnDatabase(t)
	s := serveOn(t, binary, database)
	task, err := s.admin.CreateTask(t.Context(), fermata.NewTask{Title: "Before"})
	if err != nil {
		t.Fatal(err)
	}
	run("ALTER DATABASE " + name + " SET default_transaction_read_only = on")
	run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "'")
	s.awaitNotReady(reason)
	s.doctor(binary, reason)
	if err := s.create(); fermata.CodeOf(err) != fermata.CodeUnavailable || !strings.Contains(err.Error(), reason) {
		t.Errorf("a write was refused with %v", err)
	}
	s.has([]string{task.ID})
	run("ALTER DATABASE " + name + " RESET default_transaction_read_only")
	s.awaitReady()
	if err := s.create(); err != nil {
		t.Errorf("a write after it was over: %v", err)
	}
}

// While the disk of PostgreSQL is full, the server is not ready, although small writes still succeed. Once there is
// space, it recovers, and every acknowledged change is there.
func TestDiskOfPostgresIsFull(t *testing.T) {
	const reason = "the disk of PostgreSQL is full"
	binary := process.Binary(t)
	address, pid := postgresOnSmallDisk(t)
	s := serveOn(t, binary, []string{"--database", address, "--master-key-file", filepath.Join(t.TempDir(), "master.key")})
	// PostgreSQL stops if its write-ahead log needs a new file and there is no space. After this call, two files are
	// ready.
	makeRoomForTheLog(t, address)
	ballast := fillDisk(t, pid, smallDisk)
	var acknowledged []string
	for {
		task, err := s.admin.CreateTask(t.Context(), fermata.NewTask{Title: "A task", Body: strings.Repeat("x", 4000)})
		if err != nil {
			if !strings.Contains(err.Error(), reason) {
				t.Errorf("a write was refused with %v", err)
			}
			break
		}
		acknowledged = append(acknowledged, task.ID)
	}
	s.awaitNotReady(reason)
	s.doctor(binary, reason)
	policy := fermata.DefaultPolicy()
	for seconds := range 5 {
		// This small write may succeed or fail.
		policy.UndoSeconds = &seconds
		_, _ = s.admin.SetPolicy(t.Context(), policy)
		if _, text := s.fetch("/readyz"); !strings.Contains(text, reason) {
			t.Errorf("readyz says %s", text)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	s.awaitReady()
	if err := s.create(); err != nil {
		t.Errorf("a write after there is space again: %v", err)
	}
	s.has(acknowledged)
	if report, err := s.admin.VerifyAudit(t.Context()); err != nil || !report.OK {
		t.Errorf("the audit chain: %+v, %v", report, err)
	}
}

// smallDisk is the path at which a small disk is mounted, in PostgreSQL's own namespace.
const smallDisk = "/mnt"

// postgresOnSmallDisk starts a PostgreSQL whose files are on a small disk. It returns the address of an empty database
// and a process that sees the disk.
func postgresOnSmallDisk(t *testing.T) (address string, pid int) {
	t.Helper()
	if os.Getenv(storetest.PostgresEnv) == "none" {
		t.Skipf("PostgreSQL is left out: %s=none", storetest.PostgresEnv)
	}
	own := []string{"--mount"}
	if os.Geteuid() != 0 {
		own = append(own, "--user", "--map-current-user", "--keep-caps")
	}
	cmd := exec.Command("unshare", append(own, "sh", "-c",
		fmt.Sprintf(`mount -t tmpfs -o size=192m,mode=1777 none %s && exec "$0" sh -c 'echo "$%s" && exec cat'`, smallDisk, storetest.PostgresEnv),
		"../../scripts/with-postgres")...)
	cmd.Env = append(os.Environ(), storetest.PostgresEnv+"=", "TMPDIR="+smallDisk)
	cmd.Stderr = os.Stderr
	address = process.StartHelper(t, cmd)
	return address, cmd.Process.Pid
}

func makeRoomForTheLog(t *testing.T, address string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, sql := range []string{"SELECT pg_switch_wal()", "CHECKPOINT"} {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
