package engine_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

func (w *world) assign(c fermata.Caller, id string, names ...string) (*fermata.Question, error) {
	return w.e.Assign(w.Context(), c, id, fermata.Assignment{Assignees: names, Note: "please look"})
}

// TestAssign: a question goes to the people to whom it is given, with a note
// that does not wake the agent.
func TestAssign(t *testing.T) {
	each(t, func(w *world) {
		bob, carol := w.person("bob", "ops"), w.person("carol")
		carol.Role = fermata.RoleResponder
		task, q := w.createSuspended(format)
		got, err := w.assign(w.alice, q.ID, "group:ops", "bob", "bob")
		w.ok(err)
		w.equal([]string{"group:ops", "bob"}, got.Assignees)
		w.checkState(task.ID, fermata.TaskAwaitingInput)
		w.checkNoTask()
		_, err = w.assign(carol, q.ID, "carol")
		w.checkRefused(err, fermata.CodeNotEligible)
		_, err = w.assign(w.agent, q.ID, "carol")
		w.checkRefused(err, fermata.CodeNotEligible)
		_, err = w.assign(bob, q.ID, "nobody")
		w.checkRefused(err, fermata.CodeInvalidRequest)
		_, err = w.e.Answer(w.Context(), carol, q.ID, fermata.Answer{Answer: "toml"})
		w.checkRefused(err, fermata.CodeNotEligible)
		// An operator may assign any question; bob delegates his to carol.
		_, err = w.assign(w.alice, q.ID, "bob")
		w.ok(err)
		_, err = w.assign(bob, q.ID, "carol")
		w.ok(err)
		_, err = w.e.Answer(w.Context(), carol, q.ID, fermata.Answer{Answer: "toml"})
		w.ok(err)
		_, err = w.assign(w.alice, q.ID, "bob")
		w.checkRefused(err, fermata.CodeQuestionClosed)
		w.equal([]string{"answered: Which format?"}, handedTexts(w.claimTask(task.ID).Context))
		messages, _, err := w.e.Messages(w.Context(), w.alice, task.ID, "", 0)
		w.ok(err)
		w.equal(3, len(messages))
		w.equal(fermata.MessageComment, messages[0].Kind)
	})
}

// TestAssignKeepsTheQuorum: a question that needs two people cannot be given to
// one.
func TestAssignKeepsTheQuorum(t *testing.T) {
	each(t, func(w *world) {
		w.person("bob")
		_, q := w.createSuspended(fermata.Ask{Type: fermata.Approval, Question: "Go?", Approvals: &fermata.Quorum{Required: 2}})
		_, err := w.assign(w.alice, q.ID, "bob")
		w.checkRefused(err, fermata.CodeQuorumUnreachable)
		_, err = w.assign(w.alice, q.ID, "bob", "alice")
		w.ok(err)
	})
}

func TestComment(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		m, err := w.e.Comment(w.Context(), w.alice, q.ID, "I would take toml")
		w.ok(err)
		w.equal(fermata.MessageComment, m.Kind)
		w.checkState(task.ID, fermata.TaskAwaitingInput)
		w.checkNoTask()
		_, err = w.e.Comment(w.Context(), w.agent, q.ID, "me too")
		w.checkRefused(err, fermata.CodeNotEligible)
		_, err = w.e.Comment(w.Context(), w.alice, q.ID, " ")
		w.checkRefused(err, fermata.CodeInvalidRequest)
		w.answer(q.ID, "toml")
		_, err = w.e.Comment(w.Context(), w.alice, q.ID, "done")
		w.ok(err)
		w.equal([]string{"answered: Which format?"}, handedTexts(w.claimTask(task.ID).Context))
	})
}

