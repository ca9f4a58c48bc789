package slack_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/standin"
	remote "github.com/fermata-hq/fermata/test/standin/slack"
)

// TestForged sends 60,000 requests that Slack did not send, or sent before.
// None is passed on.
func TestForged(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	sent := recordRequests(t, l)
	heard, looked := len(l.server.answers()), l.server.lookupCount()
	rng := rand.New(rand.NewPCG(5, 2026))
	counts := map[string]int{}
	for i := range 60_000 {
		name := forgeries[i%len(forgeries)].name
		r := forgeries[i%len(forgeries)].make(rng, sent)
		status := l.receive(t, r)
		if name != "sent again" && status != http.StatusUnauthorized {
			t.Fatalf("%s was answered %d: %s %q", name, status, r.Header, r.Body)
		}
		if name == "sent again" && status != http.StatusOK {
			t.Fatalf("%s was answered %d", name, status)
		}
		counts[name]++
	}
	if got := len(l.server.answers()); got != heard {
		t.Errorf("%d were heard", got-heard)
	}
	if got := l.server.lookupCount(); got != looked {
		t.Errorf("%d looked", got-looked)
	}
	t.Logf("%v", counts)
}

func (d *fakeServer) lookupCount() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lookups
}

// recordRequests returns real requests of Slack, of every kind.
func recordRequests(t *testing.T, l *harness) []remote.Request {
	t.Helper()
	q := yesNo(l)
	m, _ := l.send(t, q)
	for _, word := range []string{"maybe", "perhaps", "who knows"} {
		if err := l.Write(l.ada, m.ID, word); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Reply(l.ada, m, standin.Reply{Answers: map[string]any{"ok": true}}); err != nil {
		t.Fatal(err)
	}
	form := l.server.ask(&fermata.Question{Type: fermata.Blocking, Title: "Which name?", Asked: fermata.Asked{Items: []fermata.Item{text("Which name?")}}})
	m, _ = l.send(t, form)
	if err := l.Reply(l.ada, m, standin.Reply{Answers: map[string]any{"answer": "ada"}}); err != nil {
		t.Fatal(err)
	}
	if err := l.Command(l.ada, "/answer", q.ID+" no"); err != nil {
		t.Fatal(err)
	}
	return l.Requests()
}

// receive passes a request to the channel as the server does.
func (l *harness) receive(t *testing.T, r remote.Request) int {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/inbound/slack/events", bytes.NewReader(r.Body))
	req.Header = r.Header
	w := httptest.NewRecorder()
	l.handler.ServeHTTP(w, req)
	return w.Code
}

type forgery struct {
	name string
	make func(rng *rand.Rand, sent []remote.Request) remote.Request
}

func anyOf(rng *rand.Rand, sent []remote.Request) remote.Request {
	r := sent[rng.IntN(len(sent))]
	return remote.Request{Header: r.Header.Clone(), Body: slices.Clone(r.Body)}
}

const (
	stampHeader = "X-Slack-Request-Timestamp"
	signHeader  = "X-Slack-Signature"
)

var forgeries = []forgery{
	{"a byte changed", func(rng *rand.Rand, sent []remote.Request) remote.Request {
		r := anyOf(rng, sent)
		r.Body[rng.IntN(len(r.Body))] ^= byte(1 + rng.IntN(255))
		return r
	}},
	{"cut off", func(rng *rand.Rand, sent []remote.Request) remote.Request {
		r := anyOf(rng, sent)
		r.Body = r.Body[:rng.IntN(len(r.Body))]
		return r
	}},
	{"made longer", func(rng *rand.Rand, sent []remote.Request) remote.Request {
		r := anyOf(rng, sent)
		r.Body = fmt.Appendf(r.Body, "&payload=%d", rng.Int())
		return r
	}},
	{"parts in another order", func(rng *rand.Rand, sent []remote.Request) remote.Request {
		r := anyOf(rng, sent)
		at := 1 + rng.IntN(len(r.Body)-1)
		r.Body = slices.Concat(r.Body[at:], r.Body[:at])
		return r
	}},
	{"signature of another", func(rng *rand.Rand, sent []remote.Request) remote.Request {
		a := rng.IntN(len(sent))
		b := (a + 1 + rng.IntN(len(sent)-1)) % len(sent)
		return remote.Request{Header: sent[b].Header.Clone(), Body: slices.Clone(sent[a].Body)}
	}},
	{"another time", func(rng *rand.Rand, sent []remote.Request) remote.Request {
		r := anyOf(rng, sent)
		r.Header.Set(stampHeader, fmt.Sprint(time.Now().Unix()+1+rng.Int64N(200)))
		return r
	}},
	{"too old or from the future", func(rng *rand.Rand, sent []remote.Request) remote.Request {
		r := anyOf(rng, sent)
		away := 5*time.Minute + time.Duration(2+rng.IntN(100_000))*time.Second
		if rng.IntN(2) == 0 {
			away = -away
		}
		return remote.Sign(remote.Signature, time.Now().Add(away), r.Header.Get("Content-Type"), r.Body)
	}},
	{"another secret", func(rng *rand.Rand, sent []remote.Request) remote.Request {
		r := anyOf(rng, sent)
		return remote.Sign(fmt.Sprint(rng.Uint64()), time.Now(), r.Header.Get("Content-Type"), r.Body)
	}},
	{"an empty secret", func(rng *rand.Rand, sent []remote.Request) remote.Request {
		r := anyOf(rng, sent)
		return remote.Sign("", time.Now(), r.Header.Get("Content-Type"), r.Body)
	}},
	{"no signature", func(rng *rand.Rand, sent []remote.Request) remote.Request {
		r := anyOf(rng, sent)
		r.Header.Del([]string{signHeader, stampHeader}[rng.IntN(2)])
		return r
	}},
	{"a broken signature", func(rng *rand.Rand, sent []remote.Request) remote.Request {
		r := anyOf(rng, sent)
		s := r.Header.Get(signHeader)
		r.Header.Set(signHeader, []string{s[:len(s)-2], s + "00", "v1" + s[2:], s[3:], "v0=", "v0=" + strings.Repeat("0", 64), "v0=zz" + s[5:]}[rng.IntN(7)])
		return r
	}},
	{"two signatures", func(rng *rand.Rand, sent []remote.Request) remote.Request {
		r := anyOf(rng, sent)
		name := []string{signHeader, stampHeader}[rng.IntN(2)]
		r.Header.Add(name, r.Header.Get(name))
		return r
	}},
	{"a time in another form", func(rng *rand.Rand, sent []remote.Request) remote.Request {
		r := anyOf(rng, sent)
		s := r.Header.Get(stampHeader)
		r.Header.Set(stampHeader, []string{" " + s, "+" + s, "0" + s, s + ".0", "", "0x1", s + "0"}[rng.IntN(7)])
		return r
	}},
	{"sent again", anyOf},
}

// TestOtherRequests checks that a request that is not Slack's, or has no use,
// is refused with the right status.
func TestOtherRequests(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	signed := func(contentType, body string) remote.Request {
		return remote.Sign(remote.Signature, time.Now(), contentType, []byte(body))
	}
	for name, c := range map[string]struct {
		r    remote.Request
		want int
	}{
		"another type":        {signed("text/plain", "payload=x"), http.StatusUnsupportedMediaType},
		"no type":             {signed("", "payload=x"), http.StatusBadRequest},
		"no JSON":             {signed(remote.JSON, "{"), http.StatusBadRequest},
		"no payload":          {signed(remote.Form, "a=b"), http.StatusBadRequest},
		"payload is no JSON":  {signed(remote.Form, "payload=%7B"), http.StatusBadRequest},
		"nobody pressed":      {signed(remote.Form, "payload=%7B%22type%22%3A%22block_actions%22%7D"), http.StatusBadRequest},
		"a check of the link": {signed(remote.Form, "ssl_check=1"), http.StatusOK},
		"another event":       {signed(remote.JSON, `{"type":"event_callback","event_id":"E1","event":{"type":"not_known_yet"}}`), http.StatusOK},
		"a button of others":  {signed(remote.Form, "payload=%7B%22type%22%3A%22block_actions%22%2C%22trigger_id%22%3A%221%22%2C%22user%22%3A%7B%22id%22%3A%22U1%22%7D%2C%22actions%22%3A%5B%7B%22block_id%22%3A%22b%22%2C%22action_id%22%3A%22else%22%7D%5D%7D"), http.StatusOK},
	} {
		if got := l.receive(t, c.r); got != c.want {
			t.Errorf("%s is answered %d, want %d", name, got, c.want)
		}
	}
	w := httptest.NewRecorder()
	l.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/inbound/slack/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET is answered %d", w.Code)
	}
	if len(l.server.answers()) != 0 {
		t.Error("something was heard")
	}
}

