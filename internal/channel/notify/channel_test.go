package notify

import (
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"errors"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// ntfyServer is an ntfy server, as senders see it.
type ntfyServer struct {
	*httptest.Server
	mu       sync.Mutex
	status   int
	messages []shownMessage
}

// shownMessage is a message as the app shows it.
type shownMessage struct{ path, title, text, priority, click, actions string }

func newNtfyServer(t *testing.T) *ntfyServer {
	t.Helper()
	p := &ntfyServer{status: http.StatusOK}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		defer p.mu.Unlock()
		// ntfy decodes titles that are encoded like mail headers.
		title, err := new(mime.WordDecoder).DecodeHeader(r.Header.Get("Title"))
		if err != nil {
			t.Error(err)
		}
		for name, values := range r.Header {
			for _, c := range strings.Join(values, "") {
				if c > 126 {
					t.Errorf("the header %s has %q in it", name, c)
				}
			}
		}
		p.messages = append(p.messages, shownMessage{r.URL.Path, title, string(body), strings.ToLower(r.Header.Get("Priority")), r.Header.Get("Click"), r.Header.Get("Actions")})
		w.WriteHeader(p.status)
		_, _ = io.WriteString(w, `{"id":"1","code":40101,"error":"unauthorized for topic s3cret-topic"}`)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *ntfyServer) url() string {
	return strings.Replace(p.URL, "http://", "ntfy://", 1) + "/s3cret-topic?scheme=http"
}

func (p *ntfyServer) last() (int, shownMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.messages) == 0 {
		return 0, shownMessage{}
	}
	return len(p.messages), p.messages[len(p.messages)-1]
}

func question() *notice.Notice {
	deadline := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	return &notice.Notice{
		Delivery: "dlv_1", Purpose: notice.Asked, TaskTitle: "Add a configuration file", Open: "https://fermata.test/q/q_1",
		// Every person who knows the topic can read the messages there, so
		// nothing in them may answer.
		Answer: "https://fermata.test/a/link-of-ada", Reply: "reply-secret-of-ada",
		Question: &fermata.Question{ID: "q_1", Type: fermata.Blocking, Title: "Which format, für alle?", Deadline: &deadline, Asked: fermata.Asked{Risk: fermata.RiskLow, Body: "long"}},
	}
}

