package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/patience"
)

// PostgresServer is a PostgreSQL of one test.
type PostgresServer struct {
	// URL is the address of its database, as a superuser.
	URL string

	tb testing.TB
	// scripts is the folder of the scripts, bin that of PostgreSQL's programs. owner is the user that it runs as.
	scripts, bin, dir, owner string
	port                     int
}

// StartStandby starts a PostgreSQL with an empty database, and a standby that follows it. Both end with the test. The
// standby cancels a query at once if it keeps changes from being replayed.
func StartStandby(tb testing.TB) (primary, standby *PostgresServer) {
	tb.Helper()
	primary = StartPostgres(tb)
	standby = newPostgresServer(tb)
	standby.runAsOwner("pg_basebackup", "-D", standby.data(), "-d", primary.URL, "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
	standby.write("postgresql.auto.conf", "max_standby_streaming_delay = 0\n")
	standby.Start()
	return primary, standby
}

// StartPostgres starts a PostgreSQL with an empty database. It ends with the test.
func StartPostgres(tb testing.TB) *PostgresServer {
	tb.Helper()
	if os.Getenv(storetest.PostgresEnv) == "none" {
		tb.Skipf("PostgreSQL is left out: %s=none", storetest.PostgresEnv)
	}
	s := newPostgresServer(tb)
	s.runAsOwner("initdb", "-D", s.data(), "-U", "fermata", "-A", "trust", "--encoding=UTF8", "--no-locale", "--no-sync")
	s.write("pg_hba.conf", "host all,replication all 127.0.0.1/32 trust\n")
	s.Start()
	return s
}

func newPostgresServer(tb testing.TB) *PostgresServer {
	tb.Helper()
	s := &PostgresServer{tb: tb, scripts: filepath.Join(moduleFolder(tb), "scripts"), owner: postgresOwner(tb), port: reservePort(tb)}
	s.URL = fmt.Sprintf("postgres://fermata@127.0.0.1:%d/postgres?sslmode=disable", s.port)
	s.bin = strings.TrimSpace(s.run(exec.CommandContext(tb.Context(), filepath.Join(s.scripts, "setup-postgres"))))
	// The path of a socket holds about 100 bytes, and the owner must be able to enter the folder.
	dir, err := os.MkdirTemp("/tmp", "fermata-standby-") //nolint:usetesting // see above
	if err != nil {
		tb.Fatal(err)
	}
	s.dir = dir
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	if u, err := user.Lookup(s.owner); err == nil {
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

func (s *PostgresServer) data() string { return filepath.Join(s.dir, "data") }

// Start starts the server, which listens on its own port.
func (s *PostgresServer) Start() {
	s.tb.Helper()
	s.write("postgresql.auto.conf", fmt.Sprintf("listen_addresses = '127.0.0.1'\nport = %d\nunix_socket_directories = '%s'\n", s.port, s.dir))
	s.control("start")
	s.tb.Cleanup(s.Kill)
}

// Kill kills every process of the server, unless it does not run.
func (s *PostgresServer) Kill() {
	s.tb.Helper()
	if _, err := os.Stat(filepath.Join(s.data(), "postmaster.pid")); err == nil {
		s.control("kill")
	}
}

// Freeze stops every process of the server until Thaw. Clients get no reply, and their connections stay.
func (s *PostgresServer) Freeze() {
	s.tb.Helper()
	s.signal(syscall.SIGSTOP)
}

// Thaw lets a frozen server go on.
func (s *PostgresServer) Thaw() {
	s.tb.Helper()
	s.signal(syscall.SIGCONT)
}

func (s *PostgresServer) signal(signal syscall.Signal) {
	s.tb.Helper()
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		s.tb.Fatal(err)
	}
	server, _, _ := strings.Cut(string(text), "\n")
	tree := s.run(exec.CommandContext(s.tb.Context(), filepath.Join(s.scripts, "tree"), server))
	for word := range strings.FieldsSeq(tree) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			s.tb.Fatal(err)
		}
		// A process may have ended meanwhile.
		_ = syscall.Kill(pid, signal)
	}
}

// Run runs statements.
func (s *PostgresServer) Run(sql string) {
	s.tb.Helper()
	Execute(s.tb, s.URL, sql)
}

// control calls scripts/pgctl, also after the end of the test's context.
func (s *PostgresServer) control(verb string) {
	s.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience.Limit())
	defer cancel()
	s.run(exec.CommandContext(ctx, filepath.Join(s.scripts, "pgctl"), s.bin, s.dir, s.owner, verb))
}

// write adds text to a file of the server. The server owns the file already.
func (s *PostgresServer) write(name, text string) {
	s.tb.Helper()
	file, err := os.OpenFile(filepath.Join(s.data(), name), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteString(text)
		_ = file.Close()
	}
	if err != nil {
		s.tb.Fatal(err)
	}
}

// runAsOwner runs a program of PostgreSQL, which refuses to run as root.
func (s *PostgresServer) runAsOwner(program string, args ...string) {
	s.tb.Helper()
	args = append([]string{filepath.Join(s.bin, program)}, args...)
	if os.Geteuid() == 0 {
		args = append([]string{"runuser", "-u", s.owner, "--"}, args...)
	}
	s.run(exec.CommandContext(s.tb.Context(), args[0], args[1:]...))
}

// run runs a program and returns what it printed. The output goes to files, because a server that a program starts would
// keep a pipe open.
func (s *PostgresServer) run(cmd *exec.Cmd) string {
	s.tb.Helper()
	output, err := os.CreateTemp(s.tb.TempDir(), "output")
	if err != nil {
		s.tb.Fatal(err)
	}
	defer func() { _ = output.Close() }()
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", output, output
	err = cmd.Run()
	text, _ := os.ReadFile(output.Name())
	if err != nil {
		s.tb.Fatalf("%s: %v\n%s", cmd, err, bytes.TrimSpace(text))
	}
	return string(text)
}

// postgresOwner returns the user that PostgreSQL runs as. It is this user, except for root.
func postgresOwner(tb testing.TB) string {
	tb.Helper()
	if os.Geteuid() != 0 {
		return ""
	}
	for _, name := range []string{"postgres", "nobody"} {
		if _, err := user.Lookup(name); err == nil {
			return name
		}
	}
	tb.Fatal("PostgreSQL needs a user that is not root: create one called postgres")
	return ""
}

// moduleFolder returns the folder of go.mod, above the folder of the test.
func moduleFolder(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	tb.Fatalf("there is no go.mod above the folder of the test: %v", err)
	return ""
}
