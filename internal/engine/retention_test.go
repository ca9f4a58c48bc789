package engine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/checkpoint"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

const day = 24 * time.Hour

// keepFor returns an engine that can sign, and whose workspace keeps ended tasks for 30 days.
func (w *world) keepFor(change func(p *fermata.Policy)) *engine.Engine {
	w.Helper()
	e, _ := w.withWitness(filepath.Join(w.TempDir(), "audit.witness"))
	w.setPolicy(change)
	return e
}

func keepTasks(p *fermata.Policy) { p.KeepTasks = "30d" }

// sign signs the end of the chain, after some time.
func (w *world) sign(e *engine.Engine) {
	w.Helper()
	w.Clock.Advance(time.Hour)
	w.OK(e.SignEnds(w.Context()))
}

// removeAfterAMonth lets a month pass, and removes what the policy keeps no longer.
func (w *world) removeAfterAMonth(e *engine.Engine) {
	w.Helper()
	w.sign(e)
	w.Clock.Advance(31 * day)
	w.sign(e)
	w.OK(e.ApplyRetention(w.Context()))
}

// endTask creates a task that asks a question, gets the answer, prints something and ends.
func (w *world) endTask() *fermata.Task {
	w.Helper()
	t, q := w.createSuspended(format)
	w.answer(q.ID, "toml")
	w.say(t.ID, "thanks")
	claim := w.claimTask(t.ID)
	_, err := w.Engine.AppendLog(w.Context(), w.agent, claim.Run.ID, claim.Run.Token, "done soon\n")
	w.OK(err)
	w.complete(claim)
	return w.reload(t.ID)
}

// openTask creates a task that nobody claims.
func (w *world) openTask() *fermata.Task {
	w.Helper()
	return w.task(fermata.NewTask{Title: "still open", Runner: "nobody"})
}

// checkNothingLeft checks that no row about the task is left.
func (w *world) checkNothingLeft(taskID string) {
	w.Helper()
	for query, table := range map[string]string{
		"SELECT id, '' FROM tasks WHERE id = ": "tasks", "SELECT id, '' FROM runs WHERE task_id = ": "runs", "SELECT id, '' FROM questions WHERE task_id = ": "questions",
		"SELECT id, '' FROM messages WHERE task_id = ": "messages", "SELECT type, '' FROM events WHERE task_id = ": "events",
		"SELECT label, '' FROM task_labels WHERE task_id = ": "task_labels",
	} {
		if rows := storetest.Rows(w.T, w.Options, query+"'"+taskID+"'"); len(rows) > 0 {
			w.Errorf("rows of the task are left in %s: %v", table, rows)
		}
	}
}

func (w *world) verified(e *engine.Engine) engine.AuditReport {
	w.Helper()
	report, err := e.VerifyAudit(w.Context(), w.alice)
	w.OK(err)
	return report
}

// What ended long ago is removed, with all that belongs to it. The rest stays, and the chain can be verified.
func TestEndedTasksAreRemoved(t *testing.T) {
	each(t, func(w *world) {
		e := w.keepFor(keepTasks)
		old := w.endTask()
		open := w.openTask()
		w.sign(e)
		w.Clock.Advance(31 * day)
		young := w.endTask()
		w.sign(e)
		before := w.verified(e)
		w.OK(e.ApplyRetention(w.Context()))

		w.checkNothingLeft(old.ID)
		for _, table := range []string{"run_log", "closings"} {
			w.Equal(1, len(storetest.Rows(w.T, w.Options, "SELECT workspace_id, '' FROM "+table)))
		}
		_, err := w.Engine.Task(w.Context(), w.alice, old.ID)
		w.CheckRefused(err, fermata.CodeNotFound)
		w.checkState(open.ID, fermata.TaskOpen)
		w.checkState(young.ID, fermata.TaskDone)
		w.checkCounts(w.Context(), e)

		after := w.verified(e)
		if !after.OK || after.Removed == 0 || after.Events+after.Removed != before.Events+1 {
			w.Fatalf("got %+v, and %+v before", after, before)
		}
		w.OK(e.CheckWitnesses(w.Context()))
		report, err := e.Retention(w.Context(), w.alice)
		w.OK(err)
		w.Equal(after.Removed, report.RemovedEvents)
		w.Equal(int64(1), report.LastRemoval.TaskCount())
		w.Equal(fermata.Timeout("30d"), report.KeepTasks)
		w.Equal(fermata.Never, report.KeepLogs)

		// Nothing more is removed, and so nothing more is recorded.
		end := w.events()
		w.OK(e.ApplyRetention(w.Context()))
		w.Equal(end, w.events())
		w.cancel(open.ID)
	})
}

