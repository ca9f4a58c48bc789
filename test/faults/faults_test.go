package faults

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

func TestMain(m *testing.M) {
	if socket := os.Getenv(socketEnv); socket != "" {
		fmt.Fprintln(os.Stderr, goUnderDisk(socket))
		os.Exit(1)
	}
	process.Main(m)
}

// served is a server with the client of its admin.
type served struct {
	*process.Server
	t     *testing.T
	admin *client.Client
}

func serve(t *testing.T, binary, folder string, more ...string) *served {
	t.Helper()
	return serveOn(t, binary, []string{"--data", folder}, more...)
}

func serveOn(t *testing.T, binary string, database []string, more ...string) *served {
	t.Helper()
	s := process.Serve(t, binary, database, more...)
	admin, err := client.New(s.URL, s.FirstToken, client.WithoutRetries())
	if err != nil {
		t.Fatal(err)
	}
	return &served{Server: s, t: t, admin: admin}
}

// serveAgain starts a server, stops it and starts it again. So the write-ahead log contains only what the test writes.
func serveAgain(t *testing.T, binary, folder string) *served {
	t.Helper()
	s := serve(t, binary, folder)
	s.Stop()
	s.restart(binary, folder)
	return s
}

// restart starts the server again after it has ended.
func (s *served) restart(binary, folder string) {
	s.t.Helper()
	token := s.FirstToken
	s.Server = process.Serve(s.t, binary, []string{"--data", folder})
	s.FirstToken = token
	var err error
	if s.admin, err = client.New(s.URL, token, client.WithoutRetries()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *served) create() error {
	_, err := s.admin.CreateTask(s.t.Context(), fermata.NewTask{Title: "A task", Body: strings.Repeat("x", 4000)})
	return err
}

// fetch returns the status and the text of an address of the server.
func (s *served) fetch(path string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.FirstToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// awaitNotReady waits until the server says that it is not ready, and checks the reason.
func (s *served) awaitNotReady(reason string) {
	s.t.Helper()
	patience.Await(s.t, "the server is not ready: "+reason, func() bool {
		code, text := s.fetch("/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(text, reason)
	})
}

// awaitReady waits until the server is ready.
func (s *served) awaitReady() {
	s.t.Helper()
	patience.Await(s.t, "the server is ready", func() bool {
		code, _ := s.fetch("/readyz")
		return code == http.StatusOK
	})
}

// doctor runs the doctor, which must report the database as failed and give the reason.
func (s *served) doctor(binary, reason string) {
	s.t.Helper()
	d := process.Start(s.t, binary, []string{"FERMATA_URL=" + s.URL, "FERMATA_TOKEN=" + s.FirstToken}, "doctor")
	if d.Wait() == nil {
		s.t.Error("the doctor found nothing")
	}
	if !d.HasWritten("FAIL  database") || !d.HasWritten(reason) {
		s.t.Errorf("the doctor wrote\n%s", d.Output())
	}
}

// If the database is truncated to half its size, a running server refuses writes. Readiness, the doctor, a metric and the
// log report it. The server does not start on this database again.
func TestDatabaseIsHalved(t *testing.T) {
	binary, folder := process.Binary(t), t.TempDir()
	s := serveAgain(t, binary, folder)
	if err := s.create(); err != nil {
		t.Fatal(err)
	}
	cut(t, filepath.Join(folder, "fermata.db"))
	s.awaitNotReady("was cut to")
	if code := fermata.CodeOf(s.create()); code != fermata.CodeUnavailable {
		t.Errorf("a write was refused with %q", code)
	}
	s.doctor(binary, "was cut to")
	if _, text := s.fetch("/metrics"); !strings.Contains(text, "fermata_database_malformed 1") {
		t.Error("no metric reports it")
	}
	if !s.HasWritten("ALARM: the database is malformed") {
		t.Errorf("the log does not report it:\n%s", s.Output())
	}
	s.Kill()
	refusesToStart(t, binary, folder, "malformed")
}

// refusesToStart starts a server, which must end with an error and print the reason.
func refusesToStart(t *testing.T, binary, folder, reason string) {
	t.Helper()
	again := process.Launch(t, binary, []string{"--data", folder})
	if again.Wait() == nil {
		t.Error("the server ended as if all were well")
	}
	if !again.HasWritten(reason) {
		t.Errorf("the server wrote\n%s", again.Output())
	}
}

// If the write-ahead log is truncated, acknowledged tasks are lost. The server refuses to start and reports the loss until
// an operator accepts it.
func TestLogIsCut(t *testing.T) {
	binary, folder := process.Binary(t), t.TempDir()
	s := serveAgain(t, binary, folder)
	const acknowledged = 60
	for range acknowledged {
		if err := s.create(); err != nil {
			t.Fatal(err)
		}
	}
	s.Kill()
	cut(t, filepath.Join(folder, "fermata.db-wal"))
	refusesToStart(t, binary, folder, "the database is behind what was acknowledged")

	shown := process.Start(t, binary, nil, "accept-loss", "--data", folder)
	if shown.Wait() == nil || !shown.HasWritten("is behind what was acknowledged") {
		t.Errorf("accept-loss wrote\n%s", shown.Output())
	}
	refusesToStart(t, binary, folder, "the database is behind what was acknowledged")
	if err := process.Start(t, binary, nil, "accept-loss", "--yes", "--data", folder).Wait(); err != nil {
		t.Errorf("accept-loss --yes: %v", err)
	}
	s.restart(binary, folder)
	events, _, err := s.admin.Events(t.Context(), client.EventQuery{Types: []fermata.EventType{fermata.EventLossAccepted}, Limit: 10})
	if err != nil || len(events) != 1 {
		t.Errorf("the loss is recorded as %+v, %v", events, err)
	}
	report, err := s.admin.VerifyAudit(t.Context())
	if err != nil || !report.OK {
		t.Errorf("the audit chain: %+v, %v", report, err)
	}
}

// cut truncates a file to its first half.
func cut(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()/2); err != nil {
		t.Fatal(err)
	}
}

// If the disk is full, the server is not ready, at once and with the reason. Once there is space, it continues, and every
// acknowledged change is there.
func TestDiskIsFull(t *testing.T) {
	binary, folder := process.Binary(t), t.TempDir()
	s := serve(t, onSmallDisk(t, binary, folder), folder, "--master-key-file", folder+".key")
	ballast := fillDisk(t, s.PID(), folder)
	acknowledged := 0
	for {
		err := s.create()
		if err != nil {
			if !strings.Contains(err.Error(), "disk of the database is full") {
				t.Errorf("a write was refused with %v", err)
			}
			break
		}
		acknowledged++
	}
	s.awaitNotReady("disk of the database is full")
	s.doctor(binary, "disk of the database is full")
	for range 5 {
		_ = s.create()
	}
	if !s.HasWritten("requests were refused with 503") || !s.HasWritten("the database takes no writes") {
		t.Errorf("the log does not report it:\n%s", s.Output())
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	s.awaitReady()
	if err := s.create(); err != nil {
		t.Errorf("a write after there is space again: %v", err)
	}
	report, err := s.admin.VerifyAudit(context.WithoutCancel(t.Context()))
	if err != nil || !report.OK || report.Events < int64(acknowledged) {
		t.Errorf("the audit chain after %d writes: %+v, %v", acknowledged, report, err)
	}
}

// If the file system becomes read-only, the server refuses writes until it is started again, and reports the reason. Reads
// continue. It does not start on a read-only file system. Afterwards, every acknowledged change is there.
func TestFileSystemBecomesReadOnly(t *testing.T) {
	t.Parallel()
	const reason = "the file system of the database is read-only"
	binary, folder := process.Binary(t), t.TempDir()
	disk := newDisk(t, folder)
	program := disk.wrapWith(binary)
	s := serve(t, program, folder)
	var acknowledged []string
	write := func() error {
		task, err := s.admin.CreateTask(t.Context(), fermata.NewTask{Title: "A task", Body: strings.Repeat("x", 4000)})
		if err == nil {
			acknowledged = append(acknowledged, task.ID)
		}
		return err
	}
	for range 20 {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	disk.readOnly.Store(true)
	if err := write(); fermata.CodeOf(err) != fermata.CodeUnavailable || !strings.Contains(err.Error(), reason) {
		t.Errorf("the first write was refused with %v", err)
	}
	s.awaitNotReady(reason)
	s.doctor(binary, reason)
	if !s.HasWritten("nothing is written any more until the server is started again") || !s.HasWritten(reason) {
		t.Errorf("the log does not report it:\n%s", s.Output())
	}
	s.has(acknowledged)
	disk.readOnly.Store(false)
	if err := write(); fermata.CodeOf(err) != fermata.CodeUnavailable {
		t.Errorf("a write before the restart: %v", err)
	}
	s.Stop()

	disk.readOnly.Store(true)
	refusesToStart(t, program, folder, "read-only file system")
	disk.readOnly.Store(false)
	s.restart(program, folder)
	s.has(acknowledged)
	if err := write(); err != nil {
		t.Errorf("a write after the restart: %v", err)
	}
	report, err := s.admin.VerifyAudit(t.Context())
	if err != nil || !report.OK {
		t.Errorf("the audit chain: %+v, %v", report, err)
	}
	if disk.refused.Load() == 0 {
		t.Error("the disk refused nothing")
	}
}

// has checks that the server has the tasks.
func (s *served) has(tasks []string) {
	s.t.Helper()
	for _, id := range tasks {
		if _, err := s.admin.Task(s.t.Context(), id); err != nil {
			s.t.Errorf("an acknowledged task: %v", err)
		}
	}
}
