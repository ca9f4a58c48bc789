// Package channeltest drives a whole server and a channel against the stand-in
// of the remote service. One suite checks the promises of every channel.
package channeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/app"
	"github.com/fermata-hq/fermata/internal/config"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/standin"
)

// Config says how to drive a channel.
type Config struct {
	// New creates the stand-in, and stops it after the test.
	New func(tb testing.TB) standin.Remote
	// PeopleByName reports whether the stand-in knows people by their names instead
	// of their ids.
	PeopleByName bool
	// SharedMessages reports whether all people see the same message.
	SharedMessages bool
	// ConfirmsAnswer reports whether the channel confirms an answer by another message to its author, and does not
	// change the message with the question.
	ConfirmsAnswer bool
	// Settings are added to the settings of the stand-in. The value nil removes
	// a setting.
	Settings map[string]any
	// Kinds are channel kinds that the server does not have by default.
	Kinds []delivery.Kind
	// Name is the name of a channel that the server has by default. If it is empty, the suite adds a channel.
	Name string
	// Join makes the person reachable over the channel. It acts with the token of the person. It is nil if the person's
	// identity in the remote system is enough.
	Join func(tb testing.TB, r standin.Remote, url, token, person string)
	// AnswersOnPage reports whether a question without buttons is answered on its page.
	AnswersOnPage bool
	// WithoutLinks reports whether messages contain no address. The device that
	// shows them knows the server's address.
	WithoutLinks bool
	// Forge answers the message with "toml" by forged requests: with a bad signature, too old, or in another person's
	// name. The person never gave this answer. Forge is nil if people cannot answer over the channel.
	Forge AnswerFunc
	// Replay answers "toml" as the person, and then sends exactly the same
	// again.
	Replay AnswerFunc
}

// AnswerFunc sends an answer to a message that a person sees. inbound is the
// address at which the server takes the requests of the remote system.
type AnswerFunc func(tb testing.TB, r standin.Remote, inbound, person string, m standin.Message)

// harness is one server with one channel and two people.
type harness struct {
	*testing.T
	Config
	remote standin.Remote
	url    string
	asked  []*fermata.Question
	admin  *client.Client
	agent  *client.Client
	// people are the ids that the stand-in gives to the people, by name.
	people map[string]string
}

// Run checks that a channel keeps every promise.
func Run(t *testing.T, c Config) {
	for name, fact := range map[string]func(*harness){
		"every question is asked and answered":   testEveryQuestion,
		"every end updates the message":          testEveryEnd,
		"the second is told who was first":       testSecondAnswer,
		"who may not is told so":                 testNotEligible,
		"text that imitates ours is text":        testImitation,
		"forged and repeated ones count nothing": testForged,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newHarness(t, c)
			fact(l)
			l.checkScan()
		})
	}
}

// inboundPath is the path at which the requests of the remote system arrive.
const inboundPath = "/v1/inbound/there"

func newHarness(t *testing.T, c Config) *harness {
	t.Helper()
	l := &harness{T: t, Config: c, remote: c.New(t), people: map[string]string{}}
	l.url = l.serve()
	url := l.url
	for _, name := range []string{"ann", "bob"} {
		l.addPerson(url, name)
	}
	settings := l.remote.Settings()
	for name, value := range c.Settings {
		if settings[name] = value; value == nil {
			delete(settings, name)
		}
	}
	l.remote.SetInbound(url + inboundPath)
	name := c.Name
	if name == "" {
		name = "there"
		_, err := l.admin.AddChannel(t.Context(), fermata.NewChannel{Name: name, Kind: l.remote.Kind(), Settings: settings})
		l.ok(err)
	}
	steps := []fermata.RouteStep{{After: "0s", Channel: name}}
	_, err := l.admin.SetRoutes(t.Context(), fermata.Routes{
		Blocking: steps, Approval: steps, ErrorRecovery: steps, NonBlocking: steps, Progress: []fermata.RouteStep{},
	})
	l.ok(err)
	p, err := l.admin.Policy(t.Context())
	l.ok(err)
	p.AllowShorter = true
	_, err = l.admin.SetPolicy(t.Context(), p)
	l.ok(err)
	result, err := l.admin.TestChannel(t.Context(), name, "")
	if l.ok(err); !result.OK {
		t.Fatalf("the channel does not work: %+v", result.Problems)
	}
	return l
}