// TestSnooze: a question is hidden for a while from one person, and from no
// other.
func TestSnooze(t *testing.T) {
	each(t, func(w *world) {
		bob := w.person("bob")
		ask := format
		ask.Timeout = "2h"
		_, q := w.createSuspended(ask)
		mine := engine.QuestionFilter{Status: "pending", Mine: true}
		snoozed := engine.QuestionFilter{Status: "pending", Snoozed: true}
		sees := func(c fermata.Caller, want, put int) {
			w.Helper()
			w.equal([]int{want, put}, []int{len(w.titles(c, mine)), len(w.titles(c, snoozed))})
			counts, err := w.e.QuestionCounts(w.Context(), c, engine.QuestionFilter{Mine: true})
			w.ok(err)
			w.equal([]int{want, put}, []int{counts.Pending, counts.Snoozed})
		}
		snooze := func(s fermata.Snooze) error {
			_, err := w.e.Snooze(w.Context(), w.alice, q.ID, s)
			return err
		}
		w.ok(snooze(fermata.Snooze{For: "1h"}))
		sees(w.alice, 0, 1)
		sees(bob, 1, 0)
		w.ok(snooze(fermata.Snooze{}))
		sees(w.alice, 1, 0)
		w.checkRefused(snooze(fermata.Snooze{For: "3h"}), fermata.CodeInvalidRequest)
		w.checkRefused(snooze(fermata.Snooze{Until: ptr(q.CreatedAt)}), fermata.CodeInvalidRequest)
		w.checkRefused(snooze(fermata.Snooze{Until: ptr(q.CreatedAt.Add(time.Hour)), For: "1h"}), fermata.CodeInvalidRequest)
		got, err := w.e.Snooze(w.Context(), w.alice, q.ID, fermata.Snooze{Until: ptr(q.CreatedAt.Add(time.Hour))})
		w.ok(err)
		w.equal(q.CreatedAt.Add(time.Hour), *got.SnoozedUntil)
		w.clock.Advance(time.Hour)
		sees(w.alice, 1, 0)
		_, err = w.e.Snooze(w.Context(), w.agent, q.ID, fermata.Snooze{For: "1h"})
		w.checkRefused(err, fermata.CodeForbidden)
		w.answer(q.ID, "toml")
		w.checkRefused(snooze(fermata.Snooze{For: "1h"}), fermata.CodeQuestionClosed)
	})
}

func TestSimilar(t *testing.T) {
	each(t, func(w *world) {
		bob := w.person("bob")
		for i, value := range []string{"toml", "toml", "json", "toml"} {
			q := w.ask(w.task(fermata.NewTask{}).ID, format)
			by := w.alice
			if i == 3 {
				by = bob
			}
			_, err := w.e.Answer(w.Context(), by, q.ID, fermata.Answer{Answer: value})
			w.ok(err)
		}
		other := w.ask(w.task(fermata.NewTask{}).ID, fermata.Ask{Question: "What is the name of the repository?"})
		w.answer(other.ID, "toml")
		q := w.ask(w.task(fermata.NewTask{}).ID, format)
		got, err := w.e.Similar(w.Context(), w.alice, q.ID)
		w.ok(err)
		w.equal(2, len(got))
		w.equal("toml", got[0].Answer)
		w.equal([]fermata.AnswerCount{{ID: w.alice.MemberID, Name: "alice", Count: 2}, {ID: bob.MemberID, Name: "bob", Count: 1}}, got[0].By)
		w.equal([]any{"json", 1}, []any{got[1].Text, got[1].Count})
	})
}

func TestViews(t *testing.T) {
	each(t, func(w *world) {
		bob := w.person("bob")
		save := func(c fermata.Caller, v fermata.SavedView) {
			w.Helper()
			_, err := w.e.SaveView(w.Context(), c, v)
			w.ok(err)
		}
		save(w.alice, fermata.SavedView{Name: "mine", Query: "for=me"})
		save(w.alice, fermata.SavedView{Name: "ours", Query: "project=web", Shared: true})
		save(bob, fermata.SavedView{Name: "mine", Query: "for=me&urgency=high"})
		views, err := w.e.Views(w.Context(), bob)
		w.ok(err)
		var got []string
		for _, v := range views {
			got = append(got, v.Owner+" "+v.Name+" "+v.Query)
		}
		w.equal([]string{"bob mine for=me&urgency=high", "alice ours project=web"}, got)
		w.checkRefused(w.e.DeleteView(w.Context(), bob, "ours"), fermata.CodeNotFound)
		w.ok(w.e.DeleteView(w.Context(), w.alice, "ours"))
		views, err = w.e.Views(w.Context(), bob)
		w.ok(err)
		w.equal(1, len(views))
		_, err = w.e.SaveView(w.Context(), bob, fermata.SavedView{Name: " "})
		w.checkRefused(err, fermata.CodeInvalidRequest)
		_, err = w.e.Views(w.Context(), w.agent)
		w.checkRefused(err, fermata.CodeForbidden)
		for i := range fermata.MaxViews - 1 {
			save(bob, fermata.SavedView{Name: time.Duration(i).String()})
		}
		_, err = w.e.SaveView(w.Context(), bob, fermata.SavedView{Name: "one more"})
		w.checkRefused(err, fermata.CodeInvalidRequest)
		save(bob, fermata.SavedView{Name: "mine"})
	})
}
