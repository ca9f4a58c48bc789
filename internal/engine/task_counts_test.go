package engine_test

import (
	"context"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/testkit"
)

// checkCounts checks that the counts of an engine are those of the database.
func (w *world) checkCounts(ctx context.Context, e *engine.Engine) {
	w.Helper()
	want, err := w.DB.Reader(ctx, store.DefaultWorkspace).CountTasksByState(store.TaskFilter{})
	w.OK(err)
	got, err := e.TaskCounts(ctx, testkit.Admin, engine.TaskFilter{})
	w.OK(err)
	w.Equal(want, got)
}

// Tasks are counted in the database once. Then the counts follow every move, also those of other replicas.
func TestCountsFollowTheMoves(t *testing.T) {
	each(t, func(w *world) {
		w.OK(w.Engine.Start(w.Context()))
		w.checkCounts(w.Context(), w.Engine)
		w.Equal(true, engine.KnowsCounts(w.Engine))
		reader := w.agent
		reader.TokenProjects = []string{"docs"}
		w.task(fermata.NewTask{Project: "docs"})
		w.task(fermata.NewTask{Project: "web"})
		w.task(fermata.NewTask{})
		claim, err := w.Engine.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w1", Projects: []string{fermata.DefaultProject}})
		w.OK(err)
		w.checkCounts(w.Context(), w.Engine)
		asked := w.finish(claim, needsInputWith(format))
		w.answer(asked.PendingQuestionID, "toml")
		claim, err = w.Engine.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w1", Projects: []string{fermata.DefaultProject}})
		w.OK(err)
		w.complete(claim)
		w.checkCounts(w.Context(), w.Engine)
		w.Equal(true, engine.KnowsCounts(w.Engine))
		for filter, want := range map[string]int64{"": 1, "docs": 1, "web": 0} {
			got, err := w.Engine.TaskCounts(w.Context(), reader, engine.TaskFilter{Project: filter})
			w.OK(err)
			w.Equal(want, got.Total)
			w.Equal(want, got.States[fermata.TaskOpen])
		}
		stats, err := w.Engine.Stats(w.Context())
		w.OK(err)
		w.Equal(int64(2), stats.Tasks[fermata.TaskOpen])
		w.Equal(int64(1), stats.Tasks[fermata.TaskDone])
	})
}

// While others write, a count is never a mixture of two moments, and afterwards it is exact.
func TestCountsUnderConcurrentWriters(t *testing.T) {
	onReplicas(t, func(w *world, other *engine.Engine) {
		var wg sync.WaitGroup
		for _, e := range []*engine.Engine{w.Engine, other} {
			wg.Go(func() {
				for range 30 {
					if _, err := e.CreateTask(w.Context(), w.agent, fermata.NewTask{Title: "x"}); err != nil {
						w.Errorf("create: %v", err)
					}
				}
			})
			wg.Go(func() {
				var last int64
				for range 30 {
					counts, err := e.TaskCounts(w.Context(), testkit.Admin, engine.TaskFilter{})
					if err != nil || counts.Total < last || counts.Total != counts.States[fermata.TaskOpen] {
						w.Errorf("counted %+v after %d, %v", counts, last, err)
					}
					last = counts.Total
				}
			})
		}
		wg.Wait()
		for _, e := range []*engine.Engine{w.Engine, other} {
			w.checkCounts(w.Context(), e)
			w.Equal(true, engine.KnowsCounts(e))
		}
	})
}

// A failover that loses an event loses its move as well.
func TestCountsAfterALostEvent(t *testing.T) {
	onReplicas(t, func(w *world, other *engine.Engine) {
		w.task(fermata.NewTask{})
		w.checkCounts(w.Context(), other)
		w.Equal(true, engine.KnowsCounts(other))
		lost := w.task(fermata.NewTask{})
		w.checkCounts(w.Context(), other)
		w.forge(`DELETE FROM tasks WHERE id = '` + lost.ID + `'`)
		w.forge(`WITH last AS (DELETE FROM events e USING workspaces w
			WHERE w.id = e.workspace_id AND e.seq = w.event_seq RETURNING e.workspace_id, e.seq, e.prev_hash)
			UPDATE workspaces SET event_seq = last.seq - 1, event_hash = last.prev_hash FROM last WHERE id = last.workspace_id`)
		third := w.replica()
		for range 2 {
			_, err := third.CreateTask(w.Context(), w.agent, fermata.NewTask{Title: "x"})
			w.OK(err)
		}
		w.checkCounts(w.Context(), other)
	})
}
