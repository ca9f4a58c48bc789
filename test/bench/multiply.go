package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// multiply copies every waiting task with all its rows, so that the number of waiting tasks grows by the factor times.
// The copies have their own ids and event numbers. Their hashes do not chain, but no measurement here reads the hashes.
func (d *database) multiply(ctx context.Context, times int) error {
	return onPostgres(ctx, d.url, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, `CREATE TEMP TABLE model AS
			SELECT id AS task, row_number() OVER (ORDER BY id) - 1 AS n FROM tasks WHERE state = 'awaiting_input'`); err != nil {
			return err
		}
		for _, t := range []struct{ table, task string }{
			{"tasks", "id"}, {"runs", "task_id"}, {"questions", "task_id"}, {"events", "task_id"},
		} {
			if err := copyRows(ctx, conn, t.table, t.task, times); err != nil {
				return fmt.Errorf("copy %s: %w", t.table, err)
			}
		}
		for _, statement := range []string{
			"UPDATE workspaces SET event_seq = (SELECT max(seq) FROM events)", "VACUUM ANALYZE",
		} {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

// copyRows copies the rows of the model tasks in one table. The number of the copy replaces the last seven characters
// of every id.
func copyRows(ctx context.Context, conn *pgx.Conn, table, task string, times int) error {
	rows, err := conn.Query(ctx, `SELECT column_name FROM information_schema.columns
		WHERE table_name = $1 AND table_schema = 'public' ORDER BY ordinal_position`, table)
	if err != nil {
		return err
	}
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	values := make([]string, len(columns))
	for i, column := range columns {
		values[i] = "t." + column
		switch column {
		case "id", "task_id", "run_id", "question_id", "pending_question_id":
			values[i] = fmt.Sprintf("CASE WHEN t.%[1]s = '' THEN '' ELSE left(t.%[1]s, -7) || lpad((m.n * %[2]d + i)::text, 7, '0') END", column, times)
		case "seq":
			values[i] = "(SELECT event_seq FROM workspaces WHERE id = t.workspace_id) + row_number() OVER ()"
		}
	}
	_, err = conn.Exec(ctx, fmt.Sprintf(`INSERT INTO %[1]s (%[2]s)
		SELECT %[3]s FROM generate_series(1, %[4]d) AS i CROSS JOIN %[1]s t JOIN model m ON m.task = t.%[5]s`,
		table, strings.Join(columns, ", "), strings.Join(values, ", "), times-1, task))
	return err
}
