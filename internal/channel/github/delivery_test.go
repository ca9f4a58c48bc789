package github_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/test/patience"
	remote "github.com/fermata-hq/fermata/test/standin"
	standin "github.com/fermata-hq/fermata/test/standin/github"
)

// serverFixture is the engine and the delivery service, with GitHub as the only channel.
type serverFixture struct {
	testkit.Test
	hub *standin.Server
	e   *engine.Engine
	s   *delivery.Service
}

func newServerFixture(t *testing.T, settings func(*standin.Server) map[string]any) *serverFixture {
	t.Helper()
	o := &serverFixture{Test: testkit.Test{T: t}, hub: standin.New()}
	t.Cleanup(o.hub.Close)
	db := storetest.Open(t, storetest.SQLite(t))
	o.e = engine.New(db, engine.Options{})
	o.s = delivery.New(delivery.Options{DB: db, Engine: o.e, PublicURL: "https://fermata.example", Kinds: []delivery.Kind{{
		Name: github.Kind, Audience: delivery.ToPlace, Settings: github.Schema, Secrets: github.Secrets, Public: github.Public,
		Open: func(settings json.RawMessage, env notice.Env) (delivery.Channel, error) {
			return github.Open(settings, env)
		},
	}}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, err := o.s.Handler(store.DefaultWorkspace, "github")
		if err != nil {
			http.NotFound(w, r)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	o.hub.SetInbound(server.URL)
	o.OK(o.e.Start(t.Context()))
	o.OK(o.s.Start(t.Context()))
	testkit.Run(t, o.e.RunTail, o.s.Run)
	for _, name := range []string{"ann", "bob"} {
		id, _ := o.hub.AddPerson(name)
		_, err := o.e.AddMember(t.Context(), testkit.Admin, engine.NewMember{Handle: name, Role: fermata.RoleResponder})
		o.OK(err)
		_, err = o.s.SetIdentity(t.Context(), testkit.Admin, name, fermata.Identity{Kind: github.Kind, ID: id})
		o.OK(err)
	}
	_, err := o.s.AddChannel(t.Context(), testkit.Admin, fermata.NewChannel{Name: "github", Kind: github.Kind, Settings: settings(o.hub)})
	o.OK(err)
	steps := []fermata.RouteStep{{After: "0s", Channel: "github"}}
	_, err = o.s.SetRoutes(t.Context(), testkit.Admin, fermata.Routes{Blocking: steps, Approval: steps, ErrorRecovery: steps, NonBlocking: steps, Progress: []fermata.RouteStep{}})
	o.OK(err)
	patience.Await(t, "the channel is planned for", func() bool {
		plan, err := db.Reader(t.Context(), store.DefaultWorkspace).Plan()
		o.OK(err)
		return plan.Seq >= 0
	})
	return o
}

func (o *serverFixture) ask(a fermata.Ask) *fermata.Question {
	o.Helper()
	q, err := o.e.AskExternal(o.Context(), testkit.Agent, "", "", a)
	o.OK(err)
	return q
}

// awaitComment waits for the comment with the question.
func (o *serverFixture) awaitComment(q *fermata.Question, closed bool) remote.Message {
	o.Helper()
	var found remote.Message
	patience.Await(o.T, "the comment stands on the issue", func() bool {
		for _, m := range o.hub.VisibleMessages("anybody") {
			if m.Question == q.ID && m.Closed == closed {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

func (o *serverFixture) question(id string) *fermata.Question {
	o.Helper()
	q, err := o.e.Question(o.Context(), testkit.Admin, id)
	o.OK(err)
	return q
}

func (o *serverFixture) awaitTold(person, words string) {
	o.Helper()
	patience.Await(o.T, person+" is told: "+words, func() bool {
		return slices.ContainsFunc(o.hub.Feedback(person), func(s string) bool { return strings.Contains(s, words) })
	})
}

// This test goes from a question to its closed comment, through the engine and the delivery service. It uses a token's
// account with webhooks, and an App that polls.
func TestServerAsksAndHearsOverGitHub(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]func(*standin.Server) map[string]any{
		"token, webhook": func(s *standin.Server) map[string]any {
			settings := s.Settings()
			settings["poll"] = "off"
			return settings
		},
		"App, polling": func(s *standin.Server) map[string]any {
			settings := s.AppSettings()
			delete(settings, "webhook_secret")
			return settings
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newServerFixture(t, settings)
			test, err := o.s.TestChannel(t.Context(), testkit.Admin, "github", "")
			if err != nil || !test.OK {
				t.Fatalf("the test says %+v, %v", test, err)
			}
			q := o.ask(fermata.Ask{Question: "Which format?", Options: []fermata.Option{{Value: "toml"}, {Value: "yaml"}}, Assignees: []string{"ann", "bob"}})
			m := o.awaitComment(q, false)
			if !strings.Contains(m.Text, "For @ann, @bob.") {
				t.Errorf("ann and bob do not learn of it: %s", m.Text)
			}
			patience.Await(t, "they are assigned", func() bool { return slices.Equal(o.hub.Assignees(standin.Issue), []string{"ann", "bob"}) })
			o.hub.AddUser("eve", "write")
			o.hub.Comment("eve", standin.Issue, "A")
			o.awaitTold("eve", "No active member is connected with eve")
			o.hub.Comment("bob", standin.Issue, "C")
			o.hub.Comment("ann", standin.Issue, "B: it is what we know")
			o.awaitTold("ann", "+1")
			if m := o.awaitComment(q, true); !strings.Contains(m.Text, "**Closed:** answered by ann: yaml.") {
				t.Errorf("the comment says %s", m.Text)
			}
			r := o.question(q.ID).Resolution
			if r == nil || r.Answer != "yaml" || r.Channel != "github" || r.Assurance != fermata.AssuranceChannel || r.Comment != "it is what we know" {
				t.Errorf("it was resolved as %+v", r)
			}
			o.hub.Comment("bob", standin.Issue, "toml")
			o.awaitTold("bob", "Somebody was first: answered by ann: yaml.")
			patience.Await(t, "nobody is assigned any more", func() bool { return len(o.hub.Assignees(standin.Issue)) == 0 && len(o.hub.Labels(standin.Issue)) == 0 })
		})
	}
}

// The event of a label names the member who owns the account. An unknown account belongs to nobody.
func TestServerNamesWhoPutALabel(t *testing.T) {
	t.Parallel()
	o := newServerFixture(t, (*standin.Server).Settings)
	o.hub.AddUser("eve", "write")
	o.hub.Label("ann", standin.Issue, "auto-fix")
	o.hub.Label("eve", standin.Issue, "later")
	var by map[string]fermata.Actor
	patience.Await(t, "both are heard", func() bool {
		events, _, err := o.e.Events(t.Context(), testkit.Admin, engine.EventFilter{Types: []string{string(fermata.EventLabelAdded)}})
		o.OK(err)
		by = map[string]fermata.Actor{}
		for _, e := range events {
			var said struct{ Label string }
			o.OK(json.Unmarshal(e.Data, &said))
			by[said.Label] = e.Actor
		}
		return len(by) == 2
	})
	if by["auto-fix"].Kind != fermata.ActorHuman || by["auto-fix"].Name != "ann" || by["later"] != fermata.SystemActor {
		t.Errorf("the labels are by %+v", by)
	}
}

// Each form of answer arrives unchanged.
func TestServerHearsEveryForm(t *testing.T) {
	t.Parallel()
	o := newServerFixture(t, func(s *standin.Server) map[string]any { return s.Settings() })
	item := func(key string, form fermata.ResponseType) fermata.Item {
		it := fermata.Item{Key: key, Prompt: "What of " + key + "?", ResponseType: form}
		if form == fermata.ResponseChoice || form == fermata.ResponseMultiChoice {
			it.Options = []fermata.Option{{Value: "one"}, {Value: "two"}, {Value: "three"}}
		}
		return it
	}
	forms := map[fermata.ResponseType]any{
		fermata.ResponseText: "Call it done.", fermata.ResponseChoice: "two", fermata.ResponseMultiChoice: []any{"one", "three"},
		fermata.ResponseBoolean: true, fermata.ResponseNumber: 4.5, fermata.ResponseDate: "2027-01-31",
	}
	var all []fermata.Item
	answers := map[string]any{}
	for _, form := range []fermata.ResponseType{
		fermata.ResponseText, fermata.ResponseChoice, fermata.ResponseMultiChoice, fermata.ResponseBoolean, fermata.ResponseNumber, fermata.ResponseDate,
	} {
		all = append(all, item(string(form), form))
		answers[string(form)] = forms[form]
		q := o.ask(fermata.Ask{Items: []fermata.Item{item("it", form)}})
		o.OK(o.hub.Reply("ann", o.awaitComment(q, false), remote.Reply{Answers: map[string]any{"it": forms[form]}}))
		o.awaitComment(q, true)
		got, want := mustEncode(t, o.question(q.ID).Resolution.Answer), mustEncode(t, forms[form])
		if string(got) != string(want) {
			t.Errorf("%s: answered %s, want %s", form, got, want)
		}
	}
	q := o.ask(fermata.Ask{Title: "All of it", Items: all})
	o.OK(o.hub.Reply("ann", o.awaitComment(q, false), remote.Reply{Answers: answers}))
	o.awaitComment(q, true)
	if got, want := mustEncode(t, o.question(q.ID).Resolution.Answers), mustEncode(t, answers); string(got) != string(want) {
		t.Errorf("answered %s, want %s", got, want)
	}
	action := o.ask(fermata.Ask{Question: "May it?", ResponseType: fermata.ResponseApproval, Action: json.RawMessage(`{"command":"make"}`)})
	m := o.awaitComment(action, false)
	// The server knows what the comment showed only after it has recorded the delivery.
	patience.Await(t, "the delivery is noted", func() bool {
		all, _, err := o.s.Deliveries(t.Context(), testkit.Admin, delivery.Filter{QuestionID: action.ID})
		o.OK(err)
		return len(all) == 1 && all[0].State == fermata.DeliverySent
	})
	if strings.Contains(m.Text, "To answer") {
		o.OK(o.hub.Reply("bob", m, remote.Reply{Text: "reject: not before lunch"}))
		o.awaitComment(action, true)
		if r := o.question(action.ID).Resolution; r.Answer != fermata.Reject || r.Comment != "not before lunch" {
			t.Errorf("it was resolved as %+v", r)
		}
	} else {
		t.Errorf("an approval of medium risk is not offered: %s", m.Text)
	}
}

// Each way in which a question ends is reported in the place where it was asked.
func TestServerClosesTheComment(t *testing.T) {
	t.Parallel()
	o := newServerFixture(t, func(s *standin.Server) map[string]any { return s.Settings() })
	q := o.ask(fermata.Ask{Question: "Go on?", ResponseType: fermata.ResponseBoolean})
	o.awaitComment(q, false)
	_, err := o.e.CancelQuestion(o.Context(), testkit.Admin, q.ID, "")
	o.OK(err)
	if m := o.awaitComment(q, true); !strings.Contains(m.Text, "cancelled by") {
		t.Errorf("the comment says %s", m.Text)
	}
}
