package storetest

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

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

// Rows reads rows of two texts behind the store's back.
func Rows(tb testing.TB, opts store.Options, query string) (out [][2]string) {
	tb.Helper()
	driver, address := "sqlite", opts.URL
	if store.IsPostgres(opts.URL) {
		driver, address = "pgx", opts.URL
		query = strings.ReplaceAll(query, " FROM ", " FROM "+opts.Schema+".")
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		tb.Fatalf("open %s: %v", opts.URL, err)
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