// A trimmed range keeps the events of tasks that are still there. When they are removed, the range is signed again.
func TestARangeIsTrimmedAgain(t *testing.T) {
	each(t, func(w *world) {
		e := w.keepFor(keepTasks)
		open := w.openTask()
		w.endTask()
		w.removeAfterAMonth(e)
		first := w.verified(e)
		w.cancel(open.ID)
		w.removeAfterAMonth(e)
		w.checkNothingLeft(open.ID)
		second := w.verified(e)
		if !second.OK || second.Removed <= first.Removed+1 {
			w.Fatalf("got %+v, and %+v before", second, first)
		}
		// Small ranges are joined.
		ranges, err := e.TrimmedRanges(w.Context(), w.alice, 0)
		w.OK(err)
		w.Equal(1, len(ranges))
	})
}

// A task stays while something needs it.
func TestTasksInUseAreKept(t *testing.T) {
	each(t, func(w *world) {
		e := w.keepFor(keepTasks)
		parent := w.createRunning(fermata.NewTask{Title: "parent"})
		child := w.task(fermata.NewTask{Title: "child", ParentID: parent.Task.ID, Runner: "nobody"})
		w.complete(parent)
		earlier := w.createRunning(fermata.NewTask{Title: "earlier"})
		later := w.task(fermata.NewTask{Title: "later", BlockedBy: []string{earlier.Task.ID}, Runner: "nobody"})
		w.complete(earlier)
		needed := w.createRunning(fermata.NewTask{Title: "needed by a task that stays with its parent"})
		needing := w.createRunning(fermata.NewTask{Title: "its parent"})
		blocked := w.task(fermata.NewTask{Title: "stays", ParentID: needing.Task.ID, BlockedBy: []string{needed.Task.ID}, Runner: "nobody"})
		w.complete(needed)
		w.complete(needing)
		all := []string{parent.Task.ID, child.ID, earlier.Task.ID, later.ID, needed.Task.ID, needing.Task.ID, blocked.ID}
		w.removeAfterAMonth(e)
		for _, id := range all {
			w.reload(id)
		}
		w.cancel(child.ID)
		w.cancel(later.ID)
		w.cancel(blocked.ID)
		w.removeAfterAMonth(e)
		for _, id := range all {
			w.checkNothingLeft(id)
		}
	})
}

// Trees that are kept anyway do not stop the removal of those after them, however many they are, and however late their events.
func TestTreesThatAreKeptStopNothing(t *testing.T) {
	each(t, func(w *world) {
		e := w.keepFor(keepTasks)
		var open []*fermata.Task
		for range engine.RetentionBatch {
			parent := w.createRunning(fermata.NewTask{Title: "has an open task"})
			open = append(open, w.task(fermata.NewTask{Title: "stays open", ParentID: parent.Task.ID, Runner: "nobody"}))
			w.complete(parent)
		}
		old := w.endTask()
		w.sign(e)
		w.Clock.Advance(31 * day)
		for _, task := range open {
			w.say(task.ID, "there is time")
		}
		w.sign(e)
		w.OK(e.ApplyRetention(w.Context()))
		w.checkNothingLeft(old.ID)
	})
}

