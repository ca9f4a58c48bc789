package github_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/outbound"
	standin "github.com/fermata-hq/fermata/test/standin/github"
)

// fixture is a channel with a stand-in for GitHub, and a fake server that
// receives what the channel passes on.
type fixture struct {
	t       *testing.T
	hub     *standin.Server
	channel *github.Channel
	server  *fakeServer
	store   *memoryStore
}

// memoryStore stores the channel's data between runs.
type memoryStore struct {
	mu     sync.Mutex
	values map[string]string
}

func (k *memoryStore) load(_ context.Context, key string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.values[key], nil
}

func (k *memoryStore) store(_ context.Context, key, value string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.values[key] = value
	return nil
}

// fakeServer processes messages as the delivery service does: it counts
// messages with the same id once, and only the first answer to a question.
type fakeServer struct {
	mu        sync.Mutex
	questions map[string]*fermata.Question
	heard     []notice.Inbound
	verdicts  map[string]notice.Verdict
	counted   map[string]string // the answers that counted, by question
	failing   int
}

func (d *fakeServer) hear(_ context.Context, in *notice.Inbound) (notice.Verdict, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failing > 0 {
		d.failing--
		return notice.Verdict{}, errors.New("the database is busy")
	}
	if v, again := d.verdicts[in.ID]; again {
		return v, nil
	}
	d.heard = append(d.heard, *in)
	v := d.judge(in)
	d.verdicts[in.ID] = v
	return v, nil
}

func (d *fakeServer) judge(in *notice.Inbound) notice.Verdict {
	q := d.questions[in.Question]
	switch {
	case in.RemoteEvent != nil:
		return notice.Verdict{Counted: true, Words: "It is on record."}
	case q == nil:
		return notice.Verdict{Code: fermata.CodeNotFound, Words: "There is no such question."}
	case in.From.DenialReason != "":
		return notice.Verdict{Code: fermata.CodeForbidden, Words: "It did not count: " + in.From.DenialReason + "."}
	}
	a, err := notice.ParseReply(q, in.Text)
	if err != nil {
		return notice.Verdict{Code: fermata.CodeInvalidRequest, Words: err.Error()}
	}
	if first, taken := d.counted[q.ID]; taken {
		return notice.Verdict{Code: fermata.CodeQuestionClosed, Words: "It was answered before, by " + first + "."}
	}
	d.counted[q.ID] = fmt.Sprintf("%s: %v", in.From.Name, a.Answer)
	return notice.Verdict{Counted: true, Words: "It counted.", Question: q}
}

// heardMessages returns the messages that were heard so far.
func (d *fakeServer) heardMessages() []notice.Inbound {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.heard)
}

func (d *fakeServer) countedAnswer(id string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counted[id]
}

func (d *fakeServer) fail(times int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failing = times
}

// newFixture opens a channel with the settings of the stand-in and some changes.
func newFixture(t *testing.T, change map[string]any) *fixture {
	t.Helper()
	w := &fixture{t: t, hub: standin.New(), store: &memoryStore{values: map[string]string{}}}
	t.Cleanup(w.hub.Close)
	w.server = &fakeServer{questions: map[string]*fermata.Question{}, verdicts: map[string]notice.Verdict{}, counted: map[string]string{}}
	w.channel = w.open(change)
	return w
}

// open opens the channel again, as another process does.
func (w *fixture) open(change map[string]any) *github.Channel {
	w.t.Helper()
	settings := w.hub.Settings()
	if change["app_id"] != nil {
		settings = w.hub.AppSettings()
	}
	maps.Copy(settings, change)
	maps.DeleteFunc(settings, func(_ string, v any) bool { return v == nil })
	channel, err := github.Open(mustEncode(w.t, settings), w.env())
	if err != nil {
		w.t.Fatal(err)
	}
	return channel
}

func (w *fixture) env() notice.Env {
	return notice.Env{
		Name: "github", PublicURL: "https://fermata.example", HTTP: outbound.Client(outbound.Options{AllowPrivate: true, Timeout: 30 * time.Second}),
		Load: w.store.load, Store: w.store.store, Log: slog.New(slog.DiscardHandler),
	}
}

func mustEncode(t *testing.T, v any) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// app holds the settings that make the channel a GitHub App.
var app = map[string]any{"app_id": standin.AppID}

// serveWebhooks makes the channel reachable for GitHub.
func (w *fixture) serveWebhooks() string {
	server := httptest.NewServer(w.channel.Handler(w.server.hear))
	w.t.Cleanup(server.Close)
	w.hub.SetInbound(server.URL + "/v1/inbound/github/webhook")
	return server.URL
}

// listen lets the channel poll for comments until the test ends.
func (w *fixture) listen() { w.listenWith(w.channel) }

func (w *fixture) listenWith(channel *github.Channel) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := channel.Listen(ctx, w.server.hear); err != nil {
			w.t.Error(err)
		}
	}()
	stop = func() { cancel(); <-done }
	w.t.Cleanup(stop)
	return stop
}

// question creates a question, and returns its notice for the default issue.
func (w *fixture) question(id string, items ...fermata.Item) *notice.Notice {
	q := &fermata.Question{
		ID: id, TaskID: "task_1", RunID: "run_00000000000000000001", Type: fermata.Blocking, Status: fermata.Pending,
		Title: "Which format?", CreatedAt: time.Now(),
		Asked: fermata.Asked{
			Items: items, Risk: fermata.RiskLow,
			AskedBy: fermata.Actor{Kind: fermata.ActorAgent, Name: "builder"},
		},
	}
	w.server.mu.Lock()
	w.server.questions[id] = q
	w.server.mu.Unlock()
	return &notice.Notice{
		Delivery: "dlv_" + id[2:], Purpose: notice.Asked, Question: q, TaskTitle: "Write the settings", Project: "demo",
		Open: "https://fermata.example/questions/" + id, Answer: "https://fermata.example/a/signed", Reply: "the-reply-secret",
		Decide: true, At: time.Now(),
	}
}

// firstID and secondID are ids of questions.
const (
	firstID  = "q_01jd0000000000aaaaaa"
	secondID = "q_01jd0000000000bbbbbb"
)

func choice() fermata.Item {
	return fermata.Item{Key: "format", Prompt: "Which format?", ResponseType: fermata.ResponseChoice, Options: []fermata.Option{
		{Value: "json", Label: "JSON", Description: "What machines like"},
		{Value: "toml", Label: "TOML", Description: "What people like", Recommended: true},
	}}
}

// send sends a notice and returns the sent message.
func (w *fixture) send(n *notice.Notice) notice.SentMessage {
	w.t.Helper()
	sent, err := w.channel.Send(w.t.Context(), n)
	if err != nil {
		w.t.Fatal(err)
	}
	return sent
}

// closedNotice returns the notice after its question has ended.
func closedNotice(n *notice.Notice, status fermata.QuestionStatus, words string) *notice.Notice {
	done := *n
	q := *n.Question
	q.Status = status
	done.Question, done.Outcome = &q, &notice.Outcome{Status: status, Words: words, At: time.Now()}
	return &done
}

// comments returns the comments on the default issue.
func (w *fixture) comments() []string { return w.hub.Bodies(standin.Issue) }

// comment writes a comment as a person with write access, and waits until
// GitHub has sent its webhook.
func (w *fixture) comment(login, text string) int64 {
	w.hub.AddUser(login, "write")
	id := w.hub.Comment(login, standin.Issue, text)
	w.hub.Deliveries()
	return id
}
