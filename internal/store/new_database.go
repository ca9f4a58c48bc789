package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"

	"github.com/fermata-hq/fermata/internal/keys"
)

// newDatabase is the SQL of a new SQLite database: the schema, the first rows
// and the versions of all migrations. A test generates it from the migrations
// and compares it with them.
//
//go:embed new_sqlite.sql
var newDatabase string

// createSchema gives an empty SQLite database the schema that the migrations
// would give it, in one transaction. The first start is faster by this, because
// SQLite reads the whole schema again after most migrations. It leaves a
// database that has a table unchanged.
func createSchema(ctx context.Context, db *sql.DB, ring *keys.Ring) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	var tables int
	if err = tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return err
	}
	if tables > 0 {
		return tx.Rollback()
	}
	if _, err = tx.ExecContext(ctx, newDatabase); err != nil {
		return err
	}
	for _, version := range []int64{sealVersion, sealToolsVersion} {
		if err = convertSecrets(ctx, tx, version, sealer(ring)); err != nil {
			return err
		}
	}
	return tx.Commit()
}
