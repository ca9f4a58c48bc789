package store_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// Tasks and questions of before the migration are in the lists of their labels and assignees.
func TestEarlierLabelsAndAssigneesAreFilledIn(t *testing.T) {
	t.Parallel()
	storetest.EachUnshared(t, func(t *testing.T, opts store.Options) {
		db := storetest.Open(t, opts)
		at := time.UnixMilli(1_800_000_000_000).UTC()
		must(t, db.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
			for i := range 1100 {
				tx.InsertTask(&fermata.Task{
					ID: fermata.NewID(fermata.PrefixTask, at), Project: "default", Title: "paint", State: fermata.TaskOpen, MaxAttempts: 3,
					Labels: []string{"bug", "area/web"}, CreatedAt: at, UpdatedAt: at,
				})
				q := &fermata.Question{
					ID: fermata.NewID(fermata.PrefixQuestion, at), TaskID: fermata.NewID(fermata.PrefixTask, at), Project: "default", Type: fermata.Blocking,
					Status: fermata.Pending, Title: "a?", Assignees: []string{"group:R&D"}, CreatedAt: at,
				}
				if i < 100 {
					q.Status, q.Resolution = fermata.Cancelled, &fermata.Resolution{Status: fermata.Cancelled, DecidedBy: fermata.ActorSystem, At: at}
				}
				tx.InsertQuestion(q)
			}
			return nil
		}))
		must(t, store.MigrateDownTo(t.Context(), db, 41))
		must(t, db.Migrate(t.Context()))
		r := db.Reader(t.Context(), store.DefaultWorkspace)
		tasks, err := r.Tasks(store.TaskFilter{Label: "area/web", Limit: 2000})
		must(t, err)
		questions, err := r.Questions(store.QuestionFilter{Assignee: "group:R&D", Limit: 2000})
		must(t, err)
		pending, err := r.Questions(store.QuestionFilter{Assignee: "group:R&D", Status: "pending", Limit: 2000})
		must(t, err)
		if len(tasks) != 1100 || len(questions) != 1100 || len(pending) != 1000 {
			t.Errorf("%d tasks, %d questions and %d pending ones, want 1100, 1100 and 1000", len(tasks), len(questions), len(pending))
		}
	})
}
