package store

import "github.com/fermata-hq/fermata"

func scanView(rs rows) (fermata.SavedView, error) {
	var v fermata.SavedView
	var shared, updatedAt int64
	err := rs.Scan(&v.OwnerID, &v.Name, &v.Query, &shared, &updatedAt)
	v.Shared, v.UpdatedAt = shared != 0, instantOf(updatedAt)
	return v, err
}

// Views lists a member's saved views and the shared views of other members, by
// name.
func (r Reader) Views(member string) ([]fermata.SavedView, error) {
	return list(r, scanView, `SELECT member_id, name, query, shared, updated_at FROM saved_views
		WHERE workspace_id = $1 AND (member_id = $2 OR shared = 1) ORDER BY name, member_id`, r.workspace, member)
}

// SaveView writes a view under its name.
func (tx *Tx) SaveView(v fermata.SavedView) {
	tx.exec(`INSERT INTO saved_views (workspace_id, member_id, name, query, shared, updated_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (workspace_id, member_id, name)
		DO UPDATE SET query = excluded.query, shared = excluded.shared, updated_at = excluded.updated_at`,
		tx.workspace, v.OwnerID, v.Name, v.Query, boolColumn(v.Shared), v.UpdatedAt.UnixMilli())
}

// DeleteView removes a member's view.
func (tx *Tx) DeleteView(member, name string) {
	tx.execAny("DELETE FROM saved_views WHERE workspace_id = $1 AND member_id = $2 AND name = $3", tx.workspace, member, name)
}
