package store

import (
	"context"
	"database/sql"
	"strings"
)

// fillLabelsVersion is the schema version of the migration. It follows the SQL file that creates the tables.
const fillLabelsVersion = 43

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
	return eachMigratedRow(ctx, tx, table, column, column+" <> ''", func(row migratedRow) error {
		var names []string
		if err := parseColumn(column, row.text, &names); err != nil {
			return err
		}
		for _, name := range names {
			if _, err := tx.ExecContext(ctx, insertSQL, row.workspace, row.id, written(name)); err != nil {
				return err
			}
		}
		return nil
	})
}
