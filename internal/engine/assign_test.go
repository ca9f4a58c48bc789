package engine_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

func (w *world) assign(c fermata.Caller, id string, names ...string) (*fermata.Question, error) {
	return w.Engine.Assign(w.Context(), c, id, fermata.Assignment{Assignees: names, Note: "please look"})
}

// TestAssign: a question goes to the people to whom it is given, with a note
// that does not wake the agent.
func TestAssign(t *testing.T) {
	each(t, func(w *world) {
		bob, carol := w.Person("bob", "ops"), w.Person("carol")
		carol.Role = fermata.RoleResponder
		task, q := w.createSuspended(format)
		got, err := w.assign(w.alice, q.ID, "group:ops", "bob", "bob")
		w.OK(err)
		w.Equal([]string{"group:ops", "bob"}, got.Assignees)
		w.checkState(task.ID, fermata.TaskAwaitingInput)
		w.checkNoTask()
		_, err = w.assign(carol, q.ID, "carol")
		w.CheckRefused(err, fermata.CodeNotEligible)
		_, err = w.assign(w.agent, q.ID, "carol")
		w.CheckRefused(err, fermata.CodeNotEligible)
		_, err = w.assign(bob, q.ID, "nobody")
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		_, err = w.Engine.Answer(w.Context(), carol, q.ID, fermata.Answer{Answer: "toml"})
		w.CheckRefused(err, fermata.CodeNotEligible)
		// An operator may assign any question; bob delegates his to carol.
		_, err = w.assign(w.alice, q.ID, "bob")
		w.OK(err)
		_, err = w.assign(bob, q.ID, "carol")
		w.OK(err)
		_, err = w.Engine.Answer(w.Context(), carol, q.ID, fermata.Answer{Answer: "toml"})
		w.OK(err)
		_, err = w.assign(w.alice, q.ID, "bob")
		w.CheckRefused(err, fermata.CodeQuestionClosed)
		w.Equal([]string{"answered: Which format?"}, handedTexts(w.claimTask(task.ID).Context))
		messages, _, err := w.Engine.Messages(w.Context(), w.alice, task.ID, "", 0)
		w.OK(err)
		w.Equal(3, len(messages))
		w.Equal(fermata.MessageComment, messages[0].Kind)
	})
}

// TestAssignKeepsTheQuorum: a question that needs two people cannot be given to
// one.
func TestAssignKeepsTheQuorum(t *testing.T) {
	each(t, func(w *world) {
		w.Person("bob")
		_, q := w.createSuspended(fermata.Ask{Type: fermata.Approval, Question: "Go?", Approvals: &fermata.Quorum{Required: 2}})
		_, err := w.assign(w.alice, q.ID, "bob")
		w.CheckRefused(err, fermata.CodeQuorumUnreachable)
		_, err = w.assign(w.alice, q.ID, "bob", "alice")
		w.OK(err)
	})
}

func TestComment(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		m, err := w.Engine.Comment(w.Context(), w.alice, q.ID, "I would take toml")
		w.OK(err)
		w.Equal(fermata.MessageComment, m.Kind)
		w.checkState(task.ID, fermata.TaskAwaitingInput)
		w.checkNoTask()
		_, err = w.Engine.Comment(w.Context(), w.agent, q.ID, "me too")
		w.CheckRefused(err, fermata.CodeNotEligible)
		_, err = w.Engine.Comment(w.Context(), w.alice, q.ID, " ")
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		w.answer(q.ID, "toml")
		_, err = w.Engine.Comment(w.Context(), w.alice, q.ID, "done")
		w.OK(err)
		w.Equal([]string{"answered: Which format?"}, handedTexts(w.claimTask(task.ID).Context))
	})
}

