package channeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/notice"
)

// checkSentOnce waits until all people see the question, and checks that nobody
// received it twice.
func (l *harness) checkSentOnce(q *fermata.Question) {
	l.Helper()
	for name := range l.people {
		l.awaitMessage(name, q)
		if n := len(l.messagesAbout(name, q)); n != 1 {
			l.Errorf("%s sees %q %d times", name, q.Title, n)
		}
	}
	rows, _, err := l.admin.Deliveries(l.Context(), client.DeliveryQuery{QuestionID: q.ID, Limit: 100})
	l.ok(err)
	sent := map[string]int{}
	for _, d := range rows {
		if d.Purpose != string(notice.Asked) {
			l.Errorf("%q was sent as %s", q.Title, d.Purpose)
		}
		sent[fmt.Sprintf("%s over %s", d.Member, d.Channel)]++
	}
	for to, n := range sent {
		if n != 1 {
			l.Errorf("%q was sent to %s %d times", q.Title, to, n)
		}
	}
	if want := len(l.people); !l.SharedMessages && len(sent) != want || l.SharedMessages && len(sent) != 1 {
		l.Errorf("%q was sent to %v", q.Title, sent)
	}
}

// sentContents returns all messages as an operator reads them later in a
// browser. It checks that no link in them can answer, and that the operator's
// API token can read none of them.
func (l *harness) sentContents() []string {
	l.Helper()
	var rows []*fermata.Delivery
	// People may see a message before the server has recorded it.
	l.await("every message is recorded", func() bool {
		rows = l.deliveries()
		return !slices.ContainsFunc(rows, func(d *fermata.Delivery) bool { return d.State == fermata.DeliveryWaiting && d.Reason == "" })
	})
	var all []string
	browser := l.browser()
	for _, d := range rows {
		full, err := l.admin.Delivery(l.Context(), d.ID)
		l.ok(err)
		if full.Content != "" {
			l.Errorf("a token of somebody else reads what %q was sent: %s", d.Member, full.Content)
		}
		shown := l.delivery(browser, d.ID)
		if answerLink.MatchString(shown.Content) || d.State == fermata.DeliverySent && shown.Content == "" {
			l.Errorf("an operator reads of what %q was sent: %q", d.Member, shown.Content)
		}
		all = append(all, shown.Content)
	}
	return all
}

// deliveries lists all deliveries of the harness.
func (l *harness) deliveries() []*fermata.Delivery {
	l.Helper()
	var all []*fermata.Delivery
	for cursor, more := "", true; more; more = cursor != "" {
		rows, next, err := l.admin.Deliveries(l.Context(), client.DeliveryQuery{Limit: 100, Cursor: cursor})
		l.ok(err)
		all, cursor = append(all, rows...), next
	}
	return all
}

// answerLink matches an address by which a person can answer.
var answerLink = regexp.MustCompile(`/a/[A-Za-z0-9_-]{8}`)

// browser signs the admin in with a browser, and returns its cookie.
func (l *harness) browser() string {
	l.Helper()
	link, err := l.admin.MakeLink(l.Context(), "admin")
	l.ok(err)
	_, secret, _ := strings.Cut(link.URL, "#")
	res := l.fetch(http.MethodPost, "/v1/sign-in/link", `{"token":"`+secret+`"}`, "")
	defer func() { _ = res.Body.Close() }()
	for _, c := range res.Cookies() {
		return c.Name + "=" + c.Value
	}
	l.Fatalf("the sign-in: %s", res.Status)
	return ""
}

// delivery reads a delivery with the cookie of a browser.
func (l *harness) delivery(cookie, id string) *fermata.Delivery {
	l.Helper()
	res := l.fetch(http.MethodGet, "/v1/deliveries/"+id, "", cookie)
	defer func() { _ = res.Body.Close() }()
	var d fermata.Delivery
	l.ok(json.NewDecoder(res.Body).Decode(&d))
	return &d
}

// fetch sends a request as a page of the server does.
func (l *harness) fetch(method, path, body, cookie string) *http.Response {
	l.Helper()
	req, err := http.NewRequestWithContext(l.Context(), method, l.url+path, strings.NewReader(body))
	l.ok(err)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if cookie != "" {
		req.Header.Set("Cookie", cookie)
	}
	res, err := http.DefaultClient.Do(req)
	l.ok(err)
	return res
}

// describeSent describes the state of every delivery, for the failure message
// of a test.
func (l *harness) describeSent() string {
	rows, _, err := l.admin.Deliveries(context.Background(), client.DeliveryQuery{Limit: 100})
	if err != nil {
		return err.Error()
	}
	var sb strings.Builder
	for _, d := range rows {
		fmt.Fprintf(&sb, "%s %s over %s to %q for %s: %s %s %s, %d attempts, next %v, history %+v\n",
			d.ID, d.Purpose, d.Channel, d.Member, d.QuestionID, d.State, d.Reason, d.LastError, d.Attempts, d.NextAt, d.History)
	}
	return sb.String()
}
