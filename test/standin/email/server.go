package email

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/ports"
)

// Domain is the domain of all mailboxes of a [Server]. Host is the name of the
// server itself.
const (
	Domain = "people.test"
	Host   = "mail.people.test"
	// Password opens every mailbox.
	Password = "correct-horse"
)

// Options change the defaults of a server.
type Options struct {
	// NoIdle starts an IMAP server that cannot announce new mail (no IDLE).
	NoIdle bool
	// NoAuthentication leaves out the header Authentication-Results.
	NoAuthentication bool
}

// Server is a complete mail server: Exim and Dovecot on free ports of the
// loopback address, with a mailbox for every name at [Domain]. Some names are
// special: gone is refused, slow is refused temporarily, full is accepted and
// then bounces.
type Server struct {
	// CA is the authority of the server's certificate, in PEM.
	CA string

	options Options
	dir     string
	owner   *user.User
	ports   serverPorts
	// block reserves the ports, so that servers of other tests do not use them.
	block *ports.Block
	tb    testing.TB

	mu        sync.Mutex
	processes map[string]*process
}

// process is a server process, with the end of the pipe that keeps it alive.
type process struct {
	cmd       *exec.Cmd
	keepAlive *os.File
	exited    chan error
}

// Start starts a server that runs until the test ends. It fails the test if the
// programs are missing; scripts/setup mail installs them.
func Start(tb testing.TB, o Options) *Server {
	tb.Helper()
	for _, program := range []string{exim(), dovecot()} {
		if _, err := exec.LookPath(program); err != nil {
			tb.Fatalf("%v: run scripts/setup mail", err)
		}
	}
	s := &Server{options: o, tb: tb, processes: map[string]*process{}}
	tb.Cleanup(s.cleanUp)
	if err := s.prepare(); err != nil {
		tb.Fatalf("prepare the mail server: %v", err)
	}
	if err := s.startAll(); err != nil {
		tb.Fatalf("the mail server did not start: %v", err)
	}
	return s
}

func (s *Server) startAll() error {
	var err error
	if s.block, err = ports.Reserve(); err != nil {
		return err
	}
	s.ports = portsFrom(s.block.First)
	if err := s.configure(); err != nil {
		return err
	}
	return errors.Join(s.StartIMAP(), s.StartSMTP())
}

// exim and dovecot return the paths of the programs. Debian installs them
// outside a normal user's PATH.
func exim() string    { return programPath("FERMATA_TEST_EXIM", "/usr/sbin/exim4") }
func dovecot() string { return programPath("FERMATA_TEST_DOVECOT", "/usr/sbin/dovecot") }

func programPath(variable, usual string) string {
	if program := os.Getenv(variable); program != "" {
		return program
	}
	return usual
}

// prepare creates the directory that the servers own. The servers refuse to run
// as root, so they run as nobody if the tests run as root.
func (s *Server) prepare() error {
	var err error
	if s.owner, err = user.Current(); err != nil {
		return err
	}
	if s.owner.Uid == "0" {
		if s.owner, err = user.Lookup("nobody"); err != nil {
			return err
		}
	}
	// The path of a socket is limited to about 100 bytes, and the owner must be
	// able to reach it.
	if s.dir, err = os.MkdirTemp("/tmp", "fermata-mail."); err != nil {
		return err
	}
	if s.CA, err = writeCertificate(s.dir); err != nil {
		return err
	}
	for _, folder := range []string{"run", "state", "mail", "spool", "log"} {
		if err := os.Mkdir(filepath.Join(s.dir, folder), 0o700); err != nil {
			return err
		}
	}
	return s.chownFiles()
}

func (s *Server) chownFiles() error {
	if os.Getuid() != 0 {
		return nil
	}
	uid, err := strconv.Atoi(s.owner.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(s.owner.Gid)
	if err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(s.dir, "*"))
	for _, name := range append(names, s.dir) {
		err = errors.Join(err, os.Lchown(name, uid, gid))
	}
	return err
}

func (s *Server) configure() error {
	group, err := user.LookupGroupId(s.owner.Gid)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"exim.conf": s.eximConfig(group.Name), "dovecot.conf": s.dovecotConfig(group.Name)} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil { //nolint:gosec // its owner is another user
			return err
		}
	}
	return nil
}

// StartSMTP starts Exim. [Server.StopSMTP] stops it.
func (s *Server) StartSMTP() error {
	return s.run("exim", []int{s.ports.smtp, s.ports.smtps}, exim(), "-C", filepath.Join(s.dir, "exim.conf"), "-bdf", "-q1s")
}

// StopSMTP stops Exim. The mails that it accepted stay in its queue.
func (s *Server) StopSMTP() { s.stop("exim") }

