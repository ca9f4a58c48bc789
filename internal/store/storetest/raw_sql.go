package storetest

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	"github.com/fermata-hq/fermata/internal/store"
)

// Exec changes rows without the store, like another program that writes into the database.
func Exec(tb testing.TB, opts store.Options, statements string) {
	tb.Helper()
	if store.IsPostgres(opts.URL) {
		if err := onPostgres(opts.URL, "SET search_path TO "+opts.Schema+"; "+statements); err != nil {
			tb.Fatalf("%s: %v", statements, err)
		}
		return
	}
	db := OpenFile(tb, opts.URL)
	_, err := db.ExecContext(context.Background(), statements)
	if err = errors.Join(err, db.Close()); err != nil {
		tb.Fatalf("%s: %v", statements, err)
	}
}

// OpenFile opens a SQLite file without the store. Its statements wait up to five seconds for a writer that holds the
// file.
func OpenFile(tb testing.TB, path string) *sql.DB {
	tb.Helper()
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=busy_timeout(5000)")
	if err != nil {
		tb.Fatalf("open %s: %v", path, err)
	}
	return db
}

// Rows reads rows of two texts without the store.
func Rows(tb testing.TB, opts store.Options, query string) (out [][2]string) {
	tb.Helper()
	var db *sql.DB
	if store.IsPostgres(opts.URL) {
		var err error
		if db, err = sql.Open("pgx", opts.URL); err != nil {
			tb.Fatalf("open %s: %v", opts.URL, err)
		}
		query = strings.ReplaceAll(query, " FROM ", " FROM "+opts.Schema+".")
	} else {
		db = OpenFile(tb, opts.URL)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(tb.Context(), query)
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var first, second []byte
		if err := rows.Scan(&first, &second); err != nil {
			tb.Fatalf("%s: %v", query, err)
		}
		out = append(out, [2]string{string(first), string(second)})
	}
	if err := rows.Err(); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return out
}