// serve starts the server and returns its address.
func (h *harness) serve() string {
	h.Helper()
	ready := make(chan app.RunningServer, 1)
	ended := make(chan error, 1)
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		ended <- app.Serve(ctx, app.ServeOptions{
			Server:   config.Server{Listen: "127.0.0.1:0", Storage: config.Storage{Data: h.TempDir()}, AllowNetworks: []string{"127.0.0.0/8"}},
			Channels: h.Kinds, Version: "test",
			Log: slog.New(slog.NewTextHandler(&log, nil)), Out: io.Discard, Ready: func(s app.RunningServer) { ready <- s },
		})
	}()
	var served app.RunningServer
	select {
	case served = <-ready:
	case err := <-ended:
		cancel()
		h.Fatalf("the server ended: %v", err)
	}
	h.Cleanup(func() {
		cancel()
		if err := patience.Receive(h.T, "the server ends", ended); err != nil {
			h.Errorf("the server ended with %v", err)
		}
		if h.Failed() {
			h.Logf("the server's log:\n%s", log.String())
		}
	})
	var err error
	h.admin, err = client.New(served.URL, served.FirstToken)
	h.ok(err)
	token, err := h.admin.CreateToken(h.Context(), fermata.NewToken{Name: "agent", Scopes: []fermata.Scope{fermata.ScopeAsk}})
	h.ok(err)
	h.agent, err = client.New(served.URL, token.Secret)
	h.ok(err)
	return served.URL
}

// addPerson adds a member who has an identity in the remote system.
func (h *harness) addPerson(url, name string) {
	h.Helper()
	id, email := h.remote.AddPerson(name)
	_, err := h.admin.AddMember(h.Context(), client.NewMember{Handle: name, Email: email, Role: fermata.RoleResponder})
	h.ok(err)
	if id != "" {
		_, err := h.admin.SetIdentity(h.Context(), name, h.remote.Kind(), id, name)
		h.ok(err)
	}
	h.people[name] = id
	if h.PeopleByName {
		h.people[name] = name
	}
	if h.Join != nil {
		scopes := []fermata.Scope{fermata.ScopeRead, fermata.ScopeAnswer}
		token, err := h.admin.CreateToken(h.Context(), fermata.NewToken{Name: name, Kind: fermata.ActorHuman, Member: name, Scopes: scopes})
		h.ok(err)
		h.Join(h.T, h.remote, url, token.Secret, name)
	}
}

func (h *harness) ok(err error) {
	h.Helper()
	if err != nil {
		h.Fatalf("unexpected error: %v", err)
	}
}

// await waits until a condition holds, and fails the test after the time limit.
func (h *harness) await(what string, holds func() bool) {
	h.Helper()
	if !patience.Until(holds) {
		h.Fatalf("not within %s: %s\nwhat was sent:\n%s", patience.Limit(), what, h.describeSent())
	}
}

func (h *harness) ask(a fermata.Ask) *fermata.Question {
	h.Helper()
	q, err := h.agent.AskOutside(h.Context(), client.OutsideQuestion{Ask: a})
	h.ok(err)
	h.asked = append(h.asked, q)
	return q
}

// askUntilTold asks a question and waits until the channel has announced it. If
// the question times out before, it is asked again with twice the timeout.
func (h *harness) askUntilTold(title string, timeout time.Duration, isTold func(q *fermata.Question) bool) *fermata.Question {
	h.Helper()
	for ; ; timeout *= 2 {
		q := h.ask(fermata.Ask{Title: title, Question: "Which format?", Options: choice, Timeout: fermata.Timeout(timeout.String())})
		h.await(title+": it is told", func() bool { return isTold(q) || h.status(q) != fermata.Pending })
		if isTold(q) {
			return q
		}
	}
}

// status returns the current state of the question.
func (h *harness) status(q *fermata.Question) fermata.QuestionStatus {
	h.Helper()
	now, err := h.admin.Question(h.Context(), q.ID)
	h.ok(err)
	return now.Status
}

// messagesAbout lists the messages about the question that a person sees.
func (h *harness) messagesAbout(person string, q *fermata.Question) []standin.Message {
	return slices.DeleteFunc(h.remote.VisibleMessages(h.people[person]), func(m standin.Message) bool { return m.Question != q.ID })
}

// awaitMessage waits until the person sees a message about the question, and returns
// the last one.
func (h *harness) awaitMessage(person string, q *fermata.Question) standin.Message {
	h.Helper()
	var found []standin.Message
	h.await(person+" sees "+q.Title, func() bool {
		found = h.messagesAbout(person, q)
		return len(found) > 0
	})
	return found[len(found)-1]
}

