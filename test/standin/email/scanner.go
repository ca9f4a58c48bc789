package email

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/fermata-hq/fermata/test/checkout"
	"github.com/fermata-hq/fermata/test/patience"
)

// Scanner treats the links of a mail as mail scanners, link previews and
// curious programs do. It requests every address with every method, follows
// redirects and the links of the pages, and posts guessed bodies. It picks a
// choice in every form and submits it. It opens the pages in a browser that
// runs scripts and clicks on everything except the buttons that submit a form.
// It does not read the page after a form, wait, and confirm there. None of this
// is a person's decision, so none of it may change a question.
type Scanner struct {
	tb testing.TB
	// base is the server that may be requested; mails may name others.
	base   *url.URL
	client *http.Client
	// Browser makes the scanner open the pages in Chromium too. That needs the
	// packages of the web interface (make web) and scripts/setup chromium.
	Browser bool
	done    map[string]bool
}

// NewScanner returns a scanner for mails whose links point to the server at base.
func NewScanner(tb testing.TB, base string) *Scanner {
	tb.Helper()
	u, err := url.Parse(base)
	if err != nil {
		tb.Fatal(err)
	}
	return &Scanner{tb: tb, base: u, client: &http.Client{Timeout: 30 * time.Second}, done: map[string]bool{}}
}

// agents are the User-Agent headers of scanners. The last one looks like a
// person's browser.
var agents = []string{
	"", "Slackbot-LinkExpanding 1.0", "Mozilla/5.0 (compatible; Microsoft Exchange SafeLinks)",
	"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
}

// guess is a body that a program may post without understanding the page.
type guess struct{ kind, body string }

const form = "application/x-www-form-urlencoded"

var guesses = []guess{
	{"", ""}, {form, ""}, {form, "List-Unsubscribe=One-Click"}, {form, "submit=1"}, {form, "confirm=yes"}, {form, "answer="},
	{form, "answer=approve"}, {form, "answer=yes"}, {form, "answer=true"}, {form, "answer=A"}, {form, "value=approve"}, {form, "action=approve"},
	{"application/json", "{}"}, {"application/json", "null"}, {"application/json", `{"answer":"approve"}`}, {"application/json", `{"answer":true}`},
	{"text/plain", "approve"}, {"multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"answer\"\r\n\r\napprove\r\n--b--\r\n"},
}

// maxPages is how many pages a scanner requests at most for one mail.
const maxPages = 40

var addresses = regexp.MustCompile(`https?://[^\s<>"']+`)

// Scan scans a mail and returns the addresses that it requested.
func (s *Scanner) Scan(m *Mail) []string {
	s.tb.Helper()
	_, found := m.Links()
	found = append(found, addresses.FindAllString(m.Plain, -1)...)
	for _, values := range m.Header {
		for _, value := range values {
			found = append(found, addresses.FindAllString(value, -1)...)
		}
	}
	var requested []string
	for len(found) > 0 && len(requested) < maxPages {
		address := strings.TrimRight(found[0], ".,)")
		found = found[1:]
		if !s.isOurs(address) || s.done[address] {
			continue
		}
		s.done[address] = true
		requested = append(requested, address)
		found = append(found, s.visit(address)...)
	}
	if s.Browser && len(requested) > 0 {
		s.browse(requested)
	}
	return requested
}

func (s *Scanner) isOurs(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host == s.base.Host
}

// visit requests an address in every way, and returns the addresses that the
// page names.
func (s *Scanner) visit(address string) []string {
	var named []string
	for _, agent := range agents {
		for _, method := range []string{http.MethodHead, http.MethodGet, http.MethodOptions} {
			page, at := s.request(method, address, agent, guess{})
			if method == http.MethodGet {
				named = append(named, pageAddresses(page, at)...)
				s.submit(page, at, agent)
			}
		}
	}
	// The targets of forms get the guessed bodies, like the page itself.
	targets := append([]string{address}, named...)
	for _, target := range slices.Compact(slices.Sorted(slices.Values(targets))) {
		if !s.isOurs(target) {
			continue
		}
		for _, g := range guesses {
			s.request(http.MethodPost, target, agents[len(agents)-1], g)
		}
		s.request(http.MethodPut, target, "", guess{"application/json", "{}"})
		s.request(http.MethodDelete, target, "", guess{})
	}
	return named
}

