package email_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/email"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/test/patience"
	mailserver "github.com/fermata-hq/fermata/test/standin/email"
)

// fixture is a real mail server for a channel, and the replies that the channel
// passed on.
type fixture struct {
	*mailserver.Server
	t     *testing.T
	store *memory
	heard chan *notice.Inbound

	mu sync.Mutex
	// verdict is the verdict for every reply. failures is how many calls fail
	// before it.
	verdict  notice.Verdict
	failures int
}

// memory keeps the data that a channel stores between runs.
type memory struct {
	mu     sync.Mutex
	values map[string]string
}

func (m *memory) load(_ context.Context, key string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[key], nil
}

func (m *memory) save(_ context.Context, key, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[key] = value
	return nil
}

func newFixture(t *testing.T, o mailserver.Options) *fixture {
	t.Helper()
	return &fixture{
		Server: mailserver.Start(t, o), t: t, store: &memory{values: map[string]string{}}, heard: make(chan *notice.Inbound, 100),
		verdict: notice.Verdict{Counted: true, Words: "Your answer counted: toml."},
	}
}

// open opens a channel with some settings changed. The value nil removes a
// setting.
func (w *fixture) open(change map[string]any) *email.Channel {
	w.t.Helper()
	c, err := w.tryOpen(change)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *fixture) tryOpen(change map[string]any) (*email.Channel, error) {
	settings := mailserver.Settings(w.Server)
	maps.Copy(settings, change)
	maps.DeleteFunc(settings, func(_ string, v any) bool { return v == nil })
	raw, err := json.Marshal(settings)
	if err != nil {
		w.t.Fatal(err)
	}
	return email.Open(raw, notice.Env{
		Name: "email", PublicURL: "https://fermata.example", Load: w.store.load, Store: w.store.save,
		Log: slog.New(slog.NewTextHandler(w.t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
}

func (w *fixture) hear(_ context.Context, in *notice.Inbound) (notice.Verdict, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failures > 0 {
		w.failures--
		return notice.Verdict{}, errors.New("the database is away")
	}
	w.heard <- in
	return w.verdict, nil
}

func (w *fixture) setVerdict(v notice.Verdict, fail int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.verdict, w.failures = v, fail
}

// listen makes a channel listen until the returned function is called.
func (w *fixture) listen(c *email.Channel) (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := c.Listen(ctx, w.hear); err != nil {
			w.t.Errorf("listen: %v", err)
		}
	}()
	stop = func() { cancel(); <-done }
	w.t.Cleanup(stop)
	return stop
}

// nextHeard returns the next reply that was heard.
func (w *fixture) nextHeard() *notice.Inbound {
	w.t.Helper()
	return patience.Receive(w.t, "a reply is heard", w.heard)
}

// checkNothingHeard checks that no other reply was heard.
func (w *fixture) checkNothingHeard(what string) {
	w.t.Helper()
	select {
	case in := <-w.heard:
		w.t.Fatalf("%s was heard: %+v", what, in)
	default:
	}
}

func (w *fixture) awaitMails(name string, n int) []*mailserver.Mail {
	w.t.Helper()
	mails, err := w.Await(name, n)
	if err != nil {
		w.t.Fatal(err)
	}
	return mails
}

// awaitMail returns the newest of n mails of a person.
func (w *fixture) awaitMail(name string, n int) *mailserver.Mail { return w.awaitMails(name, n)[n-1] }

func (w *fixture) send(c *email.Channel, n *notice.Notice) notice.SentMessage {
	w.t.Helper()
	r, err := c.Send(w.t.Context(), n)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *fixture) submit(name string, draft []byte, to string) {
	w.t.Helper()
	if err := w.Submit(name, draft, strings.Trim(to, "<>")); err != nil {
		w.t.Fatal(err)
	}
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const secret = "3mJ9xkQpZt7vYc2aLw5R"

func ada() notice.Recipient {
	return notice.Recipient{Member: "mbr_ada", Handle: "ada", Name: "Ada Lovelace", Email: mailserver.Address("ada"), Zone: "Europe/Berlin"}
}

// questionNotice returns the notice of a question about a format.
func questionNotice() *notice.Notice {
	until := noon.Add(30 * time.Minute)
	return &notice.Notice{
		Delivery: "dlv_1", Purpose: notice.Asked, TaskTitle: "Settle the format", Project: "demo", To: ada(), Decide: true, Reply: secret, At: noon,
		Open: "https://fermata.example/questions/q_1", Answer: "https://fermata.example/a/" + secret,
		Question: &fermata.Question{
			ID: "q_1", Type: fermata.Blocking, Status: fermata.Pending, Title: "Which format?",
			Deadline: &until,
			Asked: fermata.Asked{
				Body: "Both work.", Risk: fermata.RiskLow, OnTimeout: fermata.FailTask, AskedBy: fermata.Actor{Kind: fermata.ActorAgent, Name: "builder"},
				Items: []fermata.Item{{Key: "answer", Prompt: "Which format?", ResponseType: fermata.ResponseChoice, Options: []fermata.Option{
					{Value: "toml", Label: "TOML", Description: "as the others", Recommended: true}, {Value: "yaml", Label: "YAML"},
				}}},
			},
		},
	}
}

// approvalNotice returns the notice of an approval with an action.
func approvalNotice(action string) *notice.Notice {
	n := questionNotice()
	n.Question.Type, n.Question.Title = fermata.Approval, "Deploy?"
	n.Question.Items = []fermata.Item{{Key: "approval", Prompt: "Deploy?", ResponseType: fermata.ResponseApproval}}
	n.Question.Action, n.Question.ActionHash = json.RawMessage(action), fermata.HashAction(json.RawMessage(action))
	return n
}

// answeredNotice returns the notice after its question was answered.
func answeredNotice(n *notice.Notice, by, channel string) *notice.Notice {
	after, q := *n, *n.Question
	q.Status = fermata.Answered
	q.Resolution = &fermata.Resolution{
		Status: fermata.Answered, DecidedBy: fermata.ActorHuman, AnsweredBy: &fermata.Actor{Kind: fermata.ActorHuman, ID: "mbr_" + by, Name: by},
		At: noon.Add(time.Minute), Answers: map[string]any{"answer": "toml"}, Answer: "toml", Channel: channel,
	}
	after.Question, after.Outcome, after.Answer = &q, notice.OutcomeOf(&q), ""
	return &after
}