// TestSnooze: a question is hidden for a while from one person, and from no
// other.
func TestSnooze(t *testing.T) {
	each(t, func(w *world) {
		bob := w.Person("bob")
		ask := format
		ask.Timeout = "2h"
		_, q := w.createSuspended(ask)
		mine := engine.QuestionFilter{Status: "pending", Mine: true}
		snoozed := engine.QuestionFilter{Status: "pending", Snoozed: true}
		sees := func(c fermata.Caller, want, put int) {
			w.Helper()
			w.Equal([]int{want, put}, []int{len(w.titles(c, mine)), len(w.titles(c, snoozed))})
			counts, err := w.Engine.QuestionCounts(w.Context(), c, engine.QuestionFilter{Mine: true})
			w.OK(err)
			w.Equal([]int{want, put}, []int{counts.Pending, counts.Snoozed})
		}
		snooze := func(s fermata.Snooze) error {
			_, err := w.Engine.Snooze(w.Context(), w.alice, q.ID, s)
			return err
		}
		w.OK(snooze(fermata.Snooze{For: "1h"}))
		sees(w.alice, 0, 1)
		sees(bob, 1, 0)
		w.OK(snooze(fermata.Snooze{}))
		sees(w.alice, 1, 0)
		w.CheckRefused(snooze(fermata.Snooze{For: "3h"}), fermata.CodeInvalidRequest)
		w.CheckRefused(snooze(fermata.Snooze{Until: ptr(q.CreatedAt)}), fermata.CodeInvalidRequest)
		w.CheckRefused(snooze(fermata.Snooze{Until: ptr(q.CreatedAt.Add(time.Hour)), For: "1h"}), fermata.CodeInvalidRequest)
		got, err := w.Engine.Snooze(w.Context(), w.alice, q.ID, fermata.Snooze{Until: ptr(q.CreatedAt.Add(time.Hour))})
		w.OK(err)
		w.Equal(q.CreatedAt.Add(time.Hour), *got.SnoozedUntil)
		w.Clock.Advance(time.Hour)
		sees(w.alice, 1, 0)
		_, err = w.Engine.Snooze(w.Context(), w.agent, q.ID, fermata.Snooze{For: "1h"})
		w.CheckRefused(err, fermata.CodeForbidden)
		w.answer(q.ID, "toml")
		w.CheckRefused(snooze(fermata.Snooze{For: "1h"}), fermata.CodeQuestionClosed)
	})
}

func TestSimilar(t *testing.T) {
	each(t, func(w *world) {
		bob := w.Person("bob")
		for i, value := range []string{"toml", "toml", "json", "toml"} {
			q := w.ask(w.task(fermata.NewTask{}).ID, format)
			by := w.alice
			if i == 3 {
				by = bob
			}
			_, err := w.Engine.Answer(w.Context(), by, q.ID, fermata.Answer{Answer: value})
			w.OK(err)
		}
		other := w.ask(w.task(fermata.NewTask{}).ID, fermata.Ask{Question: "What is the name of the repository?"})
		w.answer(other.ID, "toml")
		q := w.ask(w.task(fermata.NewTask{}).ID, format)
		got, err := w.Engine.Similar(w.Context(), w.alice, q.ID)
		w.OK(err)
		w.Equal(2, len(got))
		w.Equal("toml", got[0].Answer)
		w.Equal([]fermata.AnswerCount{{ID: w.alice.MemberID, Name: "alice", Count: 2}, {ID: bob.MemberID, Name: "bob", Count: 1}}, got[0].By)
		w.Equal([]any{"json", 1}, []any{got[1].Text, got[1].Count})
	})
}

func TestViews(t *testing.T) {
	each(t, func(w *world) {
		bob := w.Person("bob")
		save := func(c fermata.Caller, v fermata.SavedView) {
			w.Helper()
			_, err := w.Engine.SaveView(w.Context(), c, v)
			w.OK(err)
		}
		save(w.alice, fermata.SavedView{Name: "mine", Query: "for=me"})
		save(w.alice, fermata.SavedView{Name: "ours", Query: "project=web", Shared: true})
		save(bob, fermata.SavedView{Name: "mine", Query: "for=me&urgency=high"})
		views, err := w.Engine.Views(w.Context(), bob)
		w.OK(err)
		var got []string
		for _, v := range views {
			got = append(got, v.Owner+" "+v.Name+" "+v.Query)
		}
		w.Equal([]string{"bob mine for=me&urgency=high", "alice ours project=web"}, got)
		w.CheckRefused(w.Engine.DeleteView(w.Context(), bob, "ours"), fermata.CodeNotFound)
		w.OK(w.Engine.DeleteView(w.Context(), w.alice, "ours"))
		views, err = w.Engine.Views(w.Context(), bob)
		w.OK(err)
		w.Equal(1, len(views))
		_, err = w.Engine.SaveView(w.Context(), bob, fermata.SavedView{Name: " "})
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		_, err = w.Engine.Views(w.Context(), w.agent)
		w.CheckRefused(err, fermata.CodeForbidden)
		for i := range fermata.MaxViews - 1 {
			save(bob, fermata.SavedView{Name: time.Duration(i).String()})
		}
		_, err = w.Engine.SaveView(w.Context(), bob, fermata.SavedView{Name: "one more"})
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		save(bob, fermata.SavedView{Name: "mine"})
	})
}
