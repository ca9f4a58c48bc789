package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/checkpoint"
	"github.com/fermata-hq/fermata/internal/engine"
)

// bobApproves is the JSON of an approval that bob did not give.
const bobApproves = `{"by":{"kind":"human","id":"%s","name":"bob"},"value":"approve","assurance":"session","at":"2026-01-01T00:00:00Z"}`

// TestAForgedVoteDoesNotCount: the vote of one person and a vote that was written into the database do not close a
// question together.
func TestAForgedVoteDoesNotCount(t *testing.T) {
	each(t, func(w *world) {
		bob := w.Person("bob")
		_, q := w.createSuspended(fermata.Ask{Type: fermata.Approval, Title: "Deploy?", Approvals: &fermata.Quorum{Required: 2}, Action: []byte(`{"tool":"deploy"}`)})
		w.forge(fmt.Sprintf(`UPDATE questions SET votes = '[`+bobApproves+`]' WHERE id = '%s'`, bob.MemberID, q.ID))
		_, err := w.approve(w.alice, q, fermata.Approve)
		w.CheckRefused(err, fermata.CodePolicyViolation)
		w.checkQuestion(q.ID, fermata.Pending)
	})
}

// TestWhatWasChangedIsNotAnswered: a question that was changed in the database cannot be answered, even if the change
// is reverted later. The change may be fewer approvals, other people, another text or another risk.
func TestWhatWasChangedIsNotAnswered(t *testing.T) {
	for name, edit := range map[string]string{
		"quorum":    `UPDATE questions SET asked = replace(asked, '"required":2', '"required":1')`,
		"assignees": `UPDATE questions SET assignees = '["alice"]'`,
		"text":      `UPDATE questions SET asked = replace(asked, 'all of it', 'a cache')`,
		"risk":      `UPDATE questions SET asked = replace(asked, '"risk":"medium"', '"risk":"low"')`,
		"asker":     `UPDATE questions SET asked = replace(asked, 'tok_agent', 'tok_other')`,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				w.Person("bob")
				_, q := w.createSuspended(fermata.Ask{
					Type: fermata.Approval, Title: "Delete?", Body: "Delete all of it.", Approvals: &fermata.Quorum{Required: 2}, Action: []byte(`{"tool":"delete"}`),
				})
				w.forge(edit)
				_, err := w.approve(w.alice, q, fermata.Approve)
				w.CheckRefused(err, fermata.CodePolicyViolation)
				w.checkQuestion(q.ID, fermata.Pending)
			})
		})
	}
}

// TestAForgedDeadlineDecidesNothing: a deadline that was changed in the database is restored when it would decide.
func TestAForgedDeadlineDecidesNothing(t *testing.T) {
	each(t, func(w *world) {
		ask := format
		ask.Timeout, ask.OnTimeout, ask.Default = "2h", fermata.TakeDefault, "json"
		task, q := w.createSuspended(ask)
		w.forge(`UPDATE questions SET deadline = 1`)
		w.sweep(time.Minute)
		after := w.checkQuestion(q.ID, fermata.Pending)
		w.Equal(q.Deadline, after.Deadline)
		w.checkState(task.ID, fermata.TaskAwaitingInput)
		w.sweep(2 * time.Hour)
		w.checkQuestion(q.ID, fermata.TimedOut)
	})
}

// TestNobodyGoesOnWithAForgedAnswer: a caller that waits for the end of a question does not get an answer without an
// event.
func TestNobodyGoesOnWithAForgedAnswer(t *testing.T) {
	each(t, func(w *world) {
		_, q := w.createSuspended(format)
		w.forge(fmt.Sprintf(`UPDATE questions SET status = 'answered', resolution = '{"status":"answered","decided_by":"human",
			"answered_by":{"kind":"human","id":"%s","name":"alice"},"at":"2026-01-01T00:00:00Z","answer":"toml","answers":{"answer":"toml"}}'`, w.alice.MemberID))
		_, err := w.Engine.WaitQuestion(w.Context(), w.agent, q.ID, time.Minute)
		w.CheckRefused(err, fermata.CodePolicyViolation)
	})
}

