package replicas

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// openDirectly opens a database through a pooler, with its direct address.
func openDirectly(t *testing.T, pooler, direct string) *store.DB {
	t.Helper()
	return storetest.Open(t, store.Options{URL: pooler, DirectURL: direct, Keys: storetest.MasterKeys, StallLimit: patience.Limit()})
}

// Behind a pooler, replicas with a direct address learn of each other's commits, and notice when one of them ends.
func TestDirectAddressKeepsSessionsBehindAPooler(t *testing.T) {
	t.Parallel()
	database, behind := process.StartPooler(t)
	first, second := openDirectly(t, database[1], behind), openDirectly(t, database[1], behind)
	ctx, cancel := context.WithCancel(t.Context())
	notified, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- first.Listen(ctx, func() { notified <- struct{}{} }) }()
	patience.Receive(t, "listening begins", notified)
	if !first.IsPresent() {
		t.Error("a replica that listens is not present")
	}
	if err := second.Notify(t.Context()); err != nil {
		t.Fatal(err)
	}
	patience.Receive(t, "the notification arrives", notified)
	isGone := func() bool {
		gone, err := second.GoneProcesses(t.Context(), []string{first.ProcessName()})
		if err != nil {
			t.Fatal(err)
		}
		return len(gone) == 1
	}
	if isGone() {
		t.Error("a replica that listens is gone")
	}
	cancel()
	if err := patience.Receive(t, "listening ends", ended); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("listen: %v", err)
	}
	patience.Await(t, "the replica is gone", isGone)
}

// Migrations use the direct address. In this database they fail through the pooler, which keeps no settings.
func TestMigrationsUseTheDirectAddress(t *testing.T) {
	t.Parallel()
	database, behind := process.StartPooler(t)
	process.Execute(t, behind, `CREATE FUNCTION refuse_pooled() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
		IF current_setting('enable_seqscan') = 'on' THEN RAISE EXCEPTION 'this came through the pooler'; END IF; END $$;
		CREATE EVENT TRIGGER refuse_pooled ON ddl_command_start EXECUTE FUNCTION refuse_pooled()`)
	db := openDirectly(t, database[1], behind)
	if _, err := db.Reader(t.Context(), store.DefaultWorkspace).Head(); err != nil {
		t.Fatal(err)
	}
}

// A server does not start with a direct address of another database, or of a pooler.
func TestAnotherDirectAddressIsRefused(t *testing.T) {
	t.Parallel()
	database, _ := process.StartPooler(t)
	other, _, _ := process.OwnDatabase(t)
	binary := process.Binary(t)
	for direct, want := range map[string]string{
		other[1]:    "--database-direct names another database than --database",
		database[1]: "a pooler answers at --database-direct",
	} {
		flags := []string{"--database", database[1], "--database-direct", direct, "--master-key-file", filepath.Join(t.TempDir(), "master.key")}
		s := process.Launch(t, binary, flags)
		if err := s.Wait(); err == nil {
			t.Errorf("%s: the server ended without an error", want)
		}
		if text := s.Output(); !strings.Contains(text, want) || !strings.Contains(text, "set --database-direct to PostgreSQL itself") {
			t.Errorf("the server wrote:\n%s\nand not: %s", text, want)
		}
	}
}