// awaitWords waits until a person is told words that contain one of the parts.
func (h *harness) awaitWords(person string, parts ...string) {
	h.Helper()
	h.await(fmt.Sprintf("%s is told one of %q", person, parts), func() bool {
		for _, words := range h.remote.Feedback(h.people[person]) {
			for _, part := range parts {
				if strings.Contains(strings.ToLower(words), part) {
					return true
				}
			}
		}
		return false
	})
}

// awaitClosed waits until every message about the question says that the question is closed. It skips the messages of
// the answerer if the channel only confirms the answer.
func (h *harness) awaitClosed(q *fermata.Question, answerer string) {
	h.Helper()
	h.await("every message says that it is closed", func() bool {
		for name := range h.people {
			if h.ConfirmsAnswer && name == answerer {
				continue
			}
			for _, m := range h.messagesAbout(name, q) {
				if !m.Closed {
					return false
				}
			}
		}
		return true
	})
}

func (h *harness) checkPending(q *fermata.Question) {
	h.Helper()
	if now := h.status(q); now != fermata.Pending {
		h.Fatalf("the question is %s", now)
	}
}

var choice = []fermata.Option{{Value: "toml", Label: "TOML"}, {Value: "yaml", Label: "YAML"}}

func ptr[T any](v T) *T { return &v }

// items holds one item of each response type, and the value that answers it.
var items = map[string]struct {
	item  fermata.Item
	value any
}{
	"text":         {fermata.Item{Prompt: "Which name?", ResponseType: fermata.ResponseText}, "otter"},
	"choice":       {fermata.Item{Prompt: "Which format?", ResponseType: fermata.ResponseChoice, Options: choice}, "yaml"},
	"multi_choice": {fermata.Item{Prompt: "Which formats?", ResponseType: fermata.ResponseMultiChoice, Options: choice}, []any{"toml", "yaml"}},
	"boolean":      {fermata.Item{Prompt: "Really?", ResponseType: fermata.ResponseBoolean}, true},
	"number":       {fermata.Item{Prompt: "How many?", ResponseType: fermata.ResponseNumber, Min: ptr(1.0)}, 42.0},
	"date":         {fermata.Item{Prompt: "When?", ResponseType: fermata.ResponseDate}, "2026-12-24"},
}

// testEveryQuestion asks every type of question with every response type, and
// answers it over the channel.
func testEveryQuestion(l *harness) {
	for _, typ := range []fermata.QuestionType{fermata.Blocking, fermata.NonBlocking, fermata.ErrorRecovery} {
		for name, each := range items {
			it := each.item
			if typ == fermata.NonBlocking {
				it.Default = each.value
			}
			q := l.ask(fermata.Ask{Type: typ, Title: string(typ) + " " + name, Items: []fermata.Item{it}})
			l.answerAndCheck(q, map[string]any{"answer": each.value})
		}
	}
	q := l.ask(fermata.Ask{Title: "Several", Items: []fermata.Item{
		{Key: "format", Prompt: "Which format?", ResponseType: fermata.ResponseChoice, Options: choice},
		{Key: "name", Prompt: "Which name?", ResponseType: fermata.ResponseText},
	}})
	l.answerAndCheck(q, map[string]any{"format": "toml", "name": "otter"})
	for _, value := range []string{fermata.Approve, fermata.Reject} {
		q := l.ask(fermata.Ask{Type: fermata.Approval, Title: "May it " + value + "?", Action: json.RawMessage(`{"command":"deploy"}`)})
		l.answerAndCheck(q, map[string]any{"answer": value})
	}
}

// answerAndCheck answers the question as ann. It checks the resolution, and that every message shows the end.
func (h *harness) answerAndCheck(q *fermata.Question, answers map[string]any) {
	h.Helper()
	m := h.awaitMessage("ann", q)
	h.checkSentOnce(q)
	h.ok(h.remote.Reply(h.people["ann"], m, standin.Reply{Answers: answers}))
	var now *fermata.Question
	h.await(q.Title+" is answered with "+fmt.Sprint(answers), func() bool {
		var err error
		now, err = h.admin.Question(h.Context(), q.ID)
		h.ok(err)
		return now.Status != fermata.Pending
	})
	r := now.Resolution
	if diff := cmp.Diff(answers, r.Answers); diff != "" || r.AnsweredBy == nil || r.AnsweredBy.Name != "ann" || r.Channel != h.remote.Kind() && (!h.AnswersOnPage || r.Channel != "web") {
		h.Errorf("%s: by %+v over %q (-want +got):\n%s", q.Title, r.AnsweredBy, r.Channel, diff)
	}
	h.awaitClosed(q, "ann")
}

