package push_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/push"
	"github.com/fermata-hq/fermata/internal/notice"
)

func TestSend(t *testing.T) {
	w := newFixture(t, `{}`)
	q := approvalQuestion(`{"tool":"cache","args":{"clear":true}}`)
	q.Body = "My long reasons"
	q.Context = &fermata.QuestionContext{Step: "the secret step"}
	deadline := time.Now().Add(10 * time.Minute)
	q.Deadline = &deadline
	message := w.mustSend(t, w.notice(q))

	n := w.onlyNotification(t)
	if n.Title != "Clear the cache?" || !strings.HasPrefix(n.Body, string(q.Action)+"\nNeeds approval · shop · until ") {
		t.Errorf("shown: %q %q", n.Title, n.Body)
	}
	if n.Path != "/questions/q_01" || n.Tag != "fermata-q_01" || !n.Stays || !n.Again || n.Silent || n.ActionHash != q.ActionHash {
		t.Errorf("shown: %+v", n)
	}
	if n.Member != "ada" {
		t.Errorf("it is for %q", n.Member)
	}
	if len(n.Actions) != 2 || n.Actions[0].Answer != fermata.Approve || n.Actions[1].Answer != fermata.Reject {
		t.Errorf("buttons: %+v", n.Actions)
	}
	r := w.service.Requests()[0]
	if r.Urgency != "high" || r.TTL < 590 || r.TTL > 600 || len(r.Topic) != 32 {
		t.Errorf("sent with %+v", r)
	}
	for _, hidden := range []string{"reasons", "secret step", "Tidy up", "link-of-ada", "reply-secret"} {
		if strings.Contains(message.Content, hidden) {
			t.Errorf("the lock screen shows %q", hidden)
		}
	}
	if message.Content != r.Text || message.Ref == nil {
		t.Errorf("the message says %q, the device read %q", message.Content, r.Text)
	}
}

func TestUpdate(t *testing.T) {
	w := newFixture(t, `{}`)
	n := w.notice(approvalQuestion(""))
	message := w.mustSend(t, n)
	n.Outcome = &notice.Outcome{Status: fermata.Answered, Words: "answered by Grace: approve", At: now}
	if _, err := w.Update(t.Context(), n, message); err != nil {
		t.Fatal(err)
	}
	shown := w.onlyNotification(t)
	if shown.Kind != "closed" || shown.Body != "answered by Grace: approve" || !shown.Silent || shown.Again || len(shown.Actions) != 0 || shown.Stays {
		t.Errorf("shown: %+v", shown)
	}
	if r := w.service.Requests(); r[0].Topic != r[1].Topic || r[1].Urgency != "normal" {
		t.Errorf("sent with %+v", r)
	}
}

// A device that was unreachable gets only the end, not the question before it.
func TestSleepingDevice(t *testing.T) {
	w := newFixture(t, `{}`)
	w.service.Sleep("ada")
	n := w.notice(approvalQuestion(""))
	message := w.mustSend(t, n)
	n.Outcome = &notice.Outcome{Status: fermata.Cancelled, Words: "withdrawn"}
	if _, err := w.Update(t.Context(), n, message); err != nil {
		t.Fatal(err)
	}
	other := approvalQuestion("")
	other.ID = "q_02"
	w.mustSend(t, w.notice(other))
	w.service.Wake("ada")
	shown := w.shown(t)
	if len(shown) != 2 || shown[0].Kind != "closed" || shown[1].Question != "q_02" {
		t.Errorf("shown: %+v", shown)
	}
}

func TestRefusals(t *testing.T) {
	tests := map[string]struct {
		status     int
		retryAfter string
		permanent  bool
		gone       bool
		wait       time.Duration
	}{
		"gone":           {status: http.StatusGone, permanent: true, gone: true},
		"not found":      {status: http.StatusNotFound, permanent: true, gone: true},
		"another key":    {status: http.StatusForbidden, permanent: true},
		"bad request":    {status: http.StatusBadRequest, permanent: true},
		"moved":          {status: http.StatusTemporaryRedirect, permanent: true},
		"too many":       {status: http.StatusTooManyRequests, retryAfter: "90", wait: 90 * time.Second},
		"too many ever":  {status: http.StatusTooManyRequests, retryAfter: "99999999999", wait: 24 * time.Hour},
		"broken":         {status: http.StatusInternalServerError},
		"down for a bit": {status: http.StatusServiceUnavailable, retryAfter: "-5"},
	}
	w := newFixture(t, `{}`)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w.service.Refuse(test.status, test.retryAfter)
			_, err := w.Send(t.Context(), w.notice(approvalQuestion("")))
			var f *notice.SendError
			if !errors.As(err, &f) {
				t.Fatalf("got %v", err)
			}
			if f.Final != test.permanent || f.Wait != test.wait || isGone(err) != test.gone {
				t.Errorf("permanent %v, after %s, gone %v: %v", f.Final, f.Wait, isGone(err), err)
			}
		})
	}
	if shown := w.shown(t); len(shown) != 0 {
		t.Errorf("shown: %+v", shown)
	}
}

