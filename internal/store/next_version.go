//go:build schema_next || schema_breaking

package store

import (
	"context"
	"database/sql"

	"github.com/pressly/goose/v3"
)

// nextVersion is the schema version of a program that comes after this one.
const nextVersion = 9001

// nextMigrations make this program pass for the version that comes next.
func nextMigrations() []*goose.Migration {
	up := func(ctx context.Context, tx *sql.Tx) error {
		for _, text := range nextStatements {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return nil
	}
	return []*goose.Migration{goose.NewGoMigration(nextVersion, &goose.GoFunc{RunTx: up}, nil)}
}
