package slack_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/slack"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/outbound"
	"github.com/fermata-hq/fermata/test/patience"
	remote "github.com/fermata-hq/fermata/test/standin/slack"
)

type (
	ctx       = context.Context
	sendError = *notice.SendError
)

func yesNo(l *harness) *fermata.Question {
	return l.server.ask(&fermata.Question{Type: fermata.Blocking, Title: "Go on?", Asked: fermata.Asked{Items: []fermata.Item{{Key: "ok", Prompt: "Go on?", ResponseType: fermata.ResponseBoolean}}}})
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault     remote.Fault
		permanent bool
		after     time.Duration
		hint      string
	}{
		"rate limit":         {remote.Fault{Status: http.StatusTooManyRequests, RetryAfter: 17}, false, 17 * time.Second, ""},
		"not in the channel": {remote.Fault{Error: "not_in_channel"}, true, 0, "/invite @"},
		"token revoked":      {remote.Fault{Error: "token_revoked"}, true, 0, "install the app again"},
		"trouble at Slack":   {remote.Fault{Error: "internal_error"}, false, 0, ""},
		"bad gateway":        {remote.Fault{Status: http.StatusBadGateway}, false, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newHarness(t, overHTTP)
			n := l.noticeFor(yesNo(l))
			l.Fail("chat.postMessage", c.fault)
			_, err := l.channel.Send(t.Context(), n)
			var f *notice.SendError
			if !errors.As(err, &f) || f.Final != c.permanent || f.Wait != c.after {
				t.Fatalf("it failed with %#v", err)
			}
			var hinted *fermata.Error
			if !errors.As(err, &hinted) || !strings.Contains(hinted.Hint, c.hint) {
				t.Errorf("the hint is %+v", hinted)
			}
			if c.permanent {
				return
			}
			sent, err := l.channel.Send(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			l.Fail("chat.update", c.fault)
			n.At = n.At.Add(time.Second)
			if _, err := l.channel.Update(t.Context(), n, sent); !errors.As(err, &f) || f.Wait != c.after {
				t.Errorf("the update failed with %v", err)
			}
			if got := len(l.VisibleMessages(l.ada)); got != 1 {
				t.Errorf("there are %d messages", got)
			}
		})
	}
}

