package slack_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/slack"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/standin"
	remote "github.com/fermata-hq/fermata/test/standin/slack"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// serverFixture is the engine and the delivery service, with Slack as the only channel.
type serverFixture struct {
	testkit.Test
	*remote.Server

	e *engine.Engine
	s *delivery.Service
	// people are the Slack ids of ann and bob.
	people map[string]string
	heard  int
}

func newServerFixture(t *testing.T, opts store.Options, by transport) *serverFixture {
	t.Helper()
	h := &serverFixture{Test: testkit.Test{T: t}, Server: remote.New(), people: map[string]string{}}
	t.Cleanup(h.Close)
	db := storetest.Open(t, opts)
	h.e = engine.New(db, engine.Options{})
	h.s = delivery.New(delivery.Options{DB: db, Engine: h.e, PublicURL: "https://fermata.example.com", Kinds: []delivery.Kind{{
		Name: slack.Kind, Audience: delivery.ToPeopleOrPlace, Settings: slack.Schema, Secrets: slack.Secrets,
		Open: func(settings json.RawMessage, env notice.Env) (delivery.Channel, error) {
			return slack.Open(settings, env)
		},
	}}})
	h.OK(h.e.Start(t.Context()))
	h.OK(h.s.Start(t.Context()))
	testkit.Run(t, h.e.RunTail, h.s.Run)
	settings := h.Settings()
	if by == overHTTP {
		delete(settings, "app_token")
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			inbound, err := h.s.Handler(store.DefaultWorkspace, "slack")
			if err != nil {
				http.NotFound(w, r)
				return
			}
			inbound.ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		h.SetInbound(server.URL)
	}
	_, err := h.s.AddChannel(t.Context(), testkit.Admin, fermata.NewChannel{Name: "slack", Kind: slack.Kind, Settings: settings})
	h.OK(err)
	steps := []fermata.RouteStep{{After: "0s", Channel: "slack"}}
	_, err = h.s.SetRoutes(t.Context(), testkit.Admin, fermata.Routes{Blocking: steps, Approval: steps, ErrorRecovery: steps, NonBlocking: steps, Progress: []fermata.RouteStep{}})
	h.OK(err)
	for _, name := range []string{"ann", "bob"} {
		_, err := h.e.AddMember(t.Context(), testkit.Admin, engine.NewMember{Handle: name, Role: fermata.RoleResponder})
		h.OK(err)
		h.people[name], _ = h.AddPerson(name)
		_, err = h.s.SetIdentity(t.Context(), testkit.Admin, name, fermata.Identity{Kind: slack.Kind, ID: h.people[name]})
		h.OK(err)
	}
	return h
}

func (h *serverFixture) ask(a fermata.Ask) *fermata.Question {
	h.Helper()
	q, err := h.e.AskExternal(h.Context(), testkit.Agent, "", "", a)
	h.OK(err)
	return q
}

// awaitMessage waits until the person sees a message about the question for which the
// condition holds.
func (h *serverFixture) awaitMessage(person string, q *fermata.Question, what string, holds func(standin.Message) bool) (m standin.Message) {
	h.Helper()
	err := h.Await(person+" sees "+what, func() bool {
		for _, m = range h.VisibleMessages(h.people[person]) {
			if m.Question == q.ID && holds(m) {
				return true
			}
		}
		return false
	})
	h.OK(err)
	return m
}

// awaitLastTold waits until the person was told once for each answer, the last time
// with a text that contains part.
func (h *serverFixture) awaitLastTold(person, part string) {
	h.Helper()
	before := h.heard
	h.heard++
	err := h.Await("told: "+part, func() bool { return len(h.Feedback(h.people[person])) > before })
	told := h.Feedback(h.people[person])
	if err != nil || !strings.Contains(told[len(told)-1], part) {
		h.Fatalf("%v; told: %q", err, told)
	}
}

func (h *serverFixture) awaitTold(person, part string) {
	h.Helper()
	err := h.Await("told: "+part, func() bool { return strings.Contains(strings.Join(h.Feedback(h.people[person]), "\n"), part) })
	if err != nil {
		h.Fatalf("%v; told: %q", err, h.Feedback(h.people[person]))
	}
}

// awaitOnlyOpen waits until exactly one message about the question can be answered,
// and the given number of messages is there.
func (h *serverFixture) awaitOnlyOpen(person string, q *fermata.Question, messages int) standin.Message {
	h.Helper()
	var live standin.Message
	h.OK(h.Await("one of the messages is open", func() bool {
		all, open := 0, 0
		for _, m := range h.VisibleMessages(h.people[person]) {
			if m.Question != q.ID {
				continue
			}
			// Besides the buttons that answer, there is one that opens the
			// question.
			if all++; len(m.Buttons) > 1 {
				open++
				live = m
			}
		}
		return all == messages && open == 1
	}))
	return live
}

