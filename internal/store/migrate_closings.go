package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/fermata-hq/fermata"
)

const (
	// fillClosingsVersion is the schema version of the migration. It follows
	// the SQL file that creates the table.
	fillClosingsVersion = 7
	// fillPageSize is how many questions are read at a time.
	fillPageSize = 1000
)

// fillClosings records the questions that closed before analytics existed.
func fillClosings(ctx context.Context, tx *sql.Tx) error {
	for workspace, id := "", ""; ; {
		page, err := closedQuestionsAfter(ctx, tx, workspace, id)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, q := range page {
			part := &Tx{Reader: Reader{workspace: q.WorkspaceID}}
			part.insertClosing(q)
			for _, st := range part.statements {
				if _, err := tx.ExecContext(ctx, st.sql, st.args...); err != nil {
					return err
				}
			}
		}
		last := page[len(page)-1]
		workspace, id = last.WorkspaceID, last.ID
	}
}

// closedQuestionsAfter reads the next closed questions after the given one, with the
// fields that a closing needs.
func closedQuestionsAfter(ctx context.Context, tx *sql.Tx, workspace, id string) (page []*fermata.Question, err error) {
	rs, err := tx.QueryContext(ctx, `SELECT workspace_id, id, project, type, status, title, created_at, resolution FROM questions
		WHERE status <> 'pending' AND (workspace_id, id) > ($1, $2) ORDER BY workspace_id, id LIMIT $3`, workspace, id, fillPageSize)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rs.Close()) }()
	err = scanEach(rs, func(rs rows) (*fermata.Question, error) {
		q := &fermata.Question{Resolution: &fermata.Resolution{}}
		var typ, status, resolution string
		var createdAt int64
		if err := rs.Scan(&q.WorkspaceID, &q.ID, &q.Project, &typ, &status, &q.Title, &createdAt, &resolution); err != nil {
			return nil, err
		}
		q.Type, q.Status, q.CreatedAt = fermata.QuestionType(typ), fermata.QuestionStatus(status), instantOf(createdAt)
		return q, parseColumn("resolution", resolution, q.Resolution)
	}, func(q *fermata.Question) { page = append(page, q) })
	return page, errors.Join(err, rs.Err())
}
