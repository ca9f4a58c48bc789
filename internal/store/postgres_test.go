package store_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

func TestPostgresSettings(t *testing.T) {
	t.Parallel()
	for value, ok := range map[string]bool{"on": true, "local": true, "remote_apply": true, "off": false} {
		if err := store.CheckSetting("synchronous_commit", value); (err == nil) != ok {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestPostgresThatMayLoseCommitsIsRefused(t *testing.T) {
	t.Parallel()
	opts := storetest.Postgres(t)
	separator := "?"
	if strings.Contains(opts.URL, "?") {
		separator = "&"
	}
	opts.URL += separator + "options=-c%20synchronous_commit%3Doff"
	db, err := store.Open(t.Context(), opts)
	if err == nil {
		must(t, db.Close())
		t.Fatal("synchronous_commit=off was taken")
	}
	if !strings.Contains(err.Error(), "synchronous_commit") {
		t.Errorf("the error does not name the setting: %v", err)
	}
}

func TestPostgresOutOfReachIsUnavailable(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"postgres://fermata@127.0.0.1:1/fermata", "postgresql://fermata@127.0.0.1:1/fermata?sslmode=disable"} {
		_, err := store.Open(t.Context(), store.Options{URL: address})
		code(t, err, fermata.CodeUnavailable)
	}
}

func TestPostgresAddressKeepsItsPassword(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"postgres://u:secret@127.0.0.1:x/db", "postgres://u:secret@127.0.0.1:1/db?sslmode=maybe", "postgres://u:secret@127.0.0.1:1/db"} {
		_, err := store.Open(t.Context(), store.Options{URL: address})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("the error is %v", err)
		}
	}
}

// TestPostgresHeals checks what happens when the server ends every connection.
// A write and a read fail as unavailable at most as often as there were
// connections, and then succeed.
func TestPostgresHeals(t *testing.T) {
	t.Parallel()
	opts := storetest.Postgres(t)
	db := storetest.Open(t, opts)
	must(t, writeEvent(t, db))
	admin, err := pgx.Connect(t.Context(), opts.URL)
	must(t, err)
	defer func() { must(t, admin.Close(t.Context())) }()
	for name, act := range map[string]func() error{
		"read":  func() error { _, err := db.Reader(t.Context(), store.DefaultWorkspace).Projects(); return err },
		"write": func() error { return writeEvent(t, db) },
	} {
		ended := store.Backends(t.Context(), db)
		for _, pid := range ended {
			_, err := admin.Exec(t.Context(), "SELECT pg_terminate_backend($1::int, 5000)", int32(pid))
			must(t, err)
		}
		for range ended {
			if err := act(); err != nil {
				code(t, err, fermata.CodeUnavailable)
			}
		}
		if err := act(); err != nil {
			t.Fatalf("a %s after the server is back: %v", name, err)
		}
	}
	if n := verifyChain(t, db); n < 2 {
		t.Errorf("%d events", n)
	}
}
