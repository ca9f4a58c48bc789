package store

import (
	"context"
	"database/sql"

	"github.com/pressly/goose/v3"
)

// nextVersion is the schema version of a program that is newer than this one.
const nextVersion = 9001

// nextStatement is the SQL of one more migration. The tests of mixed versions set it when they link the program,
// which then acts as the next version. In every other program it is empty.
var nextStatement string

// nextMigrations returns the migration of nextStatement, if there is one.
func nextMigrations() []*goose.Migration {
	if nextStatement == "" {
		return nil
	}
	up := func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, nextStatement)
		return err
	}
	return []*goose.Migration{goose.NewGoMigration(nextVersion, &goose.GoFunc{RunTx: up}, nil)}
}
