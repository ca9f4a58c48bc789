package delivery_test

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/standin/wall"
)

// hide hides the project from a person.
func (w *world) hide(person, project string) {
	w.Helper()
	_, err := w.Engine.ChangeMember(w.Context(), admin, person, fermata.MemberChange{Projects: map[string]fermata.Role{project: fermata.RoleNone}})
	w.OK(err)
}

// askIn asks a question in a project.
func (w *world) askIn(project string, a fermata.Ask) *fermata.Question {
	w.Helper()
	q, err := w.Engine.AskExternal(w.Context(), agent, project, "", a)
	w.OK(err)
	return q
}

// answer answers as the person.
func (w *world) answer(person string, q *fermata.Question, value string) {
	w.Helper()
	_, err := w.Engine.Answer(w.Context(), w.caller(person), q.ID, fermata.Answer{Answer: value})
	w.OK(err)
}

// A person from whom a project is hidden gets the same reply about its
// questions as about an id that does not exist. This holds however the question
// is named, and in every state of it.
func TestAHiddenQuestionIsUnknownInAChannel(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPlace})
		w.addChannel()
		q := w.askIn("pay", pickQuestion)
		m := w.awaitMessages("ann", 1)[0]
		kept := wall.Click{ID: "kept", From: "wall-ann", Delivery: m.ID, Text: "neither"}
		if told := w.click(kept); !strings.Contains(told, "toml") {
			t.Fatalf("ann was told %q", told)
		}
		w.hide("ann", "pay")
		unknown := w.click(wall.Click{From: "wall-ann", Question: "q_00000000000000000000", Text: "toml"})
		clicks := map[string]wall.Click{
			"an answer by id":       {From: "wall-ann", Question: q.ID, Text: "toml"},
			"an answer by ending":   {From: "wall-ann", Question: q.ID[len(q.ID)-6:], Text: "toml"},
			"a look by id":          {From: "wall-ann", Question: q.ID},
			"an answer by message":  {From: "wall-ann", Delivery: m.ID, Text: "toml"},
			"a look by message":     {From: "wall-ann", Delivery: m.ID},
			"what was heard before": kept,
		}
		check := func(state string) {
			for name, click := range clicks {
				if told := w.click(click); told != unknown {
					t.Errorf("%s, %s: ann was told %q, and of no question %q", state, name, told, unknown)
				}
			}
		}
		check("open")
		w.answer("bob", q, "yaml")
		check("closed")
	})
}

// A person who has lost access to a project is told nothing more about it. A
// message that was sent before stays as it is.
func TestNothingMoreIsToldOfAHiddenProject(t *testing.T) {
	t.Parallel()
	disable := true
	for name, lose := range map[string]func(w *world){
		"hidden": func(w *world) { w.hide("ann", "pay") },
		"disabled": func(w *world) {
			_, err := w.Engine.ChangeMember(w.Context(), admin, "ann", fermata.MemberChange{Disabled: &disable})
			w.OK(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
			w.addChannel()
			answered, cancelled := w.askIn("pay", pickQuestion), w.askIn("pay", pickQuestion)
			before := w.awaitMessages("ann", 2)
			w.awaitMessages("bob", 2)
			lose(w)
			w.answer("bob", answered, "toml")
			_, err := w.Engine.CancelQuestion(w.Context(), admin, cancelled.ID, "")
			w.OK(err)
			for _, q := range []*fermata.Question{answered, cancelled} {
				w.await("nothing is left to do", func() bool {
					for _, d := range w.deliveries(q) {
						if d.NextAt != nil || d.MemberID == w.members["bob"].ID && d.ShownStatus == fermata.Pending {
							return false
						}
					}
					return true
				})
			}
			after := w.awaitMessages("ann", 2)
			for i := range before {
				if after[i].Text != before[i].Text {
					t.Errorf("the message became %q", after[i].Text)
				}
			}
		})
	}
}

