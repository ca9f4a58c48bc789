package store

import (
	"context"
	"database/sql"

	"github.com/fermata-hq/fermata"
)

// fillRiskVersion is the schema version of the migration. It follows the SQL file that adds the column.
const fillRiskVersion = 48

// fillRisk writes the risk of earlier questions into its column, which has the value of a low risk.
func fillRisk(ctx context.Context, tx *sql.Tx) error {
	return eachMigratedRow(ctx, tx, "questions", "asked", `asked LIKE '%"risk":%'`, func(row migratedRow) error {
		var asked struct {
			Risk fermata.Risk `json:"risk"`
		}
		if err := parseColumn("asked", row.text, &asked); err != nil || asked.Risk == "" {
			return err // Without a risk, only a text of the question has such words.
		}
		_, err := tx.ExecContext(ctx, "UPDATE questions SET risk = $1 WHERE workspace_id = $2 AND id = $3", string(asked.Risk), row.workspace, row.id)
		return err
	})
}
