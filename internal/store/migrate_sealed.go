package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/pressly/goose/v3"

	"github.com/fermata-hq/fermata/internal/keys"
)

// sealVersion is the schema version that began to seal secrets. sealToolsVersion is the version that began to seal
// named tools, because the environment and the headers of an MCP server may hold secrets.
const (
	sealVersion      = 22
	sealToolsVersion = 30
)

// sealMigrations returns the migrations that seal the secrets of a database. Earlier programs cannot read a sealed
// database.
func sealMigrations(ring *keys.Ring) []*goose.Migration {
	return []*goose.Migration{
		sealMigration(ring, sealVersion, []string{
			// The one sealed value in key_check shows a process at once that it has the wrong key.
			"CREATE TABLE key_check (workspace_id TEXT PRIMARY KEY, sealed TEXT NOT NULL)",
			"INSERT INTO key_check (workspace_id, sealed) SELECT id, 'fermata' FROM workspaces",
			"UPDATE workspaces SET min_compatible_version = 22",
		}, "DROP TABLE key_check"),
		sealMigration(ring, sealToolsVersion,
			[]string{"UPDATE workspaces SET min_compatible_version = 30"}, "UPDATE workspaces SET min_compatible_version = 29"),
	}
}

// sealMigration returns a migration that runs the statements before, and then seals the columns of its version. The
// down migration unseals these columns, and then runs the statement after.
func sealMigration(ring *keys.Ring, version int64, before []string, after string) *goose.Migration {
	up := func(ctx context.Context, tx *sql.Tx) error {
		for _, text := range before {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return convertSecrets(ctx, tx, version, sealer(ring))
	}
	down := func(ctx context.Context, tx *sql.Tx) error {
		if err := convertSecrets(ctx, tx, version, opener(ring)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, after)
		return err
	}
	return goose.NewGoMigration(version, &goose.GoFunc{RunTx: up}, &goose.GoFunc{RunTx: down})
}

// sealer returns the conversion that seals secrets with the ring.
func sealer(ring *keys.Ring) func(string, cell) (string, error) {
	return func(secret string, at cell) (string, error) { return sealWith(ring, []byte(secret), at) }
}

// opener returns the conversion that opens sealed secrets with the ring.
func opener(ring *keys.Ring) func(string, cell) (string, error) {
	return func(sealed string, at cell) (string, error) {
		if ring == nil {
			return "", errNoKeys
		}
		secret, err := ring.Open(sealed, at.place()...)
		return string(secret), err
	}
}

// convertSecrets converts the values in the columns that the version began to seal.
func convertSecrets(ctx context.Context, tx *sql.Tx, version int64, convert func(string, cell) (string, error)) error {
	for _, c := range sealedColumns {
		if c.since != version {
			continue
		}
		found, err := readCells(ctx, tx, c)
		if err != nil {
			return err
		}
		for _, f := range found {
			value, err := convert(f.value, f.at)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, c.changeSQL(), c.value(value), f.at.workspace, f.at.row); err != nil {
				return err
			}
		}
	}
	return nil
}

func readCells(ctx context.Context, tx *sql.Tx, c sealedColumn) (found []sealedCell, err error) {
	rs, err := tx.QueryContext(ctx, c.selectSQL())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rs.Close()) }()
	err = scanEach(rs, c.scan, func(f sealedCell) { found = append(found, f) })
	return found, errors.Join(err, rs.Err())
}
