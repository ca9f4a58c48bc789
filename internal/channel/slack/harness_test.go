package slack_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/slack"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/standin"
	remote "github.com/fermata-hq/fermata/test/standin/slack"
)

var (
	_ delivery.Channel  = (*slack.Channel)(nil)
	_ delivery.Receiver = (*slack.Channel)(nil)
	_ delivery.Listener = (*slack.Channel)(nil)
)

// fakeServer processes the messages of the channel by the rules of the domain.
type fakeServer struct {
	mu            sync.Mutex
	questions     map[string]*fermata.Question
	members       map[string]fermata.Caller
	heard         []notice.Inbound
	lookups       int
	err           error
	hold          chan struct{}
	answerArrived chan struct{}
}

func newFakeServer() *fakeServer {
	return &fakeServer{answerArrived: make(chan struct{}, 10_000), questions: map[string]*fermata.Question{}, members: map[string]fermata.Caller{}}
}

// hear implements notice.InboundHandler.
func (d *fakeServer) hear(ctx context.Context, in *notice.Inbound) (notice.Verdict, error) {
	d.mu.Lock()
	hold := d.hold
	d.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return notice.Verdict{}, ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	look := in.Text == "" && in.Answer == nil
	if look {
		d.lookups++
	} else {
		d.heard = append(d.heard, *in)
		d.answerArrived <- struct{}{}
	}
	if d.err != nil {
		return notice.Verdict{}, d.err
	}
	c, known := d.members[in.From.Email]
	if !known {
		return notice.Verdict{Code: fermata.CodeNotEligible, Words: "Nobody here is connected with your Slack account."}, nil
	}
	q := d.question(in.Question)
	if q == nil {
		return notice.Verdict{Code: fermata.CodeNotFound, Words: "There is no such question."}, nil
	}
	if look {
		now := *q
		return notice.Verdict{Question: &now}, nil
	}
	return d.applyAnswer(q, c, in), nil
}

func (d *fakeServer) question(id string) *fermata.Question {
	for known, q := range d.questions {
		if id != "" && strings.HasSuffix(known, id) {
			return q
		}
	}
	return nil
}

func (d *fakeServer) applyAnswer(q *fermata.Question, c fermata.Caller, in *notice.Inbound) notice.Verdict {
	var a fermata.Answer
	var err error
	if in.Answer != nil {
		a = *in.Answer
	} else {
		a, err = in.Read(q)
	}
	if err == nil {
		a.Channel = slack.Kind
		_, err = q.ApplyAnswer(a, c, time.Now().UTC())
	}
	now := *q
	v := notice.Verdict{Question: &now, Counted: err == nil, Code: fermata.CodeOf(err), Words: "It counted."}
	switch {
	case v.Code == fermata.CodeQuestionClosed:
		v.Words = "It was " + notice.OutcomeWords(q) + "."
	case err != nil:
		v.Words = err.Error()
	}
	return v
}

// ask opens a question.
func (d *fakeServer) ask(q *fermata.Question) *fermata.Question {
	if q.ID == "" {
		q.ID = fermata.NewID(fermata.PrefixQuestion, time.Now())
	}
	q.Status, q.Project, q.CreatedAt = fermata.Pending, "web", time.Now().UTC()
	q.AskedBy = fermata.Actor{Kind: fermata.ActorAgent, Name: "builder"}
	if q.Risk == "" {
		q.Risk = fermata.RiskLow
	}
	if len(q.Action) > 0 {
		q.ActionHash = fermata.HashAction(q.Action)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.questions[q.ID] = q
	return q
}

// current returns the current question.
func (d *fakeServer) current(id string) fermata.Question {
	d.mu.Lock()
	defer d.mu.Unlock()
	return *d.questions[id]
}

func (d *fakeServer) answers() []notice.Inbound {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.heard)
}

// awaitHeard waits until n answers have arrived.
func (d *fakeServer) awaitHeard(t *testing.T, n int) {
	t.Helper()
	for range n {
		patience.Receive(t, "the answer comes", d.answerArrived)
	}
}

func (d *fakeServer) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// harness is a channel with a stand-in for Slack and a fake server.
type harness struct {
	*remote.Server

	channel *slack.Channel
	server  *fakeServer
	handler http.Handler
	ada     string
	mail    string
}

// transport is the way in which Slack reaches the server.
type transport string

