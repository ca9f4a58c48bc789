package engine_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// audit reads all pages of a search and returns the numbers of the events.
func (w *world) audit(f engine.AuditFilter) []int64 {
	w.Helper()
	seqs := []int64{}
	for {
		page, err := w.Engine.Audit(w.Context(), w.alice, f)
		w.OK(err)
		for _, e := range page.Items {
			seqs = append(seqs, e.Seq)
		}
		if f.Cursor = page.NextCursor; f.Cursor == "" {
			return seqs
		}
	}
}

// TestAuditFindsWhatHappened: a search returns, newest first, exactly the
// events that a reader of all events would select.
func TestAuditFindsWhatHappened(t *testing.T) {
	each(t, func(w *world) {
		start, err := w.Engine.Now(w.Context())
		w.OK(err)
		var tasks []string
		for i := range 6 {
			w.Clock.Advance(20 * time.Minute)
			task, q := w.createSuspended(format)
			w.say(task.ID, "hello")
			if i%2 == 0 {
				w.answer(q.ID, "toml")
			} else {
				w.cancel(task.ID)
			}
			tasks = append(tasks, task.ID)
		}
		all, _, err := w.Engine.Events(w.Context(), w.alice, engine.EventFilter{Limit: 500})
		w.OK(err)
		slices.Reverse(all)
		rapid.Check(w.T, func(rt *rapid.T) {
			f := engine.AuditFilter{Limit: rapid.IntRange(1, 9).Draw(rt, "limit")}
			if rapid.Bool().Draw(rt, "task") {
				f.TaskID = rapid.SampledFrom(tasks).Draw(rt, "of")
			}
			if rapid.Bool().Draw(rt, "type") {
				f.Types = []string{rapid.SampledFrom([]string{"question.asked", "task.ended", "member.added"}).Draw(rt, "type")}
			}
			f.Actor = rapid.SampledFrom([]string{"", "", "human", "alice", "tok_agent", "nobody"}).Draw(rt, "actor")
			minutes := rapid.IntRange(-10, 130)
			if rapid.Bool().Draw(rt, "from") {
				f.From = ptr(start.Add(time.Duration(minutes.Draw(rt, "from")) * time.Minute))
			}
			if rapid.Bool().Draw(rt, "to") {
				f.To = ptr(start.Add(time.Duration(minutes.Draw(rt, "to")) * time.Minute))
			}
			want := []int64{}
			for _, e := range all {
				if (f.TaskID == "" || e.TaskID == f.TaskID) && (len(f.Types) == 0 || string(e.Type) == f.Types[0]) &&
					(f.Actor == "" || f.Actor == string(e.Actor.Kind) || f.Actor == e.Actor.ID || f.Actor == e.Actor.Name) &&
					(f.From == nil || !e.At.Before(*f.From)) && (f.To == nil || e.At.Before(*f.To)) {
					want = append(want, e.Seq)
				}
			}
			if got := w.audit(f); !slices.Equal(got, want) {
				rt.Fatalf("found %v, want %v", got, want)
			}
		})
	})
}

// TestAuditOfAClockThatWasSetBack: events from before the clock was set back
// are still found by their time.
func TestAuditOfAClockThatWasSetBack(t *testing.T) {
	each(t, func(w *world) {
		w.task(fermata.NewTask{})
		w.Clock.Advance(30 * time.Minute)
		w.task(fermata.NewTask{})
		w.Clock.Advance(-30 * time.Minute)
		w.task(fermata.NewTask{})
		all, _, err := w.Engine.Events(w.Context(), w.alice, engine.EventFilter{Types: []string{"task.created"}})
		w.OK(err)
		w.Equal(3, len(all))
		soon := all[0].At.Add(10 * time.Minute)
		w.Equal([]int64{all[1].Seq}, w.audit(engine.AuditFilter{From: &soon, Types: []string{"task"}}))
		w.Equal([]int64{all[2].Seq, all[0].Seq}, w.audit(engine.AuditFilter{To: &soon, Types: []string{"task"}}))
	})
}

// TestAuditLooksAtABoundedNumber: a search that finds nothing stops, reports
// how far it read, and continues from there.
func TestAuditLooksAtABoundedNumber(t *testing.T) {
	each(t, func(w *world) {
		engine.SetAuditBounds(w.Engine, 2, 4)
		w.task(fermata.NewTask{Title: "the needle"})
		needle := w.Head()
		for range 9 {
			w.task(fermata.NewTask{Title: "hay"})
		}
		page, err := w.Engine.Audit(w.Context(), w.alice, engine.AuditFilter{Q: "needle"})
		w.OK(err)
		if len(page.Items) != 0 || page.NextCursor == "" || page.SearchedTo == nil {
			w.Fatalf("%+v", page)
		}
		w.Equal([]int64{needle}, w.audit(engine.AuditFilter{Q: "needle"}))
	})
}

func TestExportIsTheWholeChain(t *testing.T) {
	each(t, func(w *world) {
		for range 3 {
			w.Clock.Advance(time.Minute)
			_, q := w.createSuspended(format)
			w.answer(q.ID, "toml")
		}
		all, _, err := w.Engine.Events(w.Context(), w.alice, engine.EventFilter{Limit: 500})
		w.OK(err)
		middle := all[len(all)/2].At
		export := func(within engine.ExportRange) (seqs []int64) {
			var chain fermata.Chain
			w.OK(w.Engine.ExportAudit(w.Context(), w.alice, within, func(events []engine.ExportLine) error {
				for _, e := range events {
					if len(seqs) == 0 {
						chain = fermata.Chain{Seq: e.Seq - 1, Hash: e.PrevHash}
					}
					w.OK(chain.VerifyNext(e.Event))
					seqs = append(seqs, e.Seq)
				}
				return nil
			}))
			return seqs
		}
		whole := export(engine.ExportRange{})
		w.Equal(len(all), len(whole))
		before, after := export(engine.ExportRange{To: &middle}), export(engine.ExportRange{From: &middle})
		w.Equal(whole, append(before, after...))
	})
}
