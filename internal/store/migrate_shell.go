package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/fermata-hq/fermata"
)

const (
	// shellVersion is the schema version of the migration.
	shellVersion = 31
	// shellPageSize is how many tasks are read at a time.
	shellPageSize = 1000
)

// moveToShell gives the tasks that contain a command line to the runner shell. Earlier versions also gave such tasks
// to workers that run their own program. They would do this again, so the migrated database refuses them.
func moveToShell(ctx context.Context, tx *sql.Tx) error {
	for workspace, id := "", ""; ; {
		page, err := commandTasksAfter(ctx, tx, workspace, id)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			_, err := tx.ExecContext(ctx, "UPDATE workspaces SET min_compatible_version = 31")
			return err
		}
		for _, t := range page {
			if !fermata.SpecNamesCommand(t.spec) {
				continue
			}
			if _, err := tx.ExecContext(ctx, "UPDATE tasks SET runner = $1 WHERE workspace_id = $2 AND id = $3",
				fermata.RunnerShell, t.workspace, t.id); err != nil {
				return err
			}
		}
		last := page[len(page)-1]
		workspace, id = last.workspace, last.id
	}
}

// moveFromShell undoes [moveToShell].
func moveFromShell(ctx context.Context, tx *sql.Tx) error {
	for _, text := range []string{
		"UPDATE tasks SET runner = 'command' WHERE runner = 'shell'",
		"UPDATE workspaces SET min_compatible_version = 30",
	} {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// keptCommand is a task whose spec may contain a command line.
type keptCommand struct {
	workspace, id string
	spec          json.RawMessage
}

// commandTasksAfter reads the next tasks after the given one whose specs may contain a command line, in the order of
// their ids.
func commandTasksAfter(ctx context.Context, tx *sql.Tx, workspace, id string) (page []keptCommand, err error) {
	rs, err := tx.QueryContext(ctx, `SELECT workspace_id, id, spec FROM tasks
		WHERE runner IN ('', 'command') AND spec LIKE '%"command"%' AND (workspace_id, id) > ($1, $2)
		ORDER BY workspace_id, id LIMIT $3`, workspace, id, shellPageSize)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rs.Close()) }()
	err = scanEach(rs, func(rs rows) (keptCommand, error) {
		var t keptCommand
		var spec string
		err := rs.Scan(&t.workspace, &t.id, &spec)
		t.spec = json.RawMessage(spec)
		return t, err
	}, func(t keptCommand) { page = append(page, t) })
	return page, errors.Join(err, rs.Err())
}
