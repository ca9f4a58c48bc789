package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

const (
	// fillLabelsVersion is the schema version of the migration. It follows the SQL file that creates the tables.
	fillLabelsVersion = 43
	// labelsPageSize is how many rows are read at a time.
	labelsPageSize = 1000
)

// fillLabels gives the labels of earlier tasks and the assignees of earlier questions their rows.
func fillLabels(ctx context.Context, tx *sql.Tx) error {
	if err := fillNames(ctx, tx, "tasks", "labels", func(label string) string { return label }, insertLabelSQL); err != nil {
		return err
	}
	if err := fillNames(ctx, tx, "questions", "assignees", strings.ToLower, insertAssigneeSQL); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE question_assignees SET closed = 1 WHERE NOT EXISTS (SELECT 1 FROM questions q
		WHERE q.workspace_id = question_assignees.workspace_id AND q.id = question_assignees.question_id AND q.status = 'pending')`)
	return err
}

// fillNames runs the statement for each name in a column of a table.
func fillNames(ctx context.Context, tx *sql.Tx, table, column string, written func(string) string, insertSQL string) error {
	for workspace, id := "", ""; ; {
		page, err := namesAfter(ctx, tx, table, column, workspace, id)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, row := range page {
			for _, name := range row.names {
				if _, err := tx.ExecContext(ctx, insertSQL, row.workspace, row.id, written(name)); err != nil {
					return err
				}
			}
		}
		last := page[len(page)-1]
		workspace, id = last.workspace, last.id
	}
}

// namedRow is a row of a table, and the names in one of its columns.
type namedRow struct {
	workspace, id string
	names         []string
}

// namesAfter reads the next rows after the given one that have names, in the order of their ids.
func namesAfter(ctx context.Context, tx *sql.Tx, table, column, workspace, id string) (page []namedRow, err error) {
	rs, err := tx.QueryContext(ctx, fmt.Sprintf(`SELECT workspace_id, id, %[2]s FROM %[1]s WHERE %[2]s <> '' AND (workspace_id, id) > ($1, $2)
		ORDER BY workspace_id, id LIMIT $3`, table, column), workspace, id, labelsPageSize)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rs.Close()) }()
	err = scanEach(rs, func(rs rows) (namedRow, error) {
		var row namedRow
		var names string
		if err := rs.Scan(&row.workspace, &row.id, &names); err != nil {
			return row, err
		}
		return row, parseColumn(column, names, &row.names)
	}, func(row namedRow) { page = append(page, row) })
	return page, errors.Join(err, rs.Err())
}