// request sends one request, and returns the page and its final address. A refusal
// by the server is expected.
func (s *Scanner) request(method, address, agent string, g guess) ([]byte, string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience.Limit())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(g.body))
	if err != nil {
		return nil, address
	}
	if agent != "" {
		req.Header.Set("User-Agent", agent)
	}
	if g.kind != "" {
		req.Header.Set("Content-Type", g.kind)
		// The request looks like one from a page of the server itself.
		req.Header.Set("Origin", s.base.Scheme+"://"+s.base.Host)
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		s.tb.Logf("scanner: %s %s: %v", method, address, err)
		return nil, address
	}
	defer func() { _ = resp.Body.Close() }()
	page, err := io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	if err != nil {
		s.tb.Logf("scanner: %s %s: %v", method, address, err)
	}
	return page, resp.Request.URL.String()
}

// submit submits every form of a page with each choice that it offers.
func (s *Scanner) submit(page []byte, at, agent string) {
	doc, err := html.Parse(bytes.NewReader(page))
	base, errBase := url.Parse(at)
	if err != nil || errBase != nil || !s.isOurs(at) {
		return
	}
	for node := range doc.Descendants() {
		if node.Type != html.ElementNode || node.Data != "form" {
			continue
		}
		target, err := base.Parse(attribute(node, "action"))
		if err != nil || !s.isOurs(target.String()) {
			continue
		}
		for _, filled := range filledForms(node) {
			s.request(http.MethodPost, target.String(), agent, guess{form, filled.Encode()})
		}
	}
}

// filledForms returns the values of a form, once for each of its choices and
// buttons.
func filledForms(node *html.Node) []url.Values {
	fixed, choices := url.Values{}, []url.Values{}
	for field := range node.Descendants() {
		name, value, kind := attribute(field, "name"), attribute(field, "value"), attribute(field, "type")
		switch {
		case name == "":
		case field.Data == "button" || kind == "radio" || kind == "checkbox" || kind == "submit":
			choices = append(choices, url.Values{name: {value}})
		case field.Data == "textarea" || kind == "text":
			fixed.Set(name, "ok")
		case field.Data == "input":
			fixed.Set(name, value)
		}
	}
	all := []url.Values{fixed}
	for _, choice := range choices {
		filled := maps.Clone(fixed)
		maps.Copy(filled, choice)
		all = append(all, filled)
	}
	return all
}

func attribute(node *html.Node, key string) string {
	for _, a := range node.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// pageAddresses returns the addresses that a page links to, loads or submits
// to.
func pageAddresses(page []byte, at string) []string {
	base, err := url.Parse(at)
	if err != nil {
		return nil
	}
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil
	}
	var found []string
	for node := range doc.Descendants() {
		for _, a := range node.Attr {
			switch a.Key {
			case "href", "src", "action", "formaction", "data-href", "data-url":
				if u, err := base.Parse(a.Val); err == nil {
					u.Fragment = ""
					found = append(found, u.String())
				}
			}
		}
	}
	return found
}

// browse opens the addresses in a browser, runs their scripts and clicks.
func (s *Scanner) browse(asked []string) {
	s.tb.Helper()
	script, err := checkout.Path("test", "standin", "email", "scan.mjs")
	if err != nil {
		s.tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience.Limit())
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", script)
	input, err := json.Marshal(asked)
	if err != nil {
		s.tb.Fatal(err)
	}
	cmd.Stdin = bytes.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.tb.Fatal(fmt.Errorf("the browser of the scanner: %w\n%s", err, out))
	}
}