func isGone(err error) bool {
	var f *notice.SendError
	return errors.As(err, &f) && f.Ended
}

func TestUnsubscribed(t *testing.T) {
	w := newFixture(t, `{}`)
	w.service.Unsubscribe("ada")
	if _, err := w.Send(t.Context(), w.notice(approvalQuestion(""))); !isGone(err) {
		t.Errorf("got %v", err)
	}
}

// A service that accepts fewer bytes gets only the title. If it refuses that
// too, the message is not retried.
func TestTooLarge(t *testing.T) {
	w := newFixture(t, `{}`)
	w.service.Limit(2048)
	w.mustSend(t, w.notice(approvalQuestion("")))
	if n := w.onlyNotification(t); n.Title != "Clear the cache?" || n.Body != "" || len(n.Actions) != 0 || n.Path != "/questions/q_01" {
		t.Errorf("shown: %+v", n)
	}
	w.service.Limit(100)
	_, err := w.Send(t.Context(), w.notice(approvalQuestion("")))
	var f *notice.SendError
	if !errors.As(err, &f) || !f.Final || isGone(err) {
		t.Errorf("got %v", err)
	}
}

func TestLongestQuestion(t *testing.T) {
	w := newFixture(t, `{}`)
	q := approvalQuestion("")
	q.Title, q.Project = strings.Repeat("界", 500), strings.Repeat("é", 300)
	w.mustSend(t, w.notice(q))
	if n := w.onlyNotification(t); len([]rune(n.Title)) != 120 || !strings.HasSuffix(n.Title, "…") || len(n.Actions) != 0 {
		t.Errorf("shown: %+v", n)
	}
}

func TestHeaders(t *testing.T) {
	w := newFixture(t, `{}`)
	later := approvalQuestion("")
	later.Type, later.Items[0].ResponseType = fermata.NonBlocking, fermata.ResponseText
	grave := approvalQuestion("")
	grave.Type, grave.Risk = fermata.NonBlocking, fermata.RiskCritical
	past := approvalQuestion("")
	deadline := time.Now().Add(-time.Minute)
	past.Deadline = &deadline
	tests := map[string]struct {
		n       *notice.Notice
		urgency string
		ttl     int
	}{
		"no hurry, no deadline": {w.notice(later), "low", 28 * 24 * 3600},
		"grave":                 {w.notice(grave), "high", 28 * 24 * 3600},
		"too late":              {w.notice(past), "high", 0},
		"digest":                {&notice.Notice{Purpose: notice.Digest, Questions: []*fermata.Question{later}, To: notice.Recipient{Device: w.device}}, "low", 28 * 24 * 3600},
		"alert":                 {&notice.Notice{Purpose: notice.Alert, Title: "Nobody was reached", To: notice.Recipient{Device: w.device}}, "high", 28 * 24 * 3600},
		"test":                  {&notice.Notice{Purpose: notice.Test, To: notice.Recipient{Device: w.device}}, "high", 300},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w.mustSend(t, test.n)
			requests := w.service.Requests()
			if r := requests[len(requests)-1]; r.Urgency != test.urgency || r.TTL != test.ttl {
				t.Errorf("sent with %+v", r)
			}
		})
	}
}

