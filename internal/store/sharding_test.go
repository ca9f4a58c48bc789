package store

import (
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/keys"
)

// Every unique index contains the workspace, so that the tables can be sharded by it. The exceptions are hashes of secrets,
// which are looked up before the workspace is known, and tables of the server itself.
func TestUniqueKeysContainTheWorkspace(t *testing.T) {
	t.Parallel()
	exceptions := []string{
		"tokens: hash", "browser_sessions: hash", "sign_in_links: hash", "sign_in_flows: hash", "workspaces: id", "write_probe: id", "goose_db_version: id",
	}
	db := openPlain(t)
	if err := createSchema(t.Context(), db, keys.New()); err != nil {
		t.Fatal(err)
	}
	rows, err := db.QueryContext(t.Context(), `SELECT t.name, group_concat(c.name, ',') FROM sqlite_master t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
		WHERE t.type = 'table' AND i."unique" = 1 GROUP BY t.name, i.name
		UNION SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table' AND c.pk = 1 AND c.type = 'INTEGER'
			AND NOT EXISTS (SELECT 1 FROM pragma_table_info(t.name) o WHERE o.pk > 1)`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	found := 0
	for rows.Next() {
		var table, columns string
		if err := rows.Scan(&table, &columns); err != nil {
			t.Fatal(err)
		}
		found++
		key := table + ": " + columns
		if strings.Contains(","+columns+",", ",workspace_id,") != !slices.Contains(exceptions, key) {
			t.Errorf("the key %s", key)
		}
	}
	if err := rows.Err(); err != nil || found < 40 {
		t.Errorf("found %d keys: %v", found, err)
	}
}
