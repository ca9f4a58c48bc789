package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// migratedPageSize is how many rows a migration reads at a time.
const migratedPageSize = 1000

// migratedRow is a row of a table, as a migration reads it.
type migratedRow struct {
	workspace, id string
	// text is the value of the one column that the migration reads.
	text string
}

// eachMigratedRow calls use for each row of the table that fits the condition, in the order of the ids. It reads a page at a time,
// so that use may write.
func eachMigratedRow(ctx context.Context, tx *sql.Tx, table, column, condition string, use func(migratedRow) error) error {
	query := fmt.Sprintf(`SELECT workspace_id, id, %s FROM %s WHERE %s AND (workspace_id, id) > ($1, $2)
		ORDER BY workspace_id, id LIMIT %d`, column, table, condition, migratedPageSize)
	for last := (migratedRow{}); ; {
		page, err := readMigratedRows(ctx, tx, query, last)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, row := range page {
			if err := use(row); err != nil {
				return err
			}
		}
		last = page[len(page)-1]
	}
}

func readMigratedRows(ctx context.Context, tx *sql.Tx, query string, last migratedRow) (page []migratedRow, err error) {
	rs, err := tx.QueryContext(ctx, query, last.workspace, last.id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rs.Close()) }()
	err = scanEach(rs, func(rs rows) (row migratedRow, err error) {
		return row, rs.Scan(&row.workspace, &row.id, &row.text)
	}, func(row migratedRow) { page = append(page, row) })
	return page, errors.Join(err, rs.Err())
}
