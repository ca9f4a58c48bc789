package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/checkpoint"
	"github.com/fermata-hq/fermata/internal/engine"
)

// bobApproves is the JSON of an approval that nobody gave.
const bobApproves = `{"by":{"kind":"human","id":"%s","name":"bob"},"value":"approve","assurance":"session","at":"2026-01-01T00:00:00Z"}`

// TestAForgedVoteDoesNotCount: the vote of one person does not close a question together with one that was written into the
// database.
func TestAForgedVoteDoesNotCount(t *testing.T) {
	each(t, func(w *world) {
		bob := w.person("bob")
		_, q := w.suspended(fermata.Ask{Type: fermata.Approval, Title: "Deploy?", Approvals: &fermata.Quorum{Required: 2}, Action: []byte(`{"tool":"deploy"}`)})
		w.forge(fmt.Sprintf(`UPDATE questions SET votes = '[`+bobApproves+`]' WHERE id = '%s'`, bob.MemberID, q.ID))
		_, err := w.approve(w.alice, q, fermata.Approve)
		w.refused(err, fermata.CodePolicyViolation)
		w.question(q.ID, fermata.Pending)
	})
}

// TestAForgedAnswerIsNotReleased: an answer that is held in the name of a person who did not give it is dropped, whether its
// time comes or its task ends.
func TestAForgedAnswerIsNotReleased(t *testing.T) {
	for name, comes := range map[string]func(w *world, task *fermata.Task){
		"its time":            func(w *world, _ *fermata.Task) { w.sweep(time.Minute) },
		"the end of the task": func(w *world, task *fermata.Task) { w.clock.Advance(time.Minute); w.cancel(task.ID) },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				bob := w.person("bob")
				task, q := w.suspended(format)
				_, err := w.e.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "yaml", Undo: true})
				w.ok(err)
				w.forge(fmt.Sprintf(`UPDATE questions SET resolution = replace(replace(resolution, '%s', '%s'), '"name":"alice"', '"name":"bob"')`, w.alice.MemberID, bob.MemberID))
				comes(w, task)
				q, err = w.e.Question(w.Context(), w.alice, q.ID)
				w.ok(err)
				if q.Status == fermata.Answered || q.Held != nil {
					w.Fatalf("the forged answer stands: %+v", q)
				}
				thread, _, err := w.e.Messages(w.Context(), w.alice, task.ID, "", 10)
				w.ok(err)
				if len(thread) == 0 || !strings.Contains(thread[0].Body, "It was dropped") {
					w.Fatalf("the thread does not say so: %+v", thread)
				}
			})
		})
	}
}

// TestAForgedApprovalOpensNothing: the server signs grants by what the database says, and opens nothing by one of which no
// event tells.
func TestAForgedApprovalOpensNothing(t *testing.T) {
	each(t, func(w *world) {
		bob := w.person("bob")
		task, q := w.suspended(fermata.Ask{Question: "Run it?", Action: []byte(removeOld)})
		w.forge(fmt.Sprintf(`UPDATE questions SET status = 'answered', resolution = '{"status":"answered","decided_by":"human",
			"answered_by":{"kind":"human","id":"%s","name":"bob"},"at":"%s","answer":"approve","answers":{"answer":"approve"},"assurance":"session","action_hash":"%s"}';
			UPDATE tasks SET state = 'input_received', pending_question_id = '', unread = 1`, bob.MemberID, w.clock.Now().UTC().Format(time.RFC3339), q.ActionHash))
		grant := w.claimed(task.ID).Context.Questions[0].Grant
		if grant == "" {
			w.Fatal("the forged approval gave no grant to try")
		}
		w.refused(w.verify(grant, removeOld), fermata.CodePolicyViolation)
	})
}

// TestNoReceiptOfWhatWasForged: a receipt does not repeat a name that was written into the database.
func TestNoReceiptOfWhatWasForged(t *testing.T) {
	each(t, func(w *world) {
		signer, err := checkpoint.NewSigner(w.opts.Keys.AuditSigner())
		w.ok(err)
		e := engine.New(w.db, engine.Options{Signer: signer})
		_, q := w.suspended(format)
		w.answer(q.ID, "toml")
		r, err := e.Receipt(w.Context(), w.alice, q.ID)
		w.ok(err)
		w.equal("alice", r.Receipt.Resolution.AnsweredBy.Name)
		if r.Receipt.AskedEvent == 0 || r.Receipt.ClosedEvent <= r.Receipt.AskedEvent || r.Receipt.ClosedHash == "" {
			w.Fatalf("the receipt names no events: %+v", r.Receipt)
		}
		w.forge(`UPDATE questions SET resolution = replace(resolution, '"name":"alice"', '"name":"mallory"')`)
		_, err = e.Receipt(w.Context(), w.alice, q.ID)
		w.refused(err, fermata.CodePolicyViolation)
	})
}