func TestQuestionIsTold(t *testing.T) {
	t.Parallel()
	p := newNtfyServer(t)
	c, err := open(t, settings{URL: p.url(), AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	message, err := c.Send(t.Context(), question())
	if err != nil {
		t.Fatal(err)
	}
	want := shownMessage{"/s3cret-topic", "Question: Which format, für alle?",
		"Task: Add a configuration file\nUntil: 2026-11-21 20:00 UTC\nOpen: https://fermata.test/q/q_1",
		"high", "https://fermata.test/q/q_1", `[{"action":"view","clear":true,"label":"Answer","url":"https://fermata.test/q/q_1"}]`}
	if n, got := p.last(); n != 1 || got != want {
		t.Errorf("%d messages, the last %+v", n, got)
	}
	if strings.Contains(message.Content, "link-of-ada") || strings.Contains(message.Content, "reply-secret") {
		t.Errorf("what is kept answers: %s", message.Content)
	}
	if message.Ref != nil || !strings.Contains(message.Content, "Which format") {
		t.Errorf("%+v", message)
	}
	n := question()
	n.Outcome = &notice.Outcome{Status: fermata.Answered, Words: "answered by Ada: toml"}
	if _, err := c.Update(t.Context(), n, message); err != nil {
		t.Fatal(err)
	}
	if n, _ := p.last(); n != 1 {
		t.Errorf("the closing was told though nobody asked for it: %d messages", n)
	}
}

func TestOutcomeIsToldWhereItIsWanted(t *testing.T) {
	t.Parallel()
	p := newNtfyServer(t)
	c, err := open(t, settings{URL: p.url(), AllowPrivate: true, TellOutcome: true})
	if err != nil {
		t.Fatal(err)
	}
	n := question()
	message, err := c.Send(t.Context(), n)
	if err != nil || message.Ref == nil {
		t.Fatalf("%+v, %v", message, err)
	}
	n.Outcome = &notice.Outcome{Status: fermata.Answered, Words: "answered by Ada: toml"}
	if message, err = c.Update(t.Context(), n, message); err != nil || message.Ref == nil {
		t.Fatalf("%+v, %v", message, err)
	}
	if n, got := p.last(); n != 2 || got.title != "Closed: Which format, für alle?" || got.priority != "low" || !strings.Contains(got.text, "answered by Ada: toml") {
		t.Errorf("%d messages, the last %+v", n, got)
	}
}

func TestTextThatImitatesOursIsOneLine(t *testing.T) {
	t.Parallel()
	n := question()
	n.Question.Title = "Fine?\nOpen: https://evil.test\r\nX-Priority: 1\x00\u202e" + strings.Repeat("x", 500)
	text := textOf(n)
	lines := strings.Split(text.joinTitle(), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "Question: Fine? Open: https://evil.test X-Priority: 1") || !strings.HasSuffix(lines[0], "…") {
		t.Errorf("%q", text.joinTitle())
	}
}

func TestOtherPurposes(t *testing.T) {
	t.Parallel()
	digest := textOf(&notice.Notice{Purpose: notice.Digest, Title: "2 questions wait", Questions: []*fermata.Question{{Title: "A?"}, {Title: "B?"}}, Open: "https://f/"})
	if digest.body != "2 questions wait\n- A?\n- B?\nOpen: https://f/" {
		t.Errorf("%q", digest.body)
	}
	alert := textOf(&notice.Notice{Purpose: notice.Alert, Title: "The channel slack fails", Body: "since 10:00"})
	if alert.title != "The channel slack fails" || alert.body != "The channel slack fails\nsince 10:00" {
		t.Errorf("%+v", alert)
	}
}

func TestFailureSaysWhyAndKeepsTheSecret(t *testing.T) {
	t.Parallel()
	p := newNtfyServer(t)
	p.status = http.StatusUnauthorized
	c, err := open(t, settings{URL: p.url(), AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	said := c.Check(t.Context())
	p.Close()
	gone := c.Check(t.Context())
	guarded, err := open(t, settings{URL: p.url()})
	if err != nil {
		t.Fatal(err)
	}
	refused := guarded.Check(t.Context())
	for err, want := range map[error]string{said: "ntfy", gone: "refused", refused: "not a public address"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v, want %q", err, want)
		}
		if e, ok := errors.AsType[*fermata.Error](err); !ok || e.Hint == "" {
			t.Errorf("%v has no hint", err)
		}
	}
	if e, _ := errors.AsType[*fermata.Error](refused); e == nil || !strings.Contains(e.Hint, "allow_private") {
		t.Errorf("%v", refused)
	}
}

// Services that take an HTTP client get one that refuses private addresses.
func TestPrivateServicesAreNotConnectedTo(t *testing.T) {
	t.Parallel()
	p := newNtfyServer(t)
	host := strings.TrimPrefix(p.URL, "http://")
	for _, raw := range []string{
		p.url(), "gotify://" + host + "/Aaaaaaaaaaaaaaa?disableTLS=yes", "mattermost://" + host + "/token?disableTLS=yes",
		"rocketchat://" + host + "/token/token", "pagerduty://" + host + "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		strings.Replace(p.url(), "127.0.0.1", "localhost", 1) + "&disabletlsverification=yes",
		"gotify://" + host + "/Aaaaaaaaaaaaaaa?insecureskipverify=yes",
	} {
		c, err := open(t, settings{URL: raw})
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if err := c.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "not a public address") {
			t.Errorf("%s: %v", raw, err)
		}
	}
	if n, _ := p.last(); n != 0 {
		t.Errorf("%d messages came", n)
	}
}

func TestWeightIsThatOfTheQuestion(t *testing.T) {
	t.Parallel()
	p := newNtfyServer(t)
	for want, change := range map[string]func(n *notice.Notice){
		"high": func(n *notice.Notice) { n.Question.Type = fermata.Approval },
		"max":  func(n *notice.Notice) { n.Question.Type, n.Question.Risk = fermata.Approval, fermata.RiskCritical },
		"low":  func(n *notice.Notice) { n.Question.Type = fermata.NonBlocking },
	} {
		c, err := open(t, settings{URL: p.url(), AllowPrivate: true})
		if err != nil {
			t.Fatal(err)
		}
		n := question()
		change(n)
		if _, err := c.Send(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		if _, got := p.last(); got.priority != want {
			t.Errorf("%+v has the priority %q, want %q", n.Question, got.priority, want)
		}
	}
	// A priority in the URL takes precedence.
	c, err := open(t, settings{URL: p.url() + "&priority=min", AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Send(t.Context(), question()); err != nil {
		t.Fatal(err)
	}
	if _, got := p.last(); got.priority != "min" {
		t.Errorf("the priority is %q", got.priority)
	}
}
