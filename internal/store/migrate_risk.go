package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/fermata-hq/fermata"
)

const (
	// fillRiskVersion is the schema version of the migration. It follows the SQL file that adds the column.
	fillRiskVersion = 48
	// riskPageSize is how many rows are read at a time.
	riskPageSize = 1000
)

// fillRisk writes the risk of earlier questions into its column, which has the value of a low risk.
func fillRisk(ctx context.Context, tx *sql.Tx) error {
	for last := (riskRow{}); ; {
		page, err := riskRowsAfter(ctx, tx, last)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, row := range page {
			if row.risk == "" {
				continue // Only a text of the question has such words.
			}
			if _, err := tx.ExecContext(ctx, "UPDATE questions SET risk = $1 WHERE workspace_id = $2 AND id = $3", string(row.risk), row.workspace, row.id); err != nil {
				return err
			}
		}
		last = page[len(page)-1]
	}
}

// riskRow is the key of a question, and its risk.
type riskRow struct {
	workspace, id string
	risk          fermata.Risk
}

// riskRowsAfter reads the next questions after the given one that may have a risk, in the order of their ids.
func riskRowsAfter(ctx context.Context, tx *sql.Tx, last riskRow) (page []riskRow, err error) {
	rs, err := tx.QueryContext(ctx, `SELECT workspace_id, id, asked FROM questions WHERE asked LIKE '%"risk":%' AND (workspace_id, id) > ($1, $2)
		ORDER BY workspace_id, id LIMIT $3`, last.workspace, last.id, riskPageSize)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rs.Close()) }()
	err = scanEach(rs, func(rs rows) (riskRow, error) {
		var row riskRow
		var text string
		if err := rs.Scan(&row.workspace, &row.id, &text); err != nil {
			return row, err
		}
		var asked struct {
			Risk fermata.Risk `json:"risk"`
		}
		err := parseColumn("asked", text, &asked)
		row.risk = asked.Risk
		return row, err
	}, func(row riskRow) { page = append(page, row) })
	return page, errors.Join(err, rs.Err())
}