// An export of a trimmed chain can be verified without the server, and a changed one is found out.
func TestAnExportOfATrimmedChainIsVerified(t *testing.T) {
	each(t, func(w *world) {
		e := w.keepFor(keepTasks)
		w.endTask()
		w.openTask()
		w.removeAfterAMonth(e)
		var export bytes.Buffer
		lines := json.NewEncoder(&export)
		lines.SetEscapeHTML(false)
		w.OK(e.ExportAudit(w.Context(), w.alice, engine.ExportRange{}, func(all []engine.ExportLine) error {
			for _, line := range all {
				var document any = line.Event
				if line.TrimmedRange != nil {
					document = map[string]any{"trimmed_range": line.TrimmedRange}
				}
				if err := lines.Encode(document); err != nil {
					return err
				}
			}
			return nil
		}))
		check := func(text string) client.AuditReport {
			v := client.NewVerification(nil)
			signatures, err := checkpoint.NewVerifier(w.verified(e).PublicKey)
			w.OK(err)
			v.VerifySignatures(signatures)
			return v.VerifyExport(strings.NewReader(text))
		}
		want := w.verified(e)
		if got := check(export.String()); !got.OK || got.Events != want.Events || got.Removed != want.Removed {
			w.Errorf("got %+v, want %+v", got, want)
		}
		all := strings.SplitAfter(export.String(), "\n")
		for what, changed := range map[string]string{
			"without the range":     strings.Join(all[1:], ""),
			"without a kept event":  all[0] + strings.Join(all[2:], ""),
			"with a changed range":  strings.Replace(export.String(), `"kept":`, `"kept":1`, 1),
			"with a changed event":  strings.Replace(export.String(), "still open", "still here", 1),
			"kept events only":      strings.Join(all[:2], ""),
			"the range behind them": all[1] + all[0] + strings.Join(all[2:], ""),
		} {
			if what == "without the range" {
				// An export may begin anywhere, but not with a gap.
				w.Equal(false, check(changed).OK)
				continue
			}
			if got := check(changed); got.OK {
				w.Errorf("%s: got %+v", what, got)
			}
		}
	})
}

// A person who writes the database cannot remove more than was removed.
func TestTrimmedRangesCannotBeForged(t *testing.T) {
	for name, change := range map[string]string{
		"a kept event is gone":    "DELETE FROM events WHERE seq = (SELECT min(seq) FROM events)",
		"a kept event is another": "UPDATE events SET actor_name = 'mallory' WHERE seq = (SELECT min(seq) FROM events)",
		"the range is gone":       "DELETE FROM trimmed_ranges",
		"the range is longer":     "UPDATE trimmed_ranges SET last_seq = last_seq + 1, signed_range = replace(signed_range, '\"kept\":', '\"kept\":1')",
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				e := w.keepFor(keepTasks)
				w.endTask()
				w.removeAfterAMonth(e)
				w.Equal(true, w.verified(e).OK)
				w.forge(change)
				if report := w.verified(e); report.OK || report.Problem == "" {
					w.Fatalf("got %+v", report)
				}
			})
		})
	}
}

// A range that fits the events, and that the server did not sign, is not taken.
func TestAForgedRangeIsFoundOut(t *testing.T) {
	each(t, func(w *world) {
		e := w.keepFor(keepTasks)
		w.endTask()
		w.removeAfterAMonth(e)
		ranges, err := e.TrimmedRanges(w.Context(), w.alice, 0)
		w.OK(err)
		forged := ranges[0]
		kept, err := w.DB.Reader(w.Context(), store.DefaultWorkspace).Events(store.EventFilter{Before: forged.Last + 1, Limit: 100})
		w.OK(err)
		forged.Kept, forged.KeptHash = forged.Kept-1, fermata.HashEvents(kept[1:])
		text, err := json.Marshal(forged)
		w.OK(err)
		w.forge(fmt.Sprintf("DELETE FROM events WHERE seq = %d; UPDATE trimmed_ranges SET signed_range = '%s'", kept[0].Seq, text))
		if report := w.verified(e); report.OK || !strings.Contains(report.Problem, "its signature is for another text") {
			w.Fatalf("got %+v", report)
		}
	})
}

// A person who writes the database cannot make the server remove anything.
func TestAForgedPolicyRemovesNothing(t *testing.T) {
	each(t, func(w *world) {
		e := w.keepFor(func(*fermata.Policy) {})
		old := w.endTask()
		w.sign(e)
		w.Clock.Advance(31 * day)
		w.forge(`UPDATE workspaces SET policy = replace(policy, '}', ',"keep_tasks":"1d","keep_logs":"1d"}')`)
		w.CheckRefused(e.ApplyRetention(w.Context()), fermata.CodeInternal)
		w.checkState(old.ID, fermata.TaskDone)
		w.Equal(1, len(storetest.Rows(w.T, w.Options, "SELECT run_id, text FROM run_log")))
	})
}