const (
	overHTTP   transport = "http"
	overSocket transport = "socket"
)

var transports = []transport{overHTTP, overSocket}

func newHarness(t *testing.T, by transport) *harness {
	t.Helper()
	l := &harness{Server: remote.New(), server: newFakeServer()}
	t.Cleanup(l.Close)
	settings := l.Settings()
	if by == overHTTP {
		delete(settings, "app_token")
	}
	l.channel = open(t, settings)
	l.handler = l.channel.Handler(l.server.hear)
	if by == overHTTP {
		server := httptest.NewServer(l.handler)
		t.Cleanup(server.Close)
		l.SetInbound(server.URL)
	} else {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- l.channel.Listen(ctx, l.server.hear) }()
		t.Cleanup(func() {
			cancel()
			if err := patience.Receive(t, "Listen ends", ended); err != nil {
				t.Errorf("Listen ended with %v", err)
			}
		})
	}
	l.ada, l.mail = l.member("Ada", fermata.RoleResponder)
	return l
}

// member adds a person to Slack and to the members.
func (l *harness) member(name string, role fermata.Role) (id, mail string) {
	id, mail = l.AddPerson(name)
	l.server.set(func() {
		l.server.members[mail] = fermata.Caller{
			Kind: fermata.ActorHuman, MemberID: "mem_" + strings.ToLower(name), Name: name, Role: role,
			Scopes: []fermata.Scope{fermata.ScopeAnswer, fermata.ScopeRead}, Assurance: fermata.AssuranceChannel,
		}
	})
	return id, mail
}

func open(t testing.TB, settings map[string]any) *slack.Channel {
	t.Helper()
	raw, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	c, err := slack.Open(raw, notice.Env{Name: "slack", PublicURL: "https://fermata.example.com", HTTP: &http.Client{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// noticeFor returns the notice of a question for Ada.
func (l *harness) noticeFor(q *fermata.Question) *notice.Notice {
	return &notice.Notice{
		Delivery: "dlv_" + q.ID[2:], Purpose: notice.Asked, Question: q, TaskTitle: "Build it", Project: q.Project,
		To:   notice.Recipient{Member: "mem_ada", Name: "Ada", Email: l.mail},
		Open: "https://fermata.example.com/questions/" + q.ID, Decide: true, At: q.CreatedAt,
		// Slack identifies the person who presses, so no message has the link
		// that answers.
		Answer: "https://fermata.example.com/a/link-of-ada", Reply: "reply-secret-of-ada-0123456789abcdef",
	}
}

// send sends the question to Ada, and returns the message that she sees.
func (l *harness) send(t *testing.T, q *fermata.Question) (standin.Message, notice.SentMessage) {
	t.Helper()
	sent, err := l.channel.Send(t.Context(), l.noticeFor(q))
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	seen := l.lastMessage(t, l.ada)
	for _, secret := range []string{"/a/link-of-ada", "reply-secret-of-ada"} {
		if strings.Contains(sent.Content, secret) || strings.Contains(seen.Text, "/a/link-of-ada") {
			t.Errorf("the message keeps %s: %s", secret, sent.Content)
		}
	}
	return seen, sent
}

func (l *harness) lastMessage(t *testing.T, person string) standin.Message {
	t.Helper()
	seen := l.VisibleMessages(person)
	if len(seen) == 0 {
		t.Fatal("the person sees no message")
	}
	return seen[len(seen)-1]
}

// awaitTold waits until the person was told a text that contains part.
func (l *harness) awaitTold(t *testing.T, person, part string) {
	t.Helper()
	err := l.Await("told: "+part, func() bool {
		return slices.ContainsFunc(l.Feedback(person), func(s string) bool { return strings.Contains(s, part) })
	})
	if err != nil {
		t.Fatalf("%v; told: %q", err, l.Feedback(person))
	}
}

func boolPtr(v bool) *bool { return &v }

func text(prompt string) fermata.Item {
	return fermata.Item{Key: "answer", Prompt: prompt, ResponseType: fermata.ResponseText}
}

func approval(title string) *fermata.Question {
	return &fermata.Question{
		Type: fermata.Approval, Title: title,
		Asked: fermata.Asked{
			Action: json.RawMessage(`{"tool":"shell","args":{"command":"make deploy"}}`),
			Items:  []fermata.Item{{Key: "decision", Prompt: title, ResponseType: fermata.ResponseApproval}},
		},
	}
}