// ending is one way in which a question ends.
type ending struct {
	timeout time.Duration // of the question
	event   string
	do      func(l *harness, q *fermata.Question) error
}

// ends are all the ways in which a question ends.
var ends = map[string]ending{
	"answered": {time.Hour, "question.answered", func(l *harness, q *fermata.Question) error {
		_, err := l.admin.Answer(l.Context(), q.ID, fermata.Answer{Answer: "toml"})
		return err
	}},
	"cancelled": {time.Hour, "question.cancelled", func(l *harness, q *fermata.Question) error {
		_, err := l.agent.CancelQuestion(l.Context(), q.ID, "not needed")
		return err
	}},
	"timed out": {3 * time.Second, "question.timed_out", func(*harness, *fermata.Question) error { return nil }},
}

// testEveryEnd ends questions in every way.
func testEveryEnd(l *harness) {
	for name, end := range ends {
		q := l.askUntilTold("How it ends: "+name, end.timeout, func(q *fermata.Question) bool { return len(l.messagesAbout("ann", q)) > 0 })
		l.ok(end.do(l, q))
		l.await("it has ended", func() bool { return l.status(q) != fermata.Pending })
		l.await("the message says so", func() bool { return l.awaitMessage("ann", q).Closed })
		dead := slices.DeleteFunc(l.awaitMessage("ann", q).Buttons, func(b string) bool { return strings.HasPrefix(b, "Open") })
		if len(dead) > 0 {
			l.Errorf("%s: dead buttons %q", name, dead)
		}
	}
}

// testSecondAnswer answers a question that another person has answered.
func testSecondAnswer(l *harness) {
	q := l.ask(fermata.Ask{Question: "Which format?", Options: choice})
	ann, bob := l.awaitMessage("ann", q), l.awaitMessage("bob", q)
	l.ok(l.remote.Reply(l.people["ann"], ann, standin.Reply{Answers: map[string]any{"answer": "toml"}}))
	l.await("it is answered", func() bool { return l.status(q) == fermata.Answered })
	if err := l.remote.Reply(l.people["bob"], bob, standin.Reply{Answers: map[string]any{"answer": "yaml"}}); err == nil {
		l.awaitWords("bob", "ann")
	}
	l.awaitClosed(q, "ann")
}

// testNotEligible answers a question that is assigned to another person.
func testNotEligible(l *harness) {
	q := l.ask(fermata.Ask{Question: "Which format?", Options: choice, Assignees: []string{"ann"}})
	m := l.awaitMessage("ann", q)
	if !l.SharedMessages {
		if n := len(l.messagesAbout("bob", q)); n > 0 {
			l.Errorf("bob sees what is for ann")
		}
	}
	if err := l.remote.Reply(l.people["bob"], m, standin.Reply{Answers: map[string]any{"answer": "yaml"}}); err == nil {
		l.awaitWords("bob", "for ann", "somebody else's", "may not")
	}
	l.checkPending(q)
}

// testForged calls Forge and Replay, and checks that forged answers do not count and repeated ones count once.
func testForged(l *harness) {
	if l.Forge == nil {
		return
	}
	q := l.ask(fermata.Ask{Question: "Which format?", Options: choice})
	l.Forge(l.T, l.remote, l.url+inboundPath, l.people["ann"], l.awaitMessage("ann", q))
	l.checkPending(q)
	again := l.ask(fermata.Ask{Question: "Which format again?", Options: choice})
	l.Replay(l.T, l.remote, l.url+inboundPath, l.people["ann"], l.awaitMessage("ann", again))
	// Messages arrive in order. So all forged and repeated answers have arrived when the last answer counts.
	last := l.ask(fermata.Ask{Question: "And which format last?", Options: choice})
	l.answerAndCheck(last, map[string]any{"answer": "toml"})
	l.checkPending(q)
	events, _, err := l.admin.Events(l.Context(), client.EventQuery{Limit: 500, Types: []fermata.EventType{
		fermata.EventQuestionAnswered, fermata.EventQuestionAnsweredLate, fermata.EventQuestionVoteCast,
	}})
	l.ok(err)
	counted := map[string]int{}
	for _, e := range events {
		counted[e.QuestionID]++
	}
	if diff := cmp.Diff(map[string]int{again.ID: 1, last.ID: 1}, counted); diff != "" {
		l.Errorf("how often questions were answered (-want +got):\n%s", diff)
	}
}