// Logs and messages have times of their own.
func TestLogsAndMessagesAreRemoved(t *testing.T) {
	each(t, func(w *world) {
		e := w.keepFor(func(p *fermata.Policy) { p.KeepLogs, p.KeepDeliveries = "2d", "5d" })
		old := w.endTask()
		w.deliver(old, "sent", 0)
		w.deliver(old, "waiting", w.Clock.Now().Add(90*day).UnixMilli())
		w.Clock.Advance(3 * day)
		young := w.endTask()
		w.OK(e.ApplyRetention(w.Context()))
		logs := storetest.Rows(w.T, w.Options, "SELECT run_id, text FROM run_log")
		w.Equal(1, len(logs))
		w.Equal(young.RunID, logs[0][0])
		w.Equal(2, len(storetest.Rows(w.T, w.Options, "SELECT id, state FROM deliveries")))
		w.Clock.Advance(3 * day)
		w.OK(e.ApplyRetention(w.Context()))
		w.Equal([][2]string{{"waiting", ""}}, storetest.Rows(w.T, w.Options, "SELECT state, '' FROM deliveries"))
		w.checkState(old.ID, fermata.TaskDone)
		// The report adds up what several transactions of one look removed, and leaves out earlier ones.
		report, err := e.Retention(w.Context(), w.alice)
		w.OK(err)
		w.Equal(&fermata.Removal{Logs: 1, Deliveries: 1}, report.LastRemoval)
	})
}

// deliver plans a message about a task.
func (w *world) deliver(t *fermata.Task, state fermata.DeliveryState, nextAt int64) {
	w.Helper()
	w.OK(w.DB.Write(w.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		d := &fermata.Delivery{
			ID: fermata.NewID(fermata.PrefixDelivery, tx.Now()), TaskID: t.ID, ChannelID: "ch_1", Kind: "email", Purpose: "event", State: state,
			CreatedAt: tx.Now(), DeliveryInternals: fermata.DeliveryInternals{UniqueKey: string(state)},
		}
		if nextAt > 0 {
			at := time.UnixMilli(nextAt)
			d.NextAt = &at
		}
		tx.PlanDelivery(d)
		return nil
	}))
}

func (w *world) checkOutdated(err error) {
	w.Helper()
	if !errors.Is(err, engine.ErrOutdatedPlan) {
		w.Errorf("the removal returned %v", err)
	}
}

// What is written to a task after its removal was planned, saves it until the next look.
func TestARemovalYieldsToOtherWrites(t *testing.T) {
	each(t, func(w *world) {
		e := w.keepFor(keepTasks)
		old := w.endTask()
		w.sign(e)
		w.Clock.Advance(31 * day)
		w.sign(e)
		remove, err := engine.PlanRemoval(w.Context(), e, 30*day)
		w.OK(err)
		w.say(old.ID, "is this still right?")
		w.checkOutdated(remove())
		w.checkState(old.ID, fermata.TaskDone)
		w.Equal(true, w.verified(e).OK)
		// Two replicas plan the same, and one of them removes it.
		first, err := engine.PlanRemoval(w.Context(), e, 30*day)
		w.OK(err)
		second, err := engine.PlanRemoval(w.Context(), e, 30*day)
		w.OK(err)
		w.OK(first())
		w.checkOutdated(second())
		w.Equal(true, w.verified(e).OK)
	})
}

// An event about the policy that an earlier version wrote, without a field of this one, still stands for the policy.
func TestAnEarlierEventStandsForThePolicy(t *testing.T) {
	t.Parallel()
	p := fermata.DefaultPolicy()
	p.KeepTasks = "30d"
	for data, isSame := range map[string]bool{`{"keep_tasks":"30d"}`: true, `{"keep_tasks":"31d"}`: false, `{}`: false, `[]`: false} {
		if problem := engine.PolicyDifference(p, &fermata.Event{Seq: 7, Data: []byte(data)}); (problem == "") != isSame {
			t.Errorf("%s: %q", data, problem)
		}
	}
}
