// Package versions runs two versions of the program on one database. The newer
// version is the same program, linked with one more migration.
package versions

import (
	"context"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
	"github.com/fermata-hq/fermata/test/story"
)

func TestMain(m *testing.M) { process.Main(m) }

// today returns the path of the unchanged program.
func today(t *testing.T) string { return process.Binary(t) }

// next returns the path of a program whose migration adds a column. The program of today can work without the column.
func next(t *testing.T) string {
	return process.NextVersion(t, "ALTER TABLE tasks ADD COLUMN next_note TEXT NOT NULL DEFAULT ''")
}

// breaking returns the path of a program whose migration makes the database incompatible with the program of today.
func breaking(t *testing.T) string {
	return process.NextVersion(t, "UPDATE workspaces SET min_compatible_version = 9001")
}

// steps is how many acknowledgements a story has.
const steps = 40

// Two compatible versions serve one database together. The older one continues
// after the newer one has migrated the database, and can be started again.
func TestCompatibleVersionsServeTogether(t *testing.T) {
	database := process.Postgres(t)
	servers := []*process.Server{process.Serve(t, today(t), database)}
	front := process.NewLoadBalancer(t, servers...)
	s := story.Begin(t, front, process.NewRandom(t), servers[0].FirstToken)
	s.AwaitChanges(steps)
	servers = append(servers, process.Serve(t, next(t), database))
	front.SetServers(servers...)
	s.AwaitChanges(steps)
	servers[0].Stop()
	servers[0] = process.Serve(t, today(t), database)
	front.SetServers(servers...)
	s.AwaitChanges(steps)
	s.Recheck()
	s.End()
}

// A program that would damage a database refuses to start on it, prints a remedy,
// and leaves the database unchanged.
func TestIncompatibleVersionRefusesToStart(t *testing.T) {
	process.RunOnEachDatabase(t, func(t *testing.T, database []string) {
		newer := process.Serve(t, breaking(t), database)
		token := newer.FirstToken
		if status, body := send(t, http.MethodPost, newer.URL+"/v1/tasks", token, `{"title": "Written by the newer version"}`); status != http.StatusCreated {
			t.Fatalf("the newer version answers a write: %d %s", status, body)
		}
		newer.Stop()
		older := process.Launch(t, today(t), database)
		if err := older.Wait(); err == nil {
			t.Fatal("the older version ended well")
		}
		said := older.Output()
		for _, words := range []string{"a newer version of Fermata has migrated this database", "start the newer one"} {
			if !strings.Contains(said, words) {
				t.Errorf("the older version does not say %q:\n%s", words, said)
			}
		}
		newer = process.Serve(t, breaking(t), database)
		verifyChain(t, newer.URL, token)
	})
}

// If a migration makes the database incompatible with a running program, this
// program refuses writes and is not ready.
func TestIncompatibleMigrationStopsTheOlderVersion(t *testing.T) {
	database := process.Postgres(t)
	older := process.Serve(t, today(t), database)
	token := older.FirstToken
	newer := process.Serve(t, breaking(t), database)

	status, body := send(t, http.MethodGet, older.URL+"/readyz", token, "")
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "newer version") {
		t.Errorf("the older version says of itself: %d %s", status, body)
	}
	status, body = send(t, http.MethodPost, older.URL+"/v1/tasks", token, `{"title": "Written by the older version"}`)
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "newer version") {
		t.Errorf("the older version answers a write: %d %s", status, body)
	}
	if status, body = send(t, http.MethodPost, newer.URL+"/v1/tasks", token, `{"title": "Written by the newer version"}`); status != http.StatusCreated {
		t.Errorf("the newer version answers a write: %d %s", status, body)
	}
	verifyChain(t, newer.URL, token)
}

// If a newer version is frozen inside its migration, the database rolls the migration back. The older version continues to
// write, and another replica of the newer version migrates and starts. The frozen replica ends when it wakes up, with the
// reason.
func TestReplicaFrozenInsideAMigration(t *testing.T) {
	database := process.Postgres(t)
	older := process.Serve(t, today(t), database)
	conn, err := pgx.Connect(t.Context(), database[1])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	// The migration waits for this lock, so it can be stopped between its first statement and its commit.
	reading, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err = reading.Exec(t.Context(), "LOCK TABLE tasks IN ACCESS SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	frozen := process.Launch(t, next(t), database)
	patience.Await(t, "the newer version migrates", func() bool {
		var waits bool
		err := reading.QueryRow(t.Context(), "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE relation = 'tasks'::regclass AND NOT granted)").Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
		return waits
	})
	frozen.Freeze()
	if err = reading.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}

	front := process.NewLoadBalancer(t, older)
	admin := front.Client(t, older.FirstToken)
	if _, err = admin.CreateTask(t.Context(), fermata.NewTask{Title: "Written beside a migration that stands still"}); err != nil {
		t.Errorf("a write at the older version: %v", err)
	}
	front.SetServers(process.Serve(t, next(t), database))
	if _, err = admin.CreateTask(t.Context(), fermata.NewTask{Title: "Written after the migration"}); err != nil {
		t.Errorf("a write at the newer version: %v", err)
	}

	frozen.Signal(syscall.SIGCONT)
	if err = frozen.Wait(); err == nil {
		t.Error("the replica that stood still inside its migration ended well")
	}
	if said := "the migration stood still for too long"; !frozen.HasWritten(said) {
		t.Errorf("it does not say %q:\n%s", said, frozen.Output())
	}
	verifyChain(t, older.URL, older.FirstToken)
}

// verifyChain fails the test if the chain of events is broken.
func verifyChain(t *testing.T, url, token string) {
	t.Helper()
	if status, body := send(t, http.MethodGet, url+"/v1/audit/verify", token, ""); status != http.StatusOK || !strings.Contains(body, `"ok":true`) {
		t.Errorf("the chain of events: %d %s", status, body)
	}
}

// send sends a request and returns the status and body of its answer.
func send(t *testing.T, method, url, token, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Timeout: patience.Limit()}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}