// TestALinkThatIsUsedTwiceIsFound: if a used link was made valid again in the database, the events alone show its
// second sign-in.
func TestALinkThatIsUsedTwiceIsFound(t *testing.T) {
	for name, edit := range map[string]string{
		"the same member": `UPDATE sign_in_links SET used_at = 0`,
		"another one":     `UPDATE sign_in_links SET used_at = 0, member_id = (SELECT id FROM members WHERE handle = 'bob')`,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				w.Person("bob")
				l, err := w.Engine.MakeLink(w.Context(), admin, "alice")
				w.OK(err)
				_, err = w.Engine.SignInByLink(w.Context(), l.Secret, engine.Browser{})
				w.OK(err)
				w.forge(edit)
				_, err = w.Engine.SignInByLink(w.Context(), l.Secret, engine.Browser{})
				w.OK(err)
				report, err := w.Engine.VerifyAudit(w.Context(), admin)
				w.OK(err)
				if report.OK || !strings.Contains(report.Problem, "which was used before") {
					w.Fatalf("got %+v", report)
				}
			})
		})
	}
}

// TestAForgedAnswerIsNotReleased: a held answer that its person did not give is dropped, both when its time comes and
// when its task ends.
func TestAForgedAnswerIsNotReleased(t *testing.T) {
	its := func(w *world, _ *fermata.Task) { w.sweep(time.Minute) }
	const author = `UPDATE questions SET resolution = replace(replace(resolution, '%s', '%s'), '"name":"alice"', '"name":"bob"')`
	for name, c := range map[string]struct {
		edit  string
		comes func(w *world, task *fermata.Task)
	}{
		"its time":            {author, its},
		"the end of the task": {author, func(w *world, task *fermata.Task) { w.Clock.Advance(time.Minute); w.cancel(task.ID) }},
		"another answer":      {`UPDATE questions SET resolution = replace(resolution, 'yaml', 'toml') WHERE '%s' <> '%s'`, its},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				bob := w.Person("bob")
				task, q := w.createSuspended(format)
				_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "yaml", Undo: true})
				w.OK(err)
				w.forge(fmt.Sprintf(c.edit, w.alice.MemberID, bob.MemberID))
				c.comes(w, task)
				q, err = w.Engine.Question(w.Context(), w.alice, q.ID)
				w.OK(err)
				if q.Status == fermata.Answered || q.HeldAnswer != nil {
					w.Fatalf("the forged answer stands: %+v", q)
				}
				thread, _, err := w.Engine.Messages(w.Context(), w.alice, task.ID, "", 10)
				w.OK(err)
				if len(thread) == 0 || !strings.Contains(thread[0].Body, "It was dropped") {
					w.Fatalf("the thread does not say so: %+v", thread)
				}
			})
		})
	}
}

// TestAForgedApprovalOpensNothing: the server signs grants by the state of the database, but lets no action run by an
// approval without an event.
func TestAForgedApprovalOpensNothing(t *testing.T) {
	each(t, func(w *world) {
		bob := w.Person("bob")
		task, q := w.createSuspended(fermata.Ask{Question: "Run it?", Action: []byte(removeOld)})
		w.forge(fmt.Sprintf(`UPDATE questions SET status = 'answered', resolution = '{"status":"answered","decided_by":"human",
			"answered_by":{"kind":"human","id":"%s","name":"bob"},"at":"%s","answer":"approve","answers":{"answer":"approve"},"assurance":"session","action_hash":"%s"}';
			UPDATE tasks SET state = 'input_received', pending_question_id = '', unread = 1`, bob.MemberID, w.Clock.Now().UTC().Format(time.RFC3339), q.ActionHash))
		grant := w.claimTask(task.ID).Context.Questions[0].Grant
		if grant == "" {
			w.Fatal("the forged approval gave no grant to try")
		}
		w.CheckRefused(w.verify(grant, removeOld), fermata.CodePolicyViolation)
	})
}