func TestLanguages(t *testing.T) {
	w := newFixture(t, `{}`)
	q := approvalQuestion("")
	deadline := now.Add(time.Hour)
	q.Deadline = &deadline
	n := w.notice(q)
	n.To.Language, n.Purpose = "de-AT", notice.Reminder
	w.mustSend(t, n)
	shown := w.onlyNotification(t)
	if shown.Body != "Noch offen · Braucht eine Freigabe · shop · bis 15:05" || shown.Actions[0].Title != "Freigeben" || shown.Lang != "de" {
		t.Errorf("shown: %+v", shown)
	}
	w.mustSend(t, &notice.Notice{Purpose: notice.Digest, Questions: []*fermata.Question{q, q}, To: notice.Recipient{Language: "fr", Device: w.device}})
	if digest := w.shown(t)[1]; digest.Title != "2 questions wait for you" || digest.Path != "/" || digest.Body != q.Title+"\n"+q.Title {
		t.Errorf("shown: %+v", digest)
	}
}

// The key is created once and stored. A key in the settings takes precedence.
func TestKeys(t *testing.T) {
	w := newFixture(t, `{}`)
	first, err := w.PublicKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := open(t, ``, w.env).PublicKey(t.Context())
	if err != nil || again != first || len(first) != 87 {
		t.Errorf("first %q, again %q, %v", first, again, err)
	}
	given, err := open(t, `{"private_key": "w3D5Qpf6T4EDEDP9mVrkuE-LpKkDmR4cVWnF1vOMYV4="}`, w.env).PublicKey(t.Context())
	if err != nil || given == first {
		t.Errorf("given %q, %v", given, err)
	}
	for _, bad := range []string{`{"private_key": "x"}`, `{"private_key": "AAAA"}`, `[]`} {
		if _, err := push.Open(json.RawMessage(bad), w.env); fermata.CodeOf(err) != fermata.CodeInvalidRequest {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestCheck(t *testing.T) {
	for address, code := range map[string]fermata.Code{
		"":                           "",
		"https://fermata.example.co": "",
		"http://localhost:7433":      "",
		"http://[::1]:7433":          "",
		"http://fermata.lan":         fermata.CodeInvalidRequest,
	} {
		env := newEnv()
		env.PublicURL = address
		err := open(t, `{}`, env).Check(t.Context())
		if fermata.CodeOf(err) != code {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// The service accepts the sender with every form of contact.
func TestContact(t *testing.T) {
	for _, test := range []struct{ settings, address string }{
		{`{"subject": "ops@example.com"}`, ""}, {`{"subject": "mailto:ops@example.com"}`, ""}, {`{"subject": "https://example.com/contact"}`, ""},
		{`{}`, "https://fermata.example.com"}, {`{}`, "http://127.0.0.1:7433"}, {`{}`, ""}, {`{}`, ":"},
	} {
		w := newFixture(t, test.settings)
		env := w.env
		env.PublicURL = test.address
		c := open(t, test.settings, env)
		if _, err := c.Send(t.Context(), w.notice(approvalQuestion(""))); err != nil {
			t.Errorf("%s at %q: %v", test.settings, test.address, err)
		}
	}
}

func TestDevices(t *testing.T) {
	w := newFixture(t, `{"hosts": ["127.0.0.1", "*.push.example.com"]}`)
	good := string(w.device)
	elsewhere := func(endpoint string) string { return strings.Replace(good, w.service.URL, endpoint, 1) }
	for name, device := range map[string]string{
		"nothing":       ``,
		"no keys":       `{"endpoint": "https://example.com/x"}`,
		"plain http":    elsewhere("http://example.com"),
		"another kind":  elsewhere("file://"),
		"a password":    elsewhere("https://a:b@example.com"),
		"no point":      strings.Replace(good, `"p256dh":"B`, `"p256dh":"A`, 1),
		"a short one":   `{"endpoint": "https://example.com", "keys": {"p256dh": "BA", "auth": "AAAA"}}`,
		"hidden as one": elsewhere("http://127.0.0.1.example.com"),
	} {
		n := w.notice(approvalQuestion(""))
		n.To.Device = json.RawMessage(device)
		if _, err := w.Send(t.Context(), n); !isGone(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	n := w.notice(approvalQuestion(""))
	for _, host := range []string{"https://evilpush.example.com", "https://push.example.com", "https://example.org"} {
		n.To.Device = json.RawMessage(elsewhere(host))
		if _, err := w.Send(t.Context(), n); fermata.CodeOf(err) != fermata.CodeForbidden || isGone(err) {
			t.Errorf("%s: %v", host, err)
		}
	}
	w.mustSend(t, w.notice(approvalQuestion("")))
}
