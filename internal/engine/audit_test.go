package engine_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/patience"
)

// TestAuditFindsEdits: whatever a foreign hand changes in the events is found.
func TestAuditFindsEdits(t *testing.T) {
	for name, edit := range map[string]string{
		"data":                   `UPDATE events SET data = '{}' WHERE seq = 3`,
		"type":                   `UPDATE events SET type = 'x' WHERE seq = 3`,
		"who":                    `UPDATE events SET actor_name = 'mallory' WHERE seq = 3`,
		"when":                   `UPDATE events SET at = at + 1 WHERE seq = 3`,
		"which":                  `UPDATE events SET task_id = 'task_x' WHERE seq = 3`,
		"hash":                   `UPDATE events SET prev_hash = 'x' WHERE seq = 3`,
		"first":                  `UPDATE events SET data = '{}' WHERE seq = 1`,
		"last":                   `UPDATE events SET data = '{}' WHERE seq = (SELECT max(seq) FROM events)`,
		"delete":                 `DELETE FROM events WHERE seq = 3`,
		"delete the first":       `DELETE FROM events WHERE seq = 1`,
		"truncate":               `DELETE FROM events WHERE seq > 4`,
		"delete all":             `DELETE FROM events`,
		"reorder":                `UPDATE events SET seq = -3 WHERE seq = 3; UPDATE events SET seq = 3 WHERE seq = 4; UPDATE events SET seq = 4 WHERE seq = -3`,
		"close the gap":          `DELETE FROM events WHERE seq = 3; UPDATE events SET seq = seq - 1 WHERE seq = 4`,
		"add":                    `INSERT INTO events (workspace_id, seq, type, actor_kind, at, prev_hash) SELECT id, event_seq + 1, 'x', 'human', 1, event_hash FROM workspaces`,
		"truncate with the head": `DELETE FROM events WHERE seq > 4; UPDATE workspaces SET event_seq = 4`,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				_, q := w.suspended(format)
				w.answer(q.ID, "toml")
				report, err := w.e.VerifyAudit(w.Context(), w.alice)
				w.ok(err)
				if !report.OK || report.Events != w.events() {
					w.Fatalf("before the edit: %+v", report)
				}
				storetest.Exec(w.T, w.opts, edit)
				report, err = w.e.VerifyAudit(w.Context(), w.alice)
				w.ok(err)
				if report.OK || report.Problem == "" {
					w.Fatalf("the edit was not found: %+v", report)
				}
			})
		})
	}
}

func TestAuditOfNothing(t *testing.T) {
	each(t, func(w *world) {
		storetest.Exec(w.T, w.opts, "DELETE FROM events; UPDATE workspaces SET event_seq = 0, event_hash = ''")
		report, err := w.e.VerifyAudit(w.Context(), w.alice)
		w.ok(err)
		w.equal(true, report.OK)
	})
}

// TestAuditWhileWriting: events that come meanwhile are no fault.
func TestAuditWhileWriting(t *testing.T) {
	each(t, func(w *world) {
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := w.e.CreateTask(w.Context(), w.agent, fermata.NewTask{Title: "x"}); err != nil {
					w.Errorf("create: %v", err)
					return
				}
			}
		}()
		for range 20 {
			report, err := w.e.VerifyAudit(w.Context(), w.alice)
			if err != nil || !report.OK {
				w.Errorf("%+v, %v", report, err)
			}
		}
		close(stop)
		patience.Receive(w, "the writer stops", stopped)
	})
}
