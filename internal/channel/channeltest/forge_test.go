package channeltest_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/test/standin"
	"github.com/fermata-hq/fermata/test/standin/email"
	"github.com/fermata-hq/fermata/test/standin/github"
	"github.com/fermata-hq/fermata/test/standin/slack"
	"github.com/fermata-hq/fermata/test/standin/wall"
)

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// post sends a request, and checks the status of the response.
func post(tb testing.TB, address string, header http.Header, body []byte, want int) {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, address, bytes.NewReader(body))
	check(tb, err)
	req.Header = header.Clone()
	res, err := http.DefaultClient.Do(req)
	check(tb, err)
	check(tb, res.Body.Close())
	if res.StatusCode != want {
		tb.Errorf("%s %v was answered %d, want %d", body, header, res.StatusCode, want)
	}
}

// withoutHeader returns the headers without one of them.
func withoutHeader(h http.Header, name string) http.Header {
	h = h.Clone()
	h.Del(name)
	return h
}

func withHeader(h http.Header, name, value string) http.Header {
	h = h.Clone()
	h.Set(name, value)
	return h
}

// staleAge is an age at which no system accepts a request.
const staleAge = 10 * time.Minute

func forgeClicks(tb testing.TB, r standin.Remote, _, person string, m standin.Message) {
	tb.Helper()
	w := r.(*wall.Wall)
	click := wall.Click{ID: "forged", From: person, Delivery: m.ID, Text: "toml"}
	req, err := w.Request(click, time.Now())
	check(tb, err)
	body := []byte(fmt.Sprintf(`{"id":"forged","from":%q,"delivery":%q,"text":"toml"}`, person, m.ID))
	post(tb, req.URL.String(), withHeader(req.Header, "X-Wall-Signature", strings.Repeat("0", 64)), body, http.StatusUnauthorized)
	post(tb, req.URL.String(), withoutHeader(req.Header, "X-Wall-Time"), body, http.StatusUnauthorized)
	stale, err := w.Request(click, time.Now().Add(-staleAge))
	check(tb, err)
	res, err := http.DefaultClient.Do(stale)
	check(tb, err)
	check(tb, res.Body.Close())
	if res.StatusCode != http.StatusUnauthorized {
		tb.Errorf("an old request was answered %d", res.StatusCode)
	}
}

func replayClick(tb testing.TB, r standin.Remote, _, person string, m standin.Message) {
	tb.Helper()
	for range 2 {
		check(tb, r.(*wall.Wall).SendClick(wall.Click{ID: "again", From: person, Delivery: m.ID, Text: "toml"}))
	}
}

// command returns a slash command with an answer, in Slack's form.
func command(person string, m standin.Message, trigger string) []byte {
	return []byte(url.Values{
		"command": {"/answer"}, "text": {m.Question + " toml"}, "user_id": {person}, "user_name": {"ann"}, "team_id": {slack.Team},
		"channel_id": {slack.Room}, "trigger_id": {trigger}, "api_app_id": {slack.AppID},
	}.Encode())
}

func forgeSlack(tb testing.TB, _ standin.Remote, inbound, person string, m standin.Message) {
	tb.Helper()
	body := command(person, m, "1.forged")
	genuine := slack.Sign(slack.Signature, time.Now(), slack.Form, body)
	for _, forged := range []slack.Request{
		slack.Sign("another-secret", time.Now(), slack.Form, body),
		slack.Sign(slack.Signature, time.Now().Add(-staleAge), slack.Form, body),
		slack.Sign(slack.Signature, time.Now().Add(staleAge), slack.Form, body),
		{Header: withoutHeader(genuine.Header, "X-Slack-Signature"), Body: body},
		{Header: withHeader(genuine.Header, "X-Slack-Request-Timestamp", fmt.Sprint(time.Now().Add(time.Second).Unix())), Body: body},
		{Header: genuine.Header, Body: bytes.Replace(body, []byte("toml"), []byte("yaml"), 1)},
	} {
		post(tb, inbound+"/slash_commands", forged.Header, forged.Body, http.StatusUnauthorized)
	}
}

