package notify

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/notice"
)

const bot = "telegram://123456:AAE-bot@telegram?chats=@team,-1001:42"

// redirectTransport redirects the requests for Telegram to a server of the test.
type redirectTransport struct{ to *url.URL }

func (i redirectTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = i.to.Scheme, i.to.Host
	return http.DefaultTransport.RoundTrip(r)
}

func telegramAt(t *testing.T, address string) *Channel {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(settings{URL: bot})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(raw, notice.Env{Name: "phone", HTTP: &http.Client{Transport: redirectTransport{to}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTelegramTellsEveryChat(t *testing.T) {
	t.Parallel()
	type message struct {
		Chat  string `json:"chat_id"`
		Topic int    `json:"message_thread_id"`
		Text  string `json:"text"`
		Mode  string `json:"parse_mode"`
		Quiet bool   `json:"disable_notification"`
		Below struct {
			Keyboard [][]struct {
				Text string `json:"text"`
				URL  string `json:"url"`
			} `json:"inline_keyboard"`
		} `json:"reply_markup"`
	}
	heard := make(chan message, 3)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil || r.URL.Path != "/bot123456:AAE-bot/sendMessage" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		heard <- m
		_, _ = w.Write([]byte(`{"ok":true,"result":{"message_id":1}}`))
	}))
	defer server.Close()
	n := question()
	n.Question.Title, n.Open = "<b>Which</b> & why?", "https://fermata.example.com/q/q_1"
	if _, err := telegramAt(t, server.URL).Send(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	close(heard)
	var got []message
	for m := range heard {
		got = append(got, m)
	}
	if len(got) != 2 || got[0].Chat != "@team" || got[0].Topic != 0 || got[1].Chat != "-1001" || got[1].Topic != 42 {
		t.Fatalf("%+v", got)
	}
	for _, m := range got {
		if strings.Contains(m.Text, "link-of-ada") || strings.Contains(m.Text, "reply-secret") {
			t.Errorf("a chat reads how to answer for a person: %s", m.Text)
		}
		if len(m.Below.Keyboard) != 1 || m.Below.Keyboard[0][0].URL != n.Open || m.Below.Keyboard[0][0].Text != "Answer" || m.Quiet {
			t.Errorf("the button is %+v", m.Below)
		}
	}
	if want := "<b>Question: &lt;b&gt;Which&lt;/b&gt; &amp; why?</b>\n"; got[0].Mode != "HTML" || !strings.HasPrefix(got[0].Text, want) {
		t.Errorf("%+v", got[0])
	}
}

// A message that no chat accepted must be retried and reported, so it may not
// count as sent.
func TestTelegramThatTookNothingIsAFailure(t *testing.T) {
	t.Parallel()
	for body, why := range map[string]string{
		`{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`: "chat not found",
		`<html>Bad Gateway</html>`: "status 502",
		``:                         "status 502",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte(body))
		}))
		if _, err := telegramAt(t, server.URL).Send(t.Context(), question()); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", body, err)
		}
		server.Close()
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if _, err := telegramAt(t, gone.URL).Send(t.Context(), question()); err == nil || strings.Contains(err.Error(), "AAE-bot") {
		t.Errorf("where nobody listens: %v", err)
	}
}
