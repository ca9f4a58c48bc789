package store

import (
	"context"
	"database/sql"

	"github.com/pressly/goose/v3"
)

// nextVersion is the schema version of a program that comes after this one.
const nextVersion = 9001

// nextStatement makes this program pass for the version that comes next: it is the SQL of one migration more. Only
// the tests of mixed versions set it, when they link the program.
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
