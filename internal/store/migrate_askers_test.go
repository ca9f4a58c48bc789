package store_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// After the migration, the idempotency key of an earlier question belongs to that question's asker, and other askers
// may use the same key. When the migration is undone, only the first asker keeps the key.
func TestKeysOfEarlierQuestionsAreTheirAskers(t *testing.T) {
	t.Parallel()
	storetest.EachUnshared(t, func(t *testing.T, opts store.Options) {
		db := storetest.Open(t, opts)
		first, second := fermata.Actor{Kind: fermata.ActorAgent, ID: "tok_1"}, fermata.Actor{Kind: fermata.ActorAgent, ID: "tok_2"}
		ask := func(id string, by fermata.Actor) error {
			return db.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
				tx.InsertQuestion(&fermata.Question{
					ID: id, TaskID: "task_" + id, Project: "default", Type: fermata.Blocking, Status: fermata.Pending, Title: "a?", IdempotencyKey: "k", CreatedAt: time.UnixMilli(1_800_000_000_000).UTC(),
					Asked: fermata.Asked{
						Items: []fermata.Item{{Key: "answer", Prompt: "a?"}}, AskedBy: by,
					},
				})
				return nil
			})
		}
		has := func(by fermata.Actor, want string) {
			t.Helper()
			q, err := db.Reader(t.Context(), store.DefaultWorkspace).QuestionByKey("k", by)
			if want == "" && fermata.CodeOf(err) == fermata.CodeNotFound {
				return
			}
			if must(t, err); q.ID != want {
				t.Errorf("%s is given %s, want %q", by.ID, q.ID, want)
			}
		}
		must(t, ask("q_1", first))
		must(t, store.MigrateDownTo(t.Context(), db, 32))
		must(t, db.Migrate(t.Context()))
		has(first, "q_1")
		has(second, "")
		must(t, ask("q_2", second))
		has(first, "q_1")
		has(second, "q_2")
		must(t, store.MigrateDownTo(t.Context(), db, 32))
		must(t, db.Migrate(t.Context()))
		has(first, "q_1")
		has(second, "")
	})
}
