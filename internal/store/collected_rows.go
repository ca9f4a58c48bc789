package store

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// collectedRows are the rows of a query, all of which were received. A look-up that gets them sees no row of a query
// that fails later, and can be repeated elsewhere.
type collectedRows struct {
	types   *pgtype.Map
	columns []pgconn.FieldDescription
	values  [][][]byte
	// next is the place of the row that Next moves to.
	next int
}

// collectLookups runs look-ups and returns their rows, which are valid while the caller has the connection.
func collectLookups(ctx context.Context, conn *pgxpool.Conn, lookups []lookup) ([]*collectedRows, error) {
	results := conn.SendBatch(ctx, newBatch(nil, lookups))
	collected := make([]*collectedRows, 0, len(lookups))
	for range lookups {
		rs, err := results.Query()
		if err == nil {
			var rows *collectedRows
			rows, err = collectRows(rs, conn.Conn().TypeMap())
			collected = append(collected, rows)
		}
		if err != nil {
			return nil, errors.Join(err, results.Close())
		}
	}
	return collected, results.Close()
}

func collectRows(rs pgx.Rows, types *pgtype.Map) (*collectedRows, error) {
	defer rs.Close()
	r := &collectedRows{types: types}
	for rs.Next() {
		row := slices.Clone(rs.RawValues())
		for i, value := range row {
			row[i] = bytes.Clone(value)
		}
		r.values = append(r.values, row)
	}
	r.columns = slices.Clone(rs.FieldDescriptions())
	return r, rs.Err()
}

// Next moves to the next row, and reports whether there is one.
func (r *collectedRows) Next() bool {
	r.next++
	return r.next <= len(r.values)
}

// Scan reads the columns of the row.
func (r *collectedRows) Scan(dest ...any) error {
	return pgx.ScanRow(r.types, r.columns, r.values[r.next-1], dest...)
}

// Err returns nil: all rows were received.
func (r *collectedRows) Err() error { return nil }