// PauseSMTP stops Exim in the middle of its work, until ResumeSMTP.
func (s *Server) PauseSMTP() error { return s.signal("exim", syscall.SIGSTOP) }

// ResumeSMTP lets Exim continue its work.
func (s *Server) ResumeSMTP() error { return s.signal("exim", syscall.SIGCONT) }

func (s *Server) signal(name string, sig syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return syscall.Kill(-s.processes[name].cmd.Process.Pid, sig)
}

// StartIMAP starts Dovecot. [Server.StopIMAP] stops it.
func (s *Server) StartIMAP() error {
	return s.run("dovecot", []int{s.ports.imap, s.ports.imaps, s.ports.lmtp}, dovecot(), "-F", "-c", filepath.Join(s.dir, "dovecot.conf"))
}

// StopIMAP stops Dovecot and closes every connection. The mailboxes stay.
func (s *Server) StopIMAP() { s.stop("dovecot") }

func (s *Server) run(name string, ports []int, program string, args ...string) error {
	// The servers end together with the tests, even if the tests are killed.
	// Then the system closes the pipe, and the shell's child kills the group.
	held, hold, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = held.Close() }()
	cmd := exec.CommandContext(context.Background(), "/bin/sh", append([]string{
		"-c", `(cat <&3; kill -KILL 0) >/dev/null 2>&1 & exec "$@" 3<&-`, "sh", program}, args...)...)
	cmd.Dir, cmd.ExtraFiles, cmd.WaitDelay = s.dir, []*os.File{held}, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() == 0 {
		uid, _ := strconv.ParseUint(s.owner.Uid, 10, 32)
		gid, _ := strconv.ParseUint(s.owner.Gid, 10, 32)
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), Groups: []uint32{uint32(gid)}}
	}
	output := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		_ = hold.Close()
		return err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	if err := awaitPorts(ports, exited); err != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = hold.Close()
		return fmt.Errorf("%s: %w: %s%s", name, err, output, s.Log())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processes[name] = &process{cmd: cmd, keepAlive: hold, exited: exited}
	return nil
}

// awaitPorts returns when a server listens at each port.
func awaitPorts(ports []int, exited chan error) error {
	for _, port := range ports {
		if err := awaitPort(port, exited); err != nil {
			return fmt.Errorf("port %d: %w", port, err)
		}
	}
	return nil
}

func awaitPort(port int, exited chan error) error {
	var ended error
	var err error
	if !patience.Until(func() bool {
		select {
		case ended = <-exited:
			return true
		default:
		}
		var conn net.Conn
		if conn, err = net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil { //nolint:noctx // this machine answers at once
			err = conn.Close()
		}
		return err == nil
	}) {
		return err
	}
	if ended != nil {
		return fmt.Errorf("it ended: %w", ended)
	}
	return nil
}

func (s *Server) stop(name string) {
	s.mu.Lock()
	r := s.processes[name]
	delete(s.processes, name)
	s.mu.Unlock()
	if r == nil {
		return
	}
	group := -r.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for range 50 {
		if syscall.Kill(group, 0) != nil {
			break
		}
		<-ticker.C
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	<-r.exited //nolint:errcheck // it was killed
	_ = r.keepAlive.Close()
}

func (s *Server) stopAll() {
	s.StopSMTP()
	s.StopIMAP()
}

func (s *Server) cleanUp() {
	s.stopAll()
	if s.tb.Failed() {
		s.tb.Logf("the mail server's log:\n%s", s.Log())
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
	if s.block != nil {
		s.block.Release()
	}
}

// Log returns the logs of the servers.
func (s *Server) Log() string {
	var all strings.Builder
	files, _ := filepath.Glob(filepath.Join(s.dir, "log", "*"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		fmt.Fprintf(&all, "== %s\n%s", filepath.Base(file), text)
	}
	return all.String()
}

// SMTP returns the address of the outgoing server for a user.
func (s *Server) SMTP(name string) string { return address("smtp", name, s.ports.smtp) }

// SMTPS returns the same address, with the port that uses TLS from the start.
func (s *Server) SMTPS(name string) string { return address("smtps", name, s.ports.smtps) }

// IMAP returns the address of a user's mailbox.
func (s *Server) IMAP(name string) string { return address("imap", name, s.ports.imap) }

// IMAPS returns the same address, with the port that uses TLS from the start.
func (s *Server) IMAPS(name string) string { return address("imaps", name, s.ports.imaps) }

func address(scheme, name string, port int) string {
	return fmt.Sprintf("%s://%s@localhost:%d", scheme, strings.ReplaceAll(name, "@", "%40"), port)
}