// TestNoReceiptOfWhatWasForged: a receipt does not contain a name that was written into the database.
func TestNoReceiptOfWhatWasForged(t *testing.T) {
	each(t, func(w *world) {
		signer, err := checkpoint.NewSigner(w.Options.Keys.AuditSigner())
		w.OK(err)
		e := engine.New(w.DB, engine.Options{Signer: signer})
		_, q := w.createSuspended(format)
		w.answer(q.ID, "toml")
		r, err := e.Receipt(w.Context(), w.alice, q.ID)
		w.OK(err)
		w.Equal("alice", r.Receipt.Resolution.AnsweredBy.Name)
		if r.Receipt.AskedEvent == 0 || r.Receipt.ClosedEvent <= r.Receipt.AskedEvent || r.Receipt.ClosedHash == "" {
			w.Fatalf("the receipt names no events: %+v", r.Receipt)
		}
		w.forge(`UPDATE questions SET resolution = replace(resolution, '"name":"alice"', '"name":"mallory"')`)
		_, err = e.Receipt(w.Context(), w.alice, q.ID)
		w.CheckRefused(err, fermata.CodePolicyViolation)
	})
}

func (w *world) mustAssign(question string, to ...string) {
	w.Helper()
	_, err := w.Engine.Assign(w.Context(), w.alice, question, fermata.Assignment{Assignees: to})
	w.OK(err)
}

// TestTheVoteOfWhoMayNoMore: the approval of a member who was disabled or lost the right to answer does not close a
// question together with another approval. The thread explains why.
func TestTheVoteOfWhoMayNoMore(t *testing.T) {
	member := func(change fermata.MemberChange) func(*world, string) {
		return func(w *world, _ string) {
			_, err := w.Engine.ChangeMember(w.Context(), admin, "bob", change)
			w.OK(err)
		}
	}
	for name, change := range map[string]func(w *world, question string){
		"disabled":           member(fermata.MemberChange{Disabled: ptr(true)}),
		"a viewer":           member(fermata.MemberChange{Role: ptr(fermata.RoleViewer)}),
		"in no group":        member(fermata.MemberChange{Groups: []string{}}),
		"no longer assigned": func(w *world, id string) { w.mustAssign(id, "alice", "carol") },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				bob, carol := w.Person("bob", "ops"), w.Person("carol", "ops")
				task, q := w.createSuspended(fermata.Ask{Type: fermata.Approval, Title: "Deploy?", Approvals: &fermata.Quorum{Required: 2}, Action: []byte(`{"tool":"deploy"}`), Assignees: []string{"group:ops", "alice"}})
				_, err := w.approve(bob, q, fermata.Approve)
				w.OK(err)
				change(w, q.ID)
				_, err = w.approve(w.alice, q, fermata.Approve)
				w.OK(err)
				w.checkQuestion(q.ID, fermata.Pending)
				thread, _, err := w.Engine.Messages(w.Context(), w.alice, task.ID, "", 10)
				w.OK(err)
				if len(thread) != 1 || !strings.Contains(thread[0].Body, "The approval of bob does not count any more") {
					w.Fatalf("the thread: %+v", thread)
				}
				_, err = w.approve(carol, q, fermata.Approve)
				w.OK(err)
				w.checkQuestion(q.ID, fermata.Answered)
			})
		})
	}
}

// TestAVoteThatCountsAgain: the approval of a person who left the group counts again when the person is back. All votes
// are checked again at every further vote.
func TestAVoteThatCountsAgain(t *testing.T) {
	each(t, func(w *world) {
		bob, carol := w.Person("bob", "ops"), w.Person("carol", "ops")
		_, q := w.createSuspended(fermata.Ask{Type: fermata.Approval, Title: "Deploy?", Approvals: &fermata.Quorum{Required: 2}, Action: []byte(`{"tool":"deploy"}`), Assignees: []string{"group:ops"}})
		_, err := w.approve(bob, q, fermata.Approve)
		w.OK(err)
		_, err = w.Engine.ChangeMember(w.Context(), admin, "bob", fermata.MemberChange{Groups: []string{}})
		w.OK(err)
		_, err = w.approve(carol, q, fermata.Approve)
		w.OK(err)
		w.checkQuestion(q.ID, fermata.Pending)
		_, err = w.Engine.ChangeMember(w.Context(), admin, "bob", fermata.MemberChange{Groups: []string{"ops"}})
		w.OK(err)
		w.Equal([]string{"Deploy?"}, w.titles(carol, engine.QuestionFilter{Status: "pending", Mine: true}))
		_, err = w.approve(carol, q, fermata.Approve)
		w.OK(err)
		w.checkQuestion(q.ID, fermata.Answered)
		w.Equal(1, w.closings(q.ID))
	})
}

