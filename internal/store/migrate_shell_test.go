package store_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// Tasks that contain a command line move to the runner shell. All other tasks of an earlier version keep their
// runner.
func TestTasksWithCommandsMoveToShell(t *testing.T) {
	t.Parallel()
	storetest.EachUnshared(t, func(t *testing.T, opts store.Options) {
		db := storetest.Open(t, opts)
		now := time.UnixMilli(1_800_000_000_000).UTC()
		cases := []struct{ runner, spec, want string }{
			{"", `{"command": ["make"]}`, "shell"},
			{"command", `{"timeout":"1m","command":["sh","-c","x"]}`, "shell"},
			{"command", `{"command":[]}`, "command"},
			{"command", `{"note":"command"}`, "command"},
			{"", `{"deep":{"command":["make"]}}`, ""},
			{"", ``, ""},
			{"claude", `{"command":["make"]}`, "claude"},
			{"external", `{"command":["make"]}`, "external"},
		}
		id := func(i int) string { return fmt.Sprintf("task_%05d", i) }
		const tasks = 2500
		must(t, db.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
			for i := range tasks {
				c := cases[i%len(cases)]
				tx.InsertTask(&fermata.Task{
					ID: id(i), Title: "a", Project: "default", State: fermata.TaskOpen, Runner: c.runner, Spec: json.RawMessage(c.spec),
					MaxAttempts: 3, CreatedAt: now, UpdatedAt: now,
				})
			}
			return nil
		}))
		must(t, store.MigrateDownTo(t.Context(), db, 30))
		must(t, db.Migrate(t.Context()))
		for i := range tasks {
			task, err := db.Reader(t.Context(), store.DefaultWorkspace).Task(id(i))
			must(t, err)
			if want := cases[i%len(cases)].want; task.Runner != want {
				t.Fatalf("%s with the spec %q is of the runner %q, want %q", task.ID, task.Spec, task.Runner, want)
			}
		}
	})
}