func replaySlack(tb testing.TB, _ standin.Remote, inbound, person string, m standin.Message) {
	tb.Helper()
	request := slack.Sign(slack.Signature, time.Now(), slack.Form, command(person, m, "2.real"))
	for range 2 {
		post(tb, inbound+"/slash_commands", request.Header, request.Body, http.StatusOK)
	}
}

// commentWebhook writes a comment and returns the webhook for it.
func commentWebhook(tb testing.TB, s *github.Server, person, text string) *github.Delivery {
	tb.Helper()
	before := len(s.Deliveries())
	s.Comment(person, github.Issue, text)
	sent := s.Deliveries()
	i := slices.IndexFunc(sent[before:], func(d *github.Delivery) bool { return bytes.Contains(d.Body, []byte(text)) })
	if i < 0 {
		tb.Fatalf("no webhook reports %q", text)
	}
	return sent[before+i]
}

func forgeGitHub(tb testing.TB, r standin.Remote, inbound, person string, m standin.Message) {
	tb.Helper()
	told := commentWebhook(tb, r.(*github.Server), person, "some talk")
	body := bytes.Replace(told.Body, []byte("some talk"), []byte("/answer "+m.Question+" toml"), 1)
	header := http.Header{
		"Content-Type": {"application/json"}, "X-Github-Event": {told.Event}, "X-Github-Delivery": {"72d3162e-cc78-11e3-81ab-forged000000"},
		"X-Hub-Signature-256": {github.Sign(told.Body, github.Secret)},
	}
	for _, forged := range []http.Header{
		header, withoutHeader(header, "X-Hub-Signature-256"), withHeader(header, "X-Hub-Signature-256", github.Sign(body, "another-secret")),
		withHeader(header, "X-Hub-Signature-256", strings.TrimPrefix(github.Sign(body, github.Secret), "sha256=")),
	} {
		post(tb, inbound+"/webhook", forged, body, http.StatusUnauthorized)
	}
}

func replayGitHub(tb testing.TB, r standin.Remote, _, person string, m standin.Message) {
	tb.Helper()
	s := r.(*github.Server)
	s.Redeliver(commentWebhook(tb, s, person, "/answer "+m.Question+" toml"))
}

// reply returns a person's reply to a mail, and its destination.
func reply(tb testing.TB, r *email.Remote, person string, m standin.Message, text string) (raw []byte, to string) {
	tb.Helper()
	mails, err := r.Mails(person)
	check(tb, err)
	i := slices.IndexFunc(mails, func(have *email.Mail) bool { return have.ID() == m.ID })
	if i < 0 {
		tb.Fatalf("%s has no mail %s", person, m.ID)
	}
	return email.Draft(email.Gmail, person, mails[i], text), strings.Trim(mails[i].Header.Get("Reply-To"), "<>")
}

func forgeMail(tb testing.TB, r standin.Remote, _, person string, m standin.Message) {
	tb.Helper()
	s := r.(*email.Remote)
	raw, to := reply(tb, s, person, m, "toml")
	// An outsider and a colleague both send the reply in the person's name.
	check(tb, s.Inject(email.Address(person), raw, to))
	check(tb, s.Submit("bob", raw, to))
	// Another person uses the reply address from the person's mail.
	raw = bytes.ReplaceAll(raw, []byte(email.Address(person)), []byte(email.Address("bob")))
	check(tb, s.Submit("bob", raw, to))
}

func replayMail(tb testing.TB, r standin.Remote, _, person string, m standin.Message) {
	tb.Helper()
	s := r.(*email.Remote)
	raw, to := reply(tb, s, person, m, "toml")
	for range 2 {
		check(tb, s.Submit(person, raw, to))
	}
}