// Progress of a hidden project is sent to no person who cannot see it.
func TestProgressOfAHiddenProjectIsNotTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	w.enableProgress("ann", "bob")
	w.hide("ann", "pay")
	for _, project := range []string{"pay", "web"} {
		task, err := w.Engine.CreateTask(t.Context(), agent, fermata.NewTask{Title: "work", Project: project, Runner: fermata.RunnerExternal})
		w.OK(err)
		w.OK(w.Engine.ReportProgress(t.Context(), agent, task.ID, fermata.Progress{Message: "goes on in " + project}))
		w.awaitText("wall-bob", "goes on in "+project)
	}
	w.awaitText("wall-ann", "goes on in web")
	w.awaitMessages("ann", 1)
}

// newLinkWorld returns a world with a channel that does not vouch for the
// people who answer.
func newLinkWorld(t *testing.T, opts store.Options) *world {
	w := newWorld(t, opts, setup{options: func(o *delivery.Options) { o.Kinds = []delivery.Kind{wall.NewLinkKind(delivery.ToPeople)} }})
	w.addChannel()
	return w
}

// When a person's links are revoked, the reply secrets become invalid as well.
func TestRepliesEndWithTheLinks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newLinkWorld(t, opts)
		low := pickQuestion
		low.Risk = fermata.RiskLow
		disabled := true
		policy := fermata.DefaultPolicy()
		n := 0
		for _, end := range []struct {
			name, told string
			end, after func()
		}{
			{"taken back", "not clear which question", func() { w.OK(w.Engine.RevokeAnswerLinks(w.Context(), admin, "ann")) }, func() {}},
			{"disabled and enabled", "not clear which question", func() {
				for range 2 {
					_, err := w.Engine.ChangeMember(w.Context(), admin, "ann", fermata.MemberChange{Disabled: &disabled})
					w.OK(err)
					disabled = !disabled
				}
			}, func() {}},
			{"switched off", "the policy allows no answers by link", func() {
				policy.LinkAnswers = fermata.LinkAnswersOff
				_, err := w.Engine.SetPolicy(w.Context(), admin, policy)
				w.OK(err)
			}, func() {
				policy.LinkAnswers = fermata.LinkAnswersLow
				_, err := w.Engine.SetPolicy(w.Context(), admin, policy)
				w.OK(err)
			}},
		} {
			q := w.ask(low)
			n++
			w.awaitMessages("ann", n)
			secret := w.wall.Notices("wall-ann")[n-1].Reply
			end.end()
			if told := w.click(wall.Click{From: "wall-ann", Reply: secret, Text: "toml"}); !strings.Contains(strings.ToLower(told), end.told) {
				t.Errorf("%s: ann was told %q", end.name, told)
			}
			if got := w.status(q); got != fermata.Pending {
				t.Errorf("%s: the question is %s", end.name, got)
			}
			end.after()
		}
		w.ask(low)
		w.awaitMessages("ann", n+1)
		secret := w.wall.Notices("wall-ann")[n].Reply
		if told := w.click(wall.Click{From: "wall-ann", Reply: secret, Text: "toml"}); !strings.Contains(told, "counts") {
			t.Errorf("a new message: ann was told %q", told)
		}
	})
}

// The asker of a question cannot answer it by a reply whose writer the channel
// does not vouch for. The same holds for a link.
func TestTheAskerAnswersByNoReply(t *testing.T) {
	t.Parallel()
	w := newLinkWorld(t, sqlite(t))
	low := pickQuestion
	low.Risk = fermata.RiskLow
	q, err := w.Engine.AskExternal(w.Context(), w.caller("ann"), "", "", low)
	w.OK(err)
	w.awaitMessages("ann", 1)
	w.awaitMessages("bob", 1)
	own := w.wall.Notices("wall-ann")[0]
	if own.Decide || own.Answer != "" {
		t.Errorf("the message to the asker offers to decide: %+v", own)
	}
	if told := w.click(wall.Click{From: "wall-ann", Reply: own.Reply, Text: "toml"}); !strings.Contains(told, "ann asked this question") {
		t.Errorf("ann was told %q", told)
	}
	if got := w.status(q); got != fermata.Pending {
		t.Fatalf("the question is %s", got)
	}
	if told := w.click(wall.Click{From: "wall-bob", Reply: w.wall.Notices("wall-bob")[0].Reply, Text: "toml"}); !strings.Contains(told, "counts") {
		t.Errorf("bob was told %q", told)
	}
}
