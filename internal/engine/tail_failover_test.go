package engine_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// A replica showed events that were never acknowledged, and a standby without them takes over. The replica then shows the
// events that are there, and each of them follows the one before.
func TestTailFollowsTheHistoryAfterAFailover(t *testing.T) {
	for name, lost := range map[string]int{"one event": 1, "several events": 4} {
		t.Run(name, func(t *testing.T) {
			onReplicas(t, func(w *world, other *engine.Engine) {
				before := w.events()
				for range 5 {
					w.task(fermata.NewTask{})
				}
				w.OK(follow(w.Context(), other, before, w.events()))
				w.loseLast(lost)
				// A process that did not see the lost events writes others in their place.
				third := w.replica()
				for range 6 {
					_, err := third.CreateTask(w.Context(), w.agent, fermata.NewTask{Title: "After the failover"})
					w.OK(err)
				}
				last := w.events()
				w.OK(follow(w.Context(), other, last-1, last))
				hash := ""
				for after := before; after < last; {
					events, err := other.Tail().Next(w.Context(), store.DefaultWorkspace, after)
					w.OK(err)
					for _, e := range events {
						if hash != "" && e.PrevHash != hash {
							w.Errorf("event %d does not follow the one before it", e.Seq)
						}
						hash, after = e.Hash, e.Seq
					}
				}
			})
		})
	}
}

// loseLast removes the last n events and their tasks, as a PostgreSQL standby does not have them that takes over.
func (w *world) loseLast(n int) {
	w.Helper()
	for range n {
		storetest.Exec(w.T, w.Options, `WITH last AS (DELETE FROM events e USING workspaces w
			WHERE w.id = e.workspace_id AND e.seq = w.event_seq RETURNING e.workspace_id, e.seq, e.prev_hash, e.task_id),
			task AS (DELETE FROM tasks USING last WHERE tasks.id = last.task_id)
			UPDATE workspaces SET event_seq = last.seq - 1, event_hash = last.prev_hash FROM last WHERE id = last.workspace_id`)
	}
}
