package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/fermata-hq/fermata/internal/keys"
)

// Secrets are sealed with a master key that is not in the database. A sealed secret is bound to its cell: a secret
// that was moved to another cell cannot be opened.

// cell names the place of a sealed value.
type cell struct{ table, column, workspace, row string }

func (c cell) place() []string { return []string{c.table, c.column, c.workspace, c.row} }

// errNoKeys is the error of a process that has no master key.
var errNoKeys = errors.New("the database holds sealed secrets, and no master key was given")

// unseal opens a sealed value. An empty value holds no secret.
func (r Reader) unseal(sealed string, at cell) ([]byte, error) {
	if sealed == "" {
		return nil, nil
	}
	if r.ring == nil {
		return nil, errNoKeys
	}
	return r.ring.Open(sealed, at.place()...)
}

func scanBytes(rs rows) ([]byte, error) {
	var b []byte
	return b, rs.Scan(&b)
}

// seal returns the sealed secret for a cell. An empty secret stays empty. If the secret cannot be sealed, the write
// fails.
func (tx *Tx) seal(secret []byte, at cell) string {
	if len(secret) == 0 {
		return ""
	}
	sealed, err := sealWith(tx.ring, secret, at)
	if err != nil && tx.statementErr == nil {
		tx.statementErr = fmt.Errorf("seal a secret: %w", err)
	}
	return sealed
}

func sealWith(ring *keys.Ring, secret []byte, at cell) (string, error) {
	if ring == nil {
		return "", errNoKeys
	}
	return ring.Seal(ring.Current(), secret, at.place()...)
}

// sealedColumn is a column whose values are sealed.
type sealedColumn struct {
	table, column string
	// row is the SQL expression that names the row within its workspace.
	row string
	// bytes reports whether the column holds bytes instead of text.
	bytes bool
	// since is the schema version that began to seal the column.
	since int64
}

// sealedColumns are all sealed columns. A new one must be added here.
var sealedColumns = []sealedColumn{
	{table: "grant_keys", column: "secret", row: "''", bytes: true, since: sealVersion},
	{table: "delivery_keys", column: "secret", row: "name", bytes: true, since: sealVersion},
	{table: "channels", column: "settings", row: "id", since: sealVersion},
	{table: "channel_state", column: "value", row: "channel_id || '/' || key", since: sealVersion},
	{table: "devices", column: "subscription", row: "id", since: sealVersion},
	{table: "workflows", column: "webhook_secret", row: "name", since: sealVersion},
	{table: "key_check", column: "sealed", row: "''", since: sealVersion},
	{table: "named_tools", column: "tool", row: "name", since: sealToolsVersion},
}

func (c sealedColumn) selectSQL() string {
	return "SELECT workspace_id, " + c.row + ", " + c.column + " FROM " + c.table + " WHERE length(" + c.column + ") > 0"
}

func (c sealedColumn) changeSQL() string {
	return "UPDATE " + c.table + " SET " + c.column + " = $1 WHERE workspace_id = $2 AND " + c.row + " = $3"
}

// value returns the sealed text in the type of the column.
func (c sealedColumn) value(sealed string) any {
	if c.bytes {
		return []byte(sealed)
	}
	return sealed
}

// sealedCell is a value of a sealed column.
type sealedCell struct {
	at    cell
	value string
}

func (c sealedColumn) scan(rs rows) (sealedCell, error) {
	found := sealedCell{at: cell{table: c.table, column: c.column}}
	var value []byte
	err := rs.Scan(&found.at.workspace, &found.at.row, &value)
	found.value = string(value)
	return found, err
}

// Keys returns the master keys with which the database was opened, or nil if there are none.
func (db *DB) Keys() *keys.Ring { return db.opts.Keys }

// SealedWith returns the id of the master key that sealed the database. It is empty for a database without secrets, and
// for one that an older program created.
func (db *DB) SealedWith(ctx context.Context) string {
	found, err := list(db.Reader(ctx, ""), scanString, "SELECT sealed FROM key_check LIMIT 1")
	if err != nil || len(found) == 0 {
		return ""
	}
	id, _ := keys.SealedWith(found[0])
	return id
}

// CheckKeys opens every secret of the database. It returns an error if a secret was sealed with a key that the
// process lacks, was changed, or was moved.
func (db *DB) CheckKeys(ctx context.Context) error {
	r := db.Reader(ctx, "")
	for _, c := range sealedColumns {
		found, err := list(r, c.scan, c.selectSQL())
		if err != nil {
			return err
		}
		for _, f := range found {
			if _, err := r.unseal(f.value, f.at); err != nil {
				return err
			}
		}
	}
	return nil
}

// Reseal seals every secret with the current master key, and returns the number of secrets that it changed. It may be
// repeated.
func (db *DB) Reseal(ctx context.Context) (n int, err error) {
	workspaces, err := list(db.Reader(ctx, ""), scanString, "SELECT id FROM workspaces ORDER BY id")
	if err != nil {
		return 0, err
	}
	for _, workspace := range workspaces {
		err := db.Write(ctx, workspace, func(tx *Tx) error {
			changed, err := tx.reseal()
			n += changed
			return err
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// reseal seals the secrets of the workspace with the current key.
func (tx *Tx) reseal() (n int, err error) {
	if tx.ring == nil {
		return 0, errNoKeys
	}
	for _, c := range sealedColumns {
		found, err := list(tx.Reader, c.scan, c.selectSQL()+" AND workspace_id = $1", tx.workspace)
		if err != nil {
			return n, err
		}
		for _, f := range found {
			if id, _ := keys.SealedWith(f.value); id == tx.ring.Current() {
				continue
			}
			secret, err := tx.unseal(f.value, f.at)
			if err != nil {
				return n, err
			}
			tx.exec(c.changeSQL(), c.value(tx.seal(secret, f.at)), f.at.workspace, f.at.row)
			n++
		}
	}
	return n, nil
}

// SealedColumn names a column whose values are sealed, and the SQL expression that names their rows.
type SealedColumn struct{ Table, Column, Row string }

// SealedColumns lists every column that holds secrets.
func SealedColumns() []SealedColumn {
	all := make([]SealedColumn, 0, len(sealedColumns))
	for _, c := range sealedColumns {
		all = append(all, SealedColumn{c.table, c.column, c.row})
	}
	return all
}
