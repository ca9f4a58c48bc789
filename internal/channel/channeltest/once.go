package channeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/notice"
)

// checkSentOnce waits until all people see the question, and checks that nobody
// received it twice.
func (h *harness) checkSentOnce(q *fermata.Question) {
	h.Helper()
	for name := range h.people {
		h.awaitMessage(name, q)
		if n := len(h.messagesAbout(name, q)); n != 1 {
			h.Errorf("%s sees %q %d times", name, q.Title, n)
		}
	}
	rows, _, err := h.admin.Deliveries(h.Context(), client.DeliveryQuery{QuestionID: q.ID, Limit: 100})
	h.ok(err)
	sent := map[string]int{}
	for _, d := range rows {
		if d.Purpose != string(notice.Asked) {
			h.Errorf("%q was sent as %s", q.Title, d.Purpose)
		}
		sent[fmt.Sprintf("%s over %s", d.Member, d.Channel)]++
	}
	for to, n := range sent {
		if n != 1 {
			h.Errorf("%q was sent to %s %d times", q.Title, to, n)
		}
	}
	if want := len(h.people); !h.SharedMessages && len(sent) != want || h.SharedMessages && len(sent) != 1 {
		h.Errorf("%q was sent to %v", q.Title, sent)
	}
}

// sentContents returns all messages as an operator reads them later in a
// browser. It checks that no link in them can answer, and that the operator's
// API token can read none of them.
func (h *harness) sentContents() []string {
	h.Helper()
	var rows []*fermata.Delivery
	// People may see a message before the server has recorded it.
	h.await("every message is recorded", func() bool {
		rows = h.deliveries()
		return !slices.ContainsFunc(rows, func(d *fermata.Delivery) bool { return d.State == fermata.DeliveryWaiting && d.Reason == "" })
	})
	var all []string
	browser := h.browser()
	for _, d := range rows {
		full, err := h.admin.Delivery(h.Context(), d.ID)
		h.ok(err)
		if full.Content != "" {
			h.Errorf("a token of somebody else reads what %q was sent: %s", d.Member, full.Content)
		}
		shown := h.delivery(browser, d.ID)
		if answerLink().MatchString(shown.Content) || d.State == fermata.DeliverySent && shown.Content == "" {
			h.Errorf("an operator reads of what %q was sent: %q", d.Member, shown.Content)
		}
		all = append(all, shown.Content)
	}
	return all
}

// deliveries lists all deliveries of the harness.
func (h *harness) deliveries() []*fermata.Delivery {
	h.Helper()
	var all []*fermata.Delivery
	for cursor, more := "", true; more; more = cursor != "" {
		rows, next, err := h.admin.Deliveries(h.Context(), client.DeliveryQuery{Limit: 100, Cursor: cursor})
		h.ok(err)
		all, cursor = append(all, rows...), next
	}
	return all
}

// answerLink matches an address by which a person can answer.
var answerLink = lazyregexp.New(`/a/[A-Za-z0-9_-]{8}`)

// browser signs the admin in with a browser, and returns its cookie.
func (h *harness) browser() string {
	h.Helper()
	link, err := h.admin.MakeLink(h.Context(), "admin")
	h.ok(err)
	_, secret, _ := strings.Cut(link.URL, "#")
	res := h.fetch(http.MethodPost, "/v1/sign-in/link", `{"token":"`+secret+`"}`, "")
	defer func() { _ = res.Body.Close() }()
	for _, c := range res.Cookies() {
		return c.Name + "=" + c.Value
	}
	h.Fatalf("the sign-in: %s", res.Status)
	return ""
}

// delivery reads a delivery with the cookie of a browser.
func (h *harness) delivery(cookie, id string) *fermata.Delivery {
	h.Helper()
	res := h.fetch(http.MethodGet, "/v1/deliveries/"+id, "", cookie)
	defer func() { _ = res.Body.Close() }()
	var d fermata.Delivery
	h.ok(json.NewDecoder(res.Body).Decode(&d))
	return &d
}

// fetch sends a request as a page of the server does.
func (h *harness) fetch(method, path, body, cookie string) *http.Response {
	h.Helper()
	req, err := http.NewRequestWithContext(h.Context(), method, h.url+path, strings.NewReader(body))
	h.ok(err)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if cookie != "" {
		req.Header.Set("Cookie", cookie)
	}
	res, err := http.DefaultClient.Do(req)
	h.ok(err)
	return res
}

// describeSent describes the state of every delivery, for the failure message
// of a test.
func (h *harness) describeSent() string {
	rows, _, err := h.admin.Deliveries(context.Background(), client.DeliveryQuery{Limit: 100})
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
