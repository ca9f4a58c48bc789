package channeltest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// scanner opens the addresses that it finds, as link previews, mail scanners
// and curious programs do. It uses HEAD and GET, without a sign-in and without
// scripts, and then opens the addresses that the pages lead to. None of these
// requests may change a question.
type scanner struct {
	tb   testing.TB
	base *url.URL
	seen map[string]bool
	// opened are the addresses that the scanner has opened.
	opened []string
}

// maxAddresses is how many addresses one scan opens at most.
const maxAddresses = 400

var links = lazyregexp.New(`https?://[^\s<>"'|\\)]+`)

// openers are User-Agent headers of such programs. The last one is the header
// of a browser.
var openers = []string{
	"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
	"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
}

func newScanner(tb testing.TB, base string) *scanner {
	tb.Helper()
	u, err := url.Parse(base)
	if err != nil {
		tb.Fatal(err)
	}
	return &scanner{tb: tb, base: u, seen: map[string]bool{}}
}

// open opens every address in the texts, and the addresses that their pages
// lead to.
func (s *scanner) open(texts ...string) {
	var found []string
	for _, text := range texts {
		for _, address := range links().FindAllString(html.UnescapeString(text), -1) {
			found = append(found, s.visit(strings.TrimRight(address, ".,;"))...)
		}
	}
	for _, address := range found {
		s.visit(address)
	}
}

// visit opens one address of the server, and returns the addresses that its
// page leads to.
func (s *scanner) visit(address string) (further []string) {
	u, err := url.Parse(address)
	if err != nil || u.Host != s.base.Host || s.seen[address] || len(s.opened) >= maxAddresses {
		return nil
	}
	s.seen[address] = true
	s.opened = append(s.opened, address)
	for _, opener := range openers {
		s.request(http.MethodHead, address, opener)
		further = s.request(http.MethodGet, address, opener)
	}
	return further
}

func (s *scanner) request(method, address, opener string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, http.NoBody)
	if err != nil {
		s.tb.Fatal(err)
	}
	req.Header.Set("User-Agent", opener)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.tb.Errorf("the scanner cannot open %s: %v", address, err)
		return nil
	}
	defer func() { _ = res.Body.Close() }()
	page, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	if err != nil || res.StatusCode >= http.StatusInternalServerError {
		s.tb.Errorf("%s %s: %s, %v", method, address, res.Status, err)
	}
	return linkTargets(page, res.Request.URL)
}

// linkTargets lists the targets of the links and forms of a page. If the page
// has fields with names, the list also holds the page's own address with the
// values of these fields as its query.
func linkTargets(page []byte, at *url.URL) []string {
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil
	}
	var found []string
	filled := url.Values{}
	for node := range doc.Descendants() {
		name := attribute(node, "name")
		if name != "" && (node.Data == "input" || node.Data == "button") {
			filled.Add(name, attribute(node, "value"))
		}
		for _, key := range []string{"href", "action", "formaction"} {
			if to, err := at.Parse(attribute(node, key)); err == nil && attribute(node, key) != "" && node.Data != "link" {
				to.Fragment = ""
				found = append(found, to.String())
			}
		}
	}
	if len(filled) > 0 {
		// A form with the method GET sends its fields and buttons in this way.
		to := *at
		to.RawQuery = filled.Encode()
		found = append(found, to.String())
	}
	return slices.Compact(slices.Sorted(slices.Values(found)))
}

func attribute(node *html.Node, key string) string {
	for _, a := range node.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// checkScan opens every address in every message of the harness, and checks that no
// question has changed.
func (h *harness) checkScan() {
	h.Helper()
	before := h.states()
	s := newScanner(h.T, h.url)
	for name := range h.people {
		for _, m := range h.remote.VisibleMessages(h.people[name]) {
			s.open(m.Text)
		}
	}
	for _, content := range h.sentContents() {
		s.open(content)
	}
	if len(s.opened) == 0 && !h.WithoutLinks && len(before) > 0 {
		h.Error("no message has an address in it")
	}
	if after := h.states(); !slices.Equal(before, after) {
		h.Errorf("a scanner changed questions:\nbefore %v\nafter  %v", before, after)
	}
}

// states describes the current state of each question of the harness.
func (h *harness) states() []string {
	h.Helper()
	var all []string
	for _, q := range h.asked {
		now, err := h.admin.Question(h.Context(), q.ID)
		h.ok(err)
		state := q.ID + " " + string(now.Status)
		if r := now.Resolution; r != nil && r.AnsweredBy != nil {
			state += " by " + r.AnsweredBy.Name + " over " + r.Channel
		}
		all = append(all, state)
	}
	return all
}
