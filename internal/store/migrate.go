package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"slices"

	"github.com/pressly/goose/v3"

	"github.com/fermata-hq/fermata/internal/keys"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the schema up to date. Replicas that start at the same time
// migrate one after the other.
func (db *DB) Migrate(ctx context.Context) error {
	// If migrations were undone before, events were removed as well, and the
	// known heads do not apply.
	db.committedHeads.Clear()
	if err := db.backend.migrate(ctx, db.opts.Keys); err != nil {
		return fmt.Errorf("migrate the %s database: %w", db.Dialect(), err)
	}
	return nil
}

// newProvider returns the provider of the migrations: the SQL files, and those
// of programMigrations.
func newProvider(dialect goose.Dialect, db *sql.DB, ring *keys.Ring) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(dialect, db, files, goose.WithVerbose(false), goose.WithGoMigrations(programMigrations(ring)...))
}

// programMigrations returns the migrations that need Go code.
func programMigrations(ring *keys.Ring) []*goose.Migration {
	fill := goose.NewGoMigration(fillClosingsVersion, &goose.GoFunc{RunTx: fillClosings}, nil)
	clean := goose.NewGoMigration(removeBearersVersion, &goose.GoFunc{RunTx: removeBearers}, nil)
	shell := goose.NewGoMigration(shellVersion, &goose.GoFunc{RunTx: moveToShell}, &goose.GoFunc{RunTx: moveFromShell})
	labels := goose.NewGoMigration(fillLabelsVersion, &goose.GoFunc{RunTx: fillLabels}, nil)
	risk := goose.NewGoMigration(fillRiskVersion, &goose.GoFunc{RunTx: fillRisk}, nil)
	return slices.Concat([]*goose.Migration{fill, clean, shell, labels, risk}, sealMigrations(ring), nextMigrations())
}

func (b *sqliteBackend) migrate(ctx context.Context, ring *keys.Ring) error {
	b.gate <- struct{}{}
	defer func() { <-b.gate }()
	if _, err := b.checkpoint("TRUNCATE"); err != nil {
		return err
	}
	// goose needs database/sql. The last connection that is closed copies the write-ahead log, and would hide a failure. The
	// writer stays open, so this one is not the last.
	db, err := sql.Open("sqlite", sqliteDSN(b.files.path, b.vfs))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	if err = createSchema(ctx, db, ring); err == nil {
		err = migrateUp(ctx, goose.DialectSQLite3, db, ring)
	}
	if err = errors.Join(sqliteError(err), db.Close(), b.writer.forget()); err != nil {
		return err
	}
	_, err = b.checkpoint("TRUNCATE")
	return err
}

// isConnectionError reports whether the connection to the server broke.
func isConnectionError(err error) bool {
	var netErr net.Error
	return errors.As(err, &netErr) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}