// TestAKeyOfAnotherQuestionIsFound: the idempotency key of an open question is given to an answered one in the
// database. The asker must not get the other answer when it asks again.
func TestAKeyOfAnotherQuestionIsFound(t *testing.T) {
	each(t, func(w *world) {
		drop := fermata.Ask{Question: "Drop prod?", Type: fermata.Approval, Action: json.RawMessage(`{"tool":"drop"}`), IdempotencyKey: "K"}
		asked := func(a fermata.Ask) *fermata.Question {
			q, err := w.Engine.AskExternal(w.Context(), w.agent, "", "", a)
			w.OK(err)
			return q
		}
		open := asked(drop)
		tea := asked(fermata.Ask{Question: "Tea?", Type: fermata.Approval, Action: json.RawMessage(`{"tool":"tea"}`)})
		_, err := w.Engine.Answer(w.Context(), w.alice, tea.ID, fermata.Answer{Answer: fermata.Approve, ActionHash: tea.ActionHash})
		w.OK(err)
		w.forge(fmt.Sprintf(`UPDATE questions SET idempotency_key = 'other' WHERE id = '%s'`, open.ID))
		w.forge(fmt.Sprintf(`UPDATE questions SET idempotency_key = 'K', fingerprint = '%s' WHERE id = '%s'`, open.Fingerprint, tea.ID))
		_, err = w.Engine.AskExternal(w.Context(), w.agent, "", "", drop)
		w.CheckRefused(err, fermata.CodePolicyViolation)
		report, err := w.Engine.VerifyAudit(w.Context(), admin)
		w.OK(err)
		if report.OK || !strings.Contains(report.Problem, "idempotency key") {
			w.Errorf("the audit says %+v", report)
		}
	})
}

// TestAForgedHolderGetsNoGrant: the database was changed so that another agent holds a task or session. The audit finds
// it, and this agent is not handed the grant.
func TestAForgedHolderGetsNoGrant(t *testing.T) {
	other := fermata.Caller{WorkspaceID: "default", Kind: fermata.ActorAgent, TokenID: "tok_other", Name: "other", Scopes: []fermata.Scope{fermata.ScopeAsk, fermata.ScopeWork}}
	for name, tt := range map[string]struct{ edit, problem string }{
		"the agent's token":  {`agent_token_id = 'tok_other'`, "another holder"},
		"the worker's token": {`worker_token_id = 'tok_other'`, "another holder"},
		"the maker":          {`worker_token_id = '', created_by = '["agent","tok_other","other"]'`, "another maker"},
		"the parent":         {`parent_id = 'task_x'`, "another parent"},
		"the runner":         {`runner = 'external'`, "another parent"},
		"the session":        {`session_key = 'mine'`, "another parent"},
		"the spec":           {`spec = '{"command":["rm"]}'`, "another parent"},
		"how it ends":        {`ends_with_answer = 1`, "another parent"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				task, q := w.createSuspended(fermata.Ask{Question: "Drop?", Type: fermata.Approval, Action: json.RawMessage(`{"tool":"drop"}`)})
				_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: fermata.Approve, ActionHash: q.ActionHash})
				w.OK(err)
				w.forge(fmt.Sprintf(`UPDATE tasks SET %s WHERE id = '%s'`, tt.edit, task.ID))
				context, err := w.Engine.ResumeContext(w.Context(), other, task.ID)
				w.OK(err)
				if len(context.Questions) != 1 || context.Questions[0].Grant != "" {
					w.Errorf("the other agent is handed %+v", context.Questions)
				}
				report, err := w.Engine.VerifyAudit(w.Context(), admin)
				w.OK(err)
				if report.OK || !strings.Contains(report.Problem, tt.problem) {
					w.Errorf("the audit says %+v", report)
				}
			})
		})
	}
}