// awaitDelivery waits until the server has recorded that the message was sent.
func (h *serverFixture) awaitDelivery(q *fermata.Question) *fermata.Delivery {
	h.Helper()
	var all []*fermata.Delivery
	patience.Await(h.T, "it is sent", func() bool {
		var err error
		all, _, err = h.s.Deliveries(h.Context(), testkit.Admin, delivery.Filter{QuestionID: q.ID})
		h.OK(err)
		return len(all) == 1 && all[0].State == fermata.DeliverySent
	})
	return all[0]
}

// TestSentAgainByHand checks that only one message at a time has buttons, even
// after a failure in between.
func TestSentAgainByHand(t *testing.T) {
	t.Parallel()
	h := newServerFixture(t, storetest.SQLite(t), overHTTP)
	q := h.ask(fermata.Ask{Question: "Which?", Options: []fermata.Option{{Value: "toml"}, {Value: "yaml"}}, Assignees: []string{"ann"}})
	first := h.awaitOnlyOpen("ann", q, 1)
	sent := h.awaitDelivery(q)
	h.Fail("chat.postMessage", remote.Fault{TakesEffect: true})
	_, err := h.s.Redeliver(t.Context(), testkit.Admin, sent.ID)
	h.OK(err)
	second := h.awaitOnlyOpen("ann", q, 2)
	if second.ID == first.ID {
		t.Error("the first message is the one that is open")
	}
	h.OK(h.Write(h.people["ann"], first.ID, "yaml"))
	h.awaitTold("ann", "was sent again: answer there")
	h.OK(h.Write(h.people["ann"], second.ID, "yaml"))
	h.awaitTold("ann", "counts")
	h.awaitMessage("ann", q, "the end", func(m standin.Message) bool { return m.ID == second.ID && m.Closed })
}

func isOpen(m standin.Message) bool   { return !m.Closed }
func isClosed(m standin.Message) bool { return m.Closed }

// TestFromQuestionToAnswer checks the way from a question to its answer. An agent asks, two people are told, and one
// answers. Both messages say so, and the second person is told who was first.
func TestFromQuestionToAnswer(t *testing.T) {
	t.Parallel()
	for _, by := range transports {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, opts store.Options) {
				h := newServerFixture(t, opts, by)
				for _, c := range []struct {
					name   string
					ask    fermata.Ask
					answer map[string]any
					late   string
				}{
					{"button", fermata.Ask{Question: "Which format?", Options: []fermata.Option{{Value: "toml"}, {Value: "yaml"}}}, map[string]any{"answer": "toml"}, "yaml"},
					{"form", fermata.Ask{Title: "Which name?", Items: []fermata.Item{{Prompt: "Which name?", ResponseType: fermata.ResponseText}}}, map[string]any{"answer": "ada.go"}, "bob.go"},
					{"approval", fermata.Ask{
						Type: fermata.Approval, Title: "Deploy?", Risk: fermata.RiskMedium, Action: json.RawMessage(`{"command": "make deploy"}`),
					}, map[string]any{"approval": "approve"}, "reject"},
				} {
					q := h.ask(c.ask)
					first := h.awaitMessage("ann", q, "it", isOpen)
					second := h.awaitMessage("bob", q, "it", isOpen)
					key := q.Items[0].Key
					for _, v := range c.answer {
						h.OK(h.Reply(h.people["ann"], first, standin.Reply{Answers: map[string]any{key: v}}))
					}
					h.awaitMessage("ann", q, "the end", isClosed)
					if m := h.awaitMessage("bob", q, "the end", isClosed); !strings.Contains(m.Text, "by ann") {
						t.Errorf("%s: bob sees %s", c.name, m.Text)
					}
					h.awaitTold("ann", "by ann")
					h.OK(h.Write(h.people["bob"], second.ID, c.late))
					h.awaitLastTold("bob", "by ann")
				}
			})
		})
	}
}

// TestFormOfTheWhole checks that the form of /answer shows the server's current
// question. The approval is for the action that the form shows.
func TestFormOfTheWhole(t *testing.T) {
	t.Parallel()
	h := newServerFixture(t, storetest.SQLite(t), overHTTP)
	q := h.ask(fermata.Ask{Type: fermata.Approval, Title: "Deploy?", Action: json.RawMessage(`{"command": "make deploy"}`)})
	h.awaitMessage("ann", q, "it", isOpen)
	h.OK(h.Command(h.people["ann"], "/answer", q.ID+" approve"))
	h.OK(h.Submit(h.people["ann"], standin.Reply{Answers: map[string]any{q.Items[0].Key: "approve"}, Text: "go"}))
	h.awaitMessage("bob", q, "the end", isClosed)
	h.OK(h.Command(h.people["bob"], "/answer", q.ID))
	h.awaitTold("bob", "by ann")
}
