package store_test

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/keys"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// TestSecretsOfAnOlderDatabaseAreSealed checks that the migration seals the secrets of a database that had none sealed,
// and that the down migration unseals them.
func TestSecretsOfAnOlderDatabaseAreSealed(t *testing.T) {
	t.Parallel()
	storetest.EachUnshared(t, func(t *testing.T, opts store.Options) {
		db := storetest.Open(t, opts)
		key := func() (key []byte) {
			must(t, db.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) (err error) {
				key, err = tx.GrantKey()
				return err
			}))
			return key
		}
		must(t, db.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
			tx.SaveNamedTool(&fermata.NamedTool{Name: "desk", Command: []string{"sesame"}})
			tx.InsertChannel(&fermata.Channel{ID: "chn_1", Name: "wall", Kind: "slack", Settings: map[string]any{"token": "sesame"}})
			return nil
		}))
		first := key()
		must(t, store.MigrateDownTo(t.Context(), db, 21))
		const settings, grant = "SELECT id, settings FROM channels", "SELECT workspace_id, secret FROM grant_keys"
		const tools = "SELECT name, tool FROM named_tools"
		if rows := storetest.Rows(t, opts, tools); len(rows) != 1 || !strings.Contains(rows[0][1], `"sesame"`) {
			t.Fatalf("the tools on the way back: %q", rows)
		}
		if rows := storetest.Rows(t, opts, settings); len(rows) != 1 || rows[0][1] != `{"token":"sesame"}` {
			t.Fatalf("on the way back: %q", rows)
		}
		if rows := storetest.Rows(t, opts, grant); len(rows) != 1 || rows[0][1] != string(first) {
			t.Fatalf("the key on the way back is another one: %q", rows)
		}
		must(t, db.Migrate(t.Context()))
		must(t, db.CheckKeys(t.Context()))
		for _, query := range []string{settings, grant, tools} {
			if rows := storetest.Rows(t, opts, query); len(rows) != 1 || !isSealed(rows[0][1]) {
				t.Errorf("%s: %q", query, rows)
			}
		}
		c, err := db.Reader(t.Context(), store.DefaultWorkspace).Channel("chn_1")
		must(t, err)
		tool, err := db.Reader(t.Context(), store.DefaultWorkspace).NamedTool("desk")
		must(t, err)
		if c.Settings["token"] != "sesame" || tool.Command[0] != "sesame" || string(key()) != string(first) {
			t.Errorf("the secrets are others after the migration: %v", c.Settings)
		}
	})
}

func isSealed(value string) bool {
	_, ok := keys.SealedWith(value)
	return ok
}