// TestChallenge checks the answer to Slack's one-time check that the address
// belongs to the app.
func TestChallenge(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	r := remote.Sign(remote.Signature, time.Now(), remote.JSON, []byte(`{"type":"url_verification","token":"old","challenge":"3eZbrw1aBm2rZgRNFdxV"}`))
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(r.Body))
	req.Header = r.Header
	w := httptest.NewRecorder()
	l.handler.ServeHTTP(w, req)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "3eZbrw1aBm2rZgRNFdxV") {
		t.Errorf("the challenge is answered %d %q", w.Code, w.Body)
	}
	r.Header.Set(signHeader, "v0="+strings.Repeat("0", 64))
	if got := l.receive(t, r); got != http.StatusUnauthorized {
		t.Errorf("a forged challenge is answered %d", got)
	}
}

// TestWithoutSecret checks that a channel without a signing secret trusts no
// request.
func TestWithoutSecret(t *testing.T) {
	t.Parallel()
	s := remote.New()
	t.Cleanup(s.Close)
	settings := s.Settings()
	delete(settings, "signing_secret")
	l := &harness{Server: s, server: newFakeServer()}
	l.handler = open(t, settings).Handler(l.server.hear)
	if got := l.receive(t, remote.Sign("", time.Now(), remote.JSON, []byte(`{"type":"url_verification","challenge":"x"}`))); got != http.StatusUnauthorized {
		t.Errorf("it is answered %d", got)
	}
}

// TestRepeatedTogether checks that one click counts once if it arrives many
// times at the same moment.
func TestRepeatedTogether(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := yesNo(l)
	m, _ := l.send(t, q)
	if err := l.Reply(l.ada, m, standin.Reply{Answers: map[string]any{"ok": true}}); err != nil {
		t.Fatal(err)
	}
	sent := l.Requests()
	r := sent[len(sent)-1]
	// The same click reaches a new process, 50 times.
	fresh := newFakeServer()
	fresh.members, fresh.questions = l.server.members, map[string]*fermata.Question{q.ID: yesNo(l)}
	l.handler = open(t, l.Settings()).Handler(fresh.hear)
	statuses := make(chan int, 50)
	for range cap(statuses) {
		go func() { statuses <- l.receive(t, r) }()
	}
	for range cap(statuses) {
		if got := patience.Receive(t, "the request is replied to", statuses); got != http.StatusOK {
			t.Errorf("it is answered %d", got)
		}
	}
	if got := len(fresh.answers()); got != 1 {
		t.Errorf("it was heard %d times", got)
	}
}