// TestSentOnce checks that a second attempt finds the message if the response
// to the first attempt was lost.
func TestSentOnce(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	n := l.noticeFor(yesNo(l))
	l.Fail("chat.postMessage", remote.Fault{TakesEffect: true})
	if _, err := l.channel.Send(t.Context(), n); err == nil {
		t.Fatal("the lost answer was not noticed")
	}
	n.Since = n.Question.CreatedAt
	sent, err := l.channel.Send(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(l.VisibleMessages(l.ada)); got != 1 {
		t.Errorf("Ada sees %d messages", got)
	}
	if !strings.Contains(string(sent.Ref), strings.Split(l.lastMessage(t, l.ada).ID, "/")[1]) {
		t.Errorf("the sent message is %s", sent.Ref)
	}
}

// TestGone checks that a deleted message needs no correction. For a message
// that cannot be changed, the end is posted in the thread.
func TestGone(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := yesNo(l)
	m, sent := l.send(t, q)
	ended := l.noticeFor(q)
	ended.Outcome, ended.At = &notice.Outcome{Status: fermata.Answered, Words: "answered by Bob: yes", At: time.Now()}, q.CreatedAt.Add(time.Second)
	l.Fail("chat.update", remote.Fault{Error: "edit_window_closed"})
	if _, err := l.channel.Update(t.Context(), ended, sent); err != nil {
		t.Fatal(err)
	}
	if got := l.lastMessage(t, l.ada); got.ID == m.ID || !strings.Contains(got.Text, "answered by Bob") {
		t.Errorf("the end is not in the thread: %+v", got)
	}
	l.Delete(m.ID)
	ended.At = ended.At.Add(time.Second)
	if _, err := l.channel.Update(t.Context(), ended, sent); err != nil {
		t.Errorf("a deleted message: %v", err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	with := func(change func(map[string]any)) func(*remote.Server) map[string]any {
		return func(s *remote.Server) map[string]any {
			settings := s.Settings()
			change(settings)
			return settings
		}
	}
	for name, c := range map[string]struct {
		settings func(*remote.Server) map[string]any
		prepare  func(*remote.Server)
		want     []string
	}{
		"all well":       {settings: (*remote.Server).Settings},
		"wrong token":    {settings: with(func(m map[string]any) { m["bot_token"] = "xoxb-wrong" }), want: []string{"invalid_auth", "OAuth & Permissions"}},
		"scopes":         {settings: (*remote.Server).Settings, prepare: func(s *remote.Server) { s.Grant("chat:write", "channels:read") }, want: []string{"users:read.email", "install the app again"}},
		"not invited":    {settings: (*remote.Server).Settings, prepare: (*remote.Server).Kick, want: []string{"not_in_channel", "/invite @fermata"}},
		"no such place":  {settings: with(func(m map[string]any) { m["conversation"] = "C0NOWHERE" }), want: []string{"channel_not_found", "id of the conversation"}},
		"app token":      {settings: with(func(m map[string]any) { m["app_token"] = "xapp-wrong" }), want: []string{"Socket Mode", "connections:write"}},
		"no way back":    {settings: with(func(m map[string]any) { delete(m, "app_token"); delete(m, "signing_secret") }), want: []string{"nobody can answer"}},
		"several things": {settings: with(func(m map[string]any) { m["app_token"] = "xapp-wrong" }), prepare: (*remote.Server).Kick, want: []string{"not_in_channel", "connections:write"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := remote.New()
			t.Cleanup(s.Close)
			if c.prepare != nil {
				c.prepare(s)
			}
			err := open(t, c.settings(s)).Check(t.Context())
			if (err != nil) != (len(c.want) > 0) {
				t.Fatalf("it says %v", err)
			}
			said := describeErrors(err)
			for _, want := range c.want {
				if !strings.Contains(said, want) {
					t.Errorf("%q is not in %s", want, said)
				}
			}
		})
	}
}

// describeErrors joins the texts and hints of all the errors in err.
func describeErrors(err error) string {
	if err == nil {
		return ""
	}
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		var all []string
		for _, e := range list.Unwrap() {
			all = append(all, describeErrors(e))
		}
		return strings.Join(all, "\n")
	}
	var hinted *fermata.Error
	if errors.As(err, &hinted) {
		return err.Error() + " (" + hinted.Hint + ")"
	}
	return err.Error()
}

// TestUnknownStore checks that Slack gets no acknowledgement while the outcome
// of an answer is unknown. Slack then warns the person who pressed, and sends
// a reply again.
func TestUnknownStore(t *testing.T) {
	t.Parallel()
	for _, by := range transports {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			l := newHarness(t, by)
			q := yesNo(l)
			m, _ := l.send(t, q)
			l.server.set(func() { l.server.err = errors.New("the store is down") })
			l.SetAckTimeout(time.Second)
			slack.SetPatience(l.channel, patience.Limit()) // slow, but not lost
			b, err := l.Button(m.ID, "Yes")
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Press(l.ada, m.ID, b, nil); err == nil {
				t.Error("the click was acknowledged")
			}
			l.awaitTold(t, l.ada, "did not respond")
			l.awaitTold(t, l.ada, "could not be counted")
			if got := l.lastMessage(t, l.ada); !slices.Contains(got.Buttons, "Yes") {
				t.Errorf("the message is not open any more: %+v", got)
			}
			before := l.server.lookupCount()
			written := make(chan error, 1)
			go func() { written <- l.Write(l.ada, m.ID, "yes") }()
			if err := l.Await("the reply comes", func() bool { return l.server.lookupCount() > before }); err != nil {
				t.Fatal(err)
			}
			l.server.set(func() { l.server.err = nil })
			l.SetAckTimeout(patience.Limit()) // the repeated reply is acknowledged
			if err := patience.Receive(t, "the request is written", written); err != nil {
				t.Fatal("the reply did not come again: ", err)
			}
			l.awaitTold(t, l.ada, "It counted.")
		})
	}
}

// TestSocketIsGuarded checks that Slack's response cannot make the channel
// connect to an address that the server's own client refuses.
func TestSocketIsGuarded(t *testing.T) {
	t.Parallel()
	s := remote.New()
	t.Cleanup(s.Close)
	settings, err := json.Marshal(s.Settings())
	if err != nil {
		t.Fatal(err)
	}
	client := outbound.Client(outbound.Options{})
	// The calls are not restricted here; only the socket connection is.
	guarded := &http.Client{Transport: dialingTransport{RoundTripper: http.DefaultTransport, guard: client.Transport}}
	c, err := slack.Open(settings, notice.Env{HTTP: guarded, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Listen(ctx, newFakeServer().hear) }()
	if err := s.Await("the app asks for a connection", func() bool { return s.Calls("apps.connections.open") > 1 }); err != nil {
		t.Fatal(err)
	}
	if s.Connected() {
		t.Error("a connection to this machine was made")
	}
	cancel()
	if err := patience.Receive(t, "Listen ends", ended); err != nil {
		t.Error(err)
	}
}

// dialingTransport sends requests through one transport, and opens connections through
// another.
type dialingTransport struct {
	http.RoundTripper

	guard http.RoundTripper
}

func (d dialingTransport) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return d.guard.(interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	}).DialContext(ctx, network, address)
}
