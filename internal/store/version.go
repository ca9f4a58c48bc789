package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/pressly/goose/v3"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/keys"
)

// knownVersion is the newest schema version that this program knows.
var knownVersion = newestMigration()

func newestMigration() int64 {
	var newest int64
	entries, err := migrations.ReadDir("migrations")
	if err != nil {
		panic("store: read the embedded migrations: " + err.Error())
	}
	for _, entry := range entries {
		version, err := goose.NumericComponent(entry.Name())
		if err != nil {
			panic("store: a migration without a number: " + err.Error())
		}
		newest = max(newest, version)
	}
	for _, m := range programMigrations(nil) {
		newest = max(newest, m.Version)
	}
	return newest
}

// checkVersion returns an error for a database that a newer, incompatible
// program has migrated. This program does not know the data that the newer one
// writes, and would break the chain of events. needed is the oldest schema
// version that the database accepts.
func checkVersion(needed int64) error {
	if knownVersion >= needed {
		return nil
	}
	return fermata.Errorf(fermata.CodeUnavailable,
		"a newer version of Fermata has migrated this database: it needs schema version %d, and this program knows version %d", needed, knownVersion).
		WithHint("stop this program and start the newer one, or restore the backup that was made before the migration")
}

// migrateUp brings the schema to this program's version. It does not change a
// database that a newer program has migrated, and returns an error if that
// database does not accept this program.
func migrateUp(ctx context.Context, dialect goose.Dialect, db *sql.DB, ring *keys.Ring) error {
	provider, err := newProvider(dialect, db, ring)
	if err != nil {
		return err
	}
	version, err := provider.GetDBVersion(ctx)
	if err != nil {
		return err
	}
	if version <= knownVersion {
		_, err = provider.Up(ctx)
		return err
	}
	var needed int64
	err = db.QueryRowContext(ctx, "SELECT max(min_compatible_version) FROM workspaces").Scan(&needed)
	return errors.Join(err, checkVersion(needed))
}
