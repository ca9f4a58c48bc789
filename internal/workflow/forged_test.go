package workflow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

const guarded = `
name: guarded
triggers: [{manual: true}]
steps:
  - id: ask
    tool: request_approval
    input: {title: "Deploy?", action: {command: [make, deploy]}}
  - {id: apply, tool: apply}
`

// A run does not continue with an approval that was written into the database.
func TestARunStopsAtAForgedApproval(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(guarded, nil)
		q := w.awaitRunQuestion(run.ID)
		storetest.Exec(w, w.Options, fmt.Sprintf(`UPDATE questions SET status = 'answered', resolution = '{"status":"answered","decided_by":"human",
			"answered_by":{"kind":"human","id":"mem_x","name":"ann"},"at":"%s","answer":"approve","answers":{"answer":"approve"},"assurance":"session","action_hash":"%s"}';
			UPDATE tasks SET state = 'input_received', pending_question_id = '' WHERE id = '%s'`, w.Clock.Now().UTC().Format(time.RFC3339), q.ActionHash, run.ID))
		ended := w.await(run.ID, fermata.TaskFailed)
		if !strings.Contains(ended.Summary, "was changed in the database") {
			w.Errorf("the run says %q", ended.Summary)
		}
		for _, step := range ended.Steps {
			if step.Step == "apply" {
				w.Error("the run went on")
			}
		}
	})
}

// A run continues with the definition with which it began, and with no other.
func TestARunKeepsTheDefinitionItBeganWith(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(guarded, nil)
		q := w.awaitRunQuestion(run.ID)
		easier := w.put(strings.Replace(guarded, "  - id: ask\n    tool: request_approval\n    input: {title: \"Deploy?\", action: {command: [make, deploy]}}\n", "", 1))
		storetest.Exec(w, w.Options, fmt.Sprintf(`UPDATE workflow_runs SET hash = '%s' WHERE task_id = '%s'`, easier.Hash, run.ID))
		_, err := w.Engine.Answer(w.Context(), admin, q.ID, fermata.Answer{Answer: fermata.Reject})
		w.OK(err)
		ended := w.await(run.ID, fermata.TaskFailed)
		if !strings.Contains(ended.Summary, "another definition than it began with") {
			w.Errorf("the run says %q", ended.Summary)
		}
	})
}

// TestNoRunBeginsInAForgedProject checks that a changed project is refused, because the project decides which members
// may approve.
func TestNoRunBeginsInAForgedProject(t *testing.T) {
	onBoth(t, func(w *world) {
		w.put(guarded)
		storetest.Exec(w, w.Options, "UPDATE workflows SET project = 'web'")
		_, err := w.s.Start(w.Context(), admin, "guarded", nil)
		w.wantCode(err, fermata.CodeInternal)
	})
}

// Before a run begins, the audit finds a definition that differs from the one stored last. It also finds a workflow
// that was enabled in the database.
func TestTheAuditFindsAnotherDefinition(t *testing.T) {
	for name, edit := range map[string]string{"hash": "hash = 'x'", "enabled": "enabled = 1 - enabled", "project": "project = 'web'"} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				w.put(guarded)
				_, err := w.s.SetEnabled(w.Context(), admin, "guarded", false)
				w.OK(err)
				report, err := w.Engine.VerifyAudit(w.Context(), admin)
				w.OK(err)
				if !report.OK {
					w.Fatalf("before the edit: %s", report.Problem)
				}
				storetest.Exec(w, w.Options, "UPDATE workflows SET "+edit)
				report, err = w.Engine.VerifyAudit(w.Context(), admin)
				w.OK(err)
				if report.OK || !strings.Contains(report.Problem, "the workflow guarded has another "+name) {
					w.Errorf("the report is %+v", report)
				}
			})
		})
	}
}
