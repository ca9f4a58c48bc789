package storetest

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/fermata-hq/fermata/internal/store"
)

// Exec changes rows behind the store's back, as a foreign hand would.
func Exec(tb testing.TB, opts store.Options, statements string) {
	tb.Helper()
	if store.IsPostgres(opts.URL) {
		if err := onPostgres(opts.URL, "SET search_path TO "+opts.Schema+"; "+statements); err != nil {
			tb.Fatalf("%s: %v", statements, err)
		}
		return
	}
	db, err := sql.Open("sqlite", opts.URL)
	if err != nil {
		tb.Fatalf("open %s: %v", opts.URL, err)
	}
	_, err = db.ExecContext(context.Background(), statements)
	if err = errors.Join(err, db.Close()); err != nil {
		tb.Fatalf("%s: %v", statements, err)
	}
}
