package api_test

import (
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// answerLink returns the path at which a member answers a question.
func (w *world) answerLink(q *fermata.Question, handle string) string {
	w.Helper()
	token, err := w.Engine.AnswerLink(w.Context(), store.DefaultWorkspace, q.ID, w.member(handle).ID)
	w.OK(err)
	return "/a/" + token
}

func (w *world) member(handle string) *fermata.Member {
	w.Helper()
	var list struct{ Items []*fermata.Member }
	w.must(http.StatusOK, w.admin, "GET /v1/members", "", &list)
	for _, m := range list.Items {
		if m.Handle == handle {
			return m
		}
	}
	w.Fatalf("there is no %s", handle)
	return nil
}

// press sends a form as a browser does.
func (w *world) press(address string, form url.Values, headers ...string) reply {
	w.Helper()
	headers = append([]string{"Content-Type", "application/x-www-form-urlencoded", "Origin", w.url, "Sec-Fetch-Site", "same-origin"}, headers...)
	return w.call("", "POST "+address, form.Encode(), headers...)
}

var hiddenForm = regexp.MustCompile(`name="form" value="([^"]+)"`)

// form opens the page and returns the values of its form, with the pairs added.
func (w *world) form(address string, pairs ...string) url.Values {
	w.Helper()
	page := w.call("", "GET "+address, "")
	found := hiddenForm.FindSubmatch(page.body)
	if page.status != http.StatusOK || found == nil {
		w.Fatalf("%d: no form in %s", page.status, page.body)
	}
	form := url.Values{"form": {string(found[1])}}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return form
}

var hiddenFields = regexp.MustCompile(`type="hidden" name="([^"]+)" value="([^"]*)"`)

// confirmation returns the form of the page that asks for the confirmation of an answer.
func (w *world) confirmation(page reply) url.Values {
	w.Helper()
	form := url.Values{}
	for _, m := range hiddenFields.FindAllSubmatch(page.body, -1) {
		form.Add(string(m[1]), html.UnescapeString(string(m[2])))
	}
	if page.status != http.StatusOK || form.Get("confirm") == "" {
		w.Fatalf("%d: nothing to confirm in %s", page.status, page.body)
	}
	return form
}

// decide sends a form, and confirms it after the pause, as a person does.
func (w *world) decide(address string, form url.Values) reply {
	w.Helper()
	confirm := w.confirmation(w.press(address, form))
	w.Clock.Advance(fermata.MinConfirmDelay)
	return w.press(address, confirm)
}

// policy changes the workspace's policy.
func (w *world) policy(change func(*fermata.Policy)) {
	w.Helper()
	p := fermata.DefaultPolicy()
	change(&p)
	w.must(http.StatusOK, w.admin, "PUT /v1/policies", quoted(p), nil)
}

// allowLowApprovals allows approvals of low risk.
func allowLowApprovals(p *fermata.Policy) {
	p.LeastRisk = map[fermata.QuestionType]fermata.Risk{fermata.Approval: fermata.RiskLow}
}

func (w *world) now(id string) *fermata.Question {
	w.Helper()
	var q fermata.Question
	w.must(http.StatusOK, w.admin, "GET /v1/questions/"+id, "", &q)
	return &q
}

const lowChoice = `{"type":"blocking","risk":"low","title":"Which?","timeout":"never","items":[{"key":"it","prompt":"Which?","response_type":"choice",
	"options":[{"value":"toml","label":"TOML"},{"value":"drop","danger":true}]}]}`

func TestAnswerByLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	q := w.ask(lowChoice)
	address := w.answerLink(q, "ann")
	form := w.form(address, "item.it", "toml", "comment", "because")
	done := w.decide(address, form)
	if done.status != http.StatusSeeOther || done.header.Get("Location") != address {
		t.Fatalf("%d %v %s", done.status, done.header, done.body)
	}
	got := w.now(q.ID).Resolution
	if got == nil || got.Answer != "toml" || got.Comment != "because" || got.AnsweredBy.Name != "ann" || got.Assurance != fermata.AssuranceLink || got.Channel != "link" {
		t.Fatalf("got %+v", got)
	}
	head := w.Head()
	if again := w.press(address, form); again.status != http.StatusSeeOther && again.status != http.StatusOK {
		t.Errorf("pressed twice: %d %s", again.status, again.body)
	}
	page := w.call("", "GET "+address, "")
	if page.status != http.StatusOK || !strings.Contains(string(page.body), "Answered by ann: TOML.") || strings.Contains(string(page.body), "<form") {
		t.Errorf("%d %s", page.status, page.body)
	}
	if w.Head() != head {
		t.Error("the second press changed something")
	}
}

func TestLinkPageIsGuarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := w.answerLink(w.ask(lowChoice), "ann")
	for name, page := range map[string]reply{"live": w.call("", "GET "+address, ""), "dead": w.call("", "GET /a/x", ""), "sent": w.press(address, nil)} {
		h := page.header
		for header, want := range map[string]string{
			"Cache-Control": "no-store", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
			"Content-Type": "text/html; charset=utf-8",
		} {
			if h.Get(header) != want {
				t.Errorf("%s: %s is %q", name, header, h.Get(header))
			}
		}
		policy := h.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "script-src") ||
			!strings.Contains(h.Get("X-Robots-Tag"), "noindex") || strings.Contains(string(page.body), "<script") {
			t.Errorf("%s: %v", name, h)
		}
	}
}

// A program that opens every link, presses every button and guesses values decides nothing.
func TestScannersDecideNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(allowLowApprovals)
	approval := w.ask(`{"type":"approval","risk":"low","title":"Push?","timeout":"never","action":{"run":"git push"}}`)
	address, other := w.answerLink(approval, "ann"), w.answerLink(w.ask(lowChoice), "ann")
	foreign := w.form(other)
	head := w.Head()
	full := w.form(address, "item.answer", "approve")
	bare := func(call, body string, headers ...string) { w.call("", call+" "+address, body, headers...) }
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"} {
		for _, query := range []string{"", "?answer=approve", "?item.answer=approve&form=" + full.Get("form")} {
			w.call("", method+" "+address+query, "")
		}
	}
	urlencoded := []string{"Content-Type", "application/x-www-form-urlencoded"}
	bare("POST", "")
	bare("POST", `{"answer":"approve"}`)
	bare("POST", full.Encode(), urlencoded...)                                                                  // no page names itself as the sender
	bare("POST", full.Encode(), append(urlencoded, "Origin", "https://evil.example")...)                        // another page sends it
	bare("POST", full.Encode(), append(urlencoded, "Sec-Fetch-Site", "cross-site")...)                          // another page sends it
	bare("POST", full.Encode(), append(urlencoded, "Origin", "null")...)                                        // a frame sends it
	bare("POST", full.Encode(), "Content-Type", "text/plain", "Origin", w.url, "Sec-Fetch-Site", "same-origin") // not a form
	w.press(address, url.Values{})
	w.press(address, w.form(address)) // the form without a choice
	w.press(address, url.Values{"item.answer": {"approve"}})
	w.press(address, url.Values{"item.answer": {"approve"}, "form": {"guessed"}})
	w.press(address, url.Values{"item.answer": {"approve"}, "form": {foreign.Get("form")}})
	w.press(address, url.Values{"item.answer": {"approve", "reject"}, "form": {full.Get("form")}})
	w.press(address+"x", full)
	w.press(other[:len(other)-2]+"AA", full)
	w.press(address, full) // the choice without a confirmation
	confirm := w.confirmation(w.press(address, full))
	quick := w.press(address, confirm) // the confirmation without a pause
	w.Clock.Advance(fermata.MinConfirmDelay / 2)
	w.press(address, w.confirmation(quick)) // again without a pause
	w.Clock.Advance(fermata.MinConfirmDelay)
	changed := maps.Clone(confirm)
	changed.Set("item.answer", "reject")
	w.press(address, changed) // another answer than the one that was shown
	late := w.confirmation(w.press(address, full))
	w.Clock.Advance(fermata.ConfirmLifetime + time.Minute)
	w.press(address, late)
	if q := w.now(approval.ID); q.Status != fermata.Pending {
		t.Fatalf("something was decided: %+v", q.Resolution)
	}
	if w.Head() != head {
		t.Fatal("something was decided")
	}
	if done := w.decide(address, full); done.status != http.StatusSeeOther || w.now(approval.ID).Resolution == nil {
		t.Fatalf("a person: %d %s", done.status, done.body)
	}
}

func TestDangerIsAskedOnceMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	q := w.ask(lowChoice)
	address := w.answerLink(q, "ann")
	asked := w.press(address, w.form(address, "item.it", "drop"))
	if asked.status != http.StatusOK || !strings.Contains(string(asked.body), "This is dangerous: drop.") || w.now(q.ID).Status != fermata.Pending {
		t.Fatalf("%d %s", asked.status, asked.body)
	}
	form := w.confirmation(asked)
	w.Clock.Advance(fermata.MinConfirmDelay)
	if done := w.press(address, form); done.status != http.StatusSeeOther || w.now(q.ID).Resolution.Answer != "drop" {
		t.Fatalf("%d %s", done.status, done.body)
	}
}

func TestEveryItemIsAnsweredByLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	q := w.ask(`{"type":"blocking","risk":"low","title":"All","timeout":"never","items":[
		{"key":"text","prompt":"T","response_type":"text","max_length":5},
		{"key":"choice","prompt":"C","response_type":"choice","options":["a","b"],"other":true},
		{"key":"multi","prompt":"M","response_type":"multi_choice","options":["a","b","c"]},
		{"key":"bool","prompt":"B","response_type":"boolean"},
		{"key":"number","prompt":"N","response_type":"number","min":1,"max":9},
		{"key":"date","prompt":"D","response_type":"date"},
		{"key":"left","prompt":"L","response_type":"text","required":false}]}`)
	address := w.answerLink(q, "ann")
	wrong := w.press(address, w.form(address, "item.text", "far too long", "item.number", "10", "item.multi", "a", "comment", "<b>mine"))
	body := string(wrong.body)
	for _, want := range []string{"may have at most 5", "is above 9", "An answer is needed here.", "far too long</textarea>", "&lt;b&gt;mine", `value="a" checked`} {
		if wrong.status != http.StatusUnprocessableEntity || !strings.Contains(strings.ToLower(body), strings.ToLower(want)) {
			t.Errorf("%d: no %q in %s", wrong.status, want, body)
		}
	}
	done := w.decide(address, w.form(address, "item.text", "a\r\nb", "own.choice", "mine", "item.multi", "c", "item.multi", "a", "item.bool", "no", "item.number", "2.5", "item.date", "2027-01-31"))
	if done.status != http.StatusSeeOther {
		t.Fatalf("%d %s", done.status, done.body)
	}
	got := w.now(q.ID).Resolution.AnswerText()
	if got != "bool = false; choice = mine; date = 2027-01-31; multi = a, c; number = 2.5; text = a\nb" {
		t.Errorf("got %s", got)
	}
}

func TestDeadLinksExplainThemselves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	see := func(name, address string, status int, want ...string) {
		t.Helper()
		page := w.call("", "GET "+address, "")
		for _, words := range want {
			if page.status != status || !strings.Contains(string(page.body), words) || strings.Contains(string(page.body), "<form") {
				t.Errorf("%s: %d, no %q in %s", name, page.status, words, page.body)
			}
		}
	}
	see("nonsense", "/a/nonsense", http.StatusNotFound, "This link is not valid")

	answered := w.ask(lowChoice)
	mine := w.answerLink(answered, "ann")
	late := w.form(mine, "item.it", "drop", "confirm", "yes")
	w.must(http.StatusOK, w.other, "POST /v1/questions/"+answered.ID+"/answer", `{"answer":"toml"}`, nil)
	see("answered", mine, http.StatusOK, "Answered by bob: TOML.")
	if second := w.press(mine, late); second.status != http.StatusConflict || !strings.Contains(string(second.body), "Answered by bob: TOML.") || !strings.Contains(string(second.body), "somebody was first") {
		t.Errorf("second: %d %s", second.status, second.body)
	}

	cancelled := w.ask(lowChoice)
	gone := w.answerLink(cancelled, "ann")
	w.must(http.StatusOK, w.agent, "POST /v1/questions/"+cancelled.ID+"/cancel", `{"reason":"x"}`, nil)
	see("cancelled", gone, http.StatusOK, "Cancelled by agent.")

	policed := w.answerLink(w.ask(lowChoice), "ann")
	w.must(http.StatusOK, w.admin, "PUT /v1/policies", `{"min_timeout":"5m","max_timeout":"24h","allow_never":true,"allow_longer":true,"allow_shorter":false,"link_answers":"off"}`, nil)
	see("switched off", policed, http.StatusForbidden, "The policy allows no answers by link", "/questions/q_", "Sign in")
	w.must(http.StatusOK, w.admin, "PUT /v1/policies", `{"min_timeout":"5m","max_timeout":"24h","allow_never":true,"allow_longer":true,"allow_shorter":false}`, nil)

	open := w.ask(lowChoice)
	revoked, kept := w.answerLink(open, "ann"), w.answerLink(open, "bob")
	w.must(http.StatusNoContent, w.human, "DELETE /v1/members/ann/answer-links", "", nil)
	see("revoked", revoked, http.StatusNotFound, "it was revoked")
	if r := w.call(w.other, "DELETE /v1/members/ann/answer-links", ""); r.status != http.StatusForbidden {
		t.Errorf("revoked by somebody else: %d", r.status)
	}
	w.must(http.StatusOK, w.admin, "PATCH /v1/members/bob", `{"disabled":true}`, nil)
	see("disabled", kept, http.StatusForbidden, "You may not answer any more")
	if page := w.call("", "GET "+kept, ""); strings.Contains(string(page.body), "Which?") {
		t.Error("a disabled member is shown the question")
	}
}

func TestLinksNeedLowRisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.member("ann").ID
	linkOf := func(risk string) error {
		q := w.ask(`{"type":"blocking","risk":"` + risk + `","title":"Which?","timeout":"never","items":[{"prompt":"Which?","response_type":"boolean"}]}`)
		_, err := w.Engine.AnswerLink(t.Context(), store.DefaultWorkspace, q.ID, ann)
		return err
	}
	for _, risk := range []string{"medium", "high", "critical"} {
		if err := linkOf(risk); fermata.CodeOf(err) != fermata.CodeNotEligible {
			t.Errorf("%s: got %v", risk, err)
		}
	}
	w.must(http.StatusOK, w.admin, "PUT /v1/policies", `{"min_timeout":"5m","max_timeout":"24h","allow_never":true,"allow_longer":true,"allow_shorter":false,"link_answers":"medium"}`, nil)
	if err := linkOf("medium"); err != nil {
		t.Error(err)
	}
	if err := linkOf("high"); fermata.CodeOf(err) != fermata.CodeNotEligible {
		t.Errorf("high: got %v", err)
	}
	q := w.ask(`{"type":"blocking","risk":"medium","title":"Which?","timeout":"never","items":[{"prompt":"Which?","response_type":"boolean"}]}`)
	address := w.answerLink(q, "ann")
	if done := w.decide(address, w.form(address, "item.answer", "yes")); done.status != http.StatusSeeOther || w.now(q.ID).Resolution.Answer != true {
		t.Errorf("%d %s", done.status, done.body)
	}
	w.must(http.StatusOK, w.admin, "PUT /v1/policies", `{"min_timeout":"5m","max_timeout":"24h","allow_never":true,"allow_longer":true,"allow_shorter":false,"least_assurance":{"low":"channel"}}`, nil)
	if err := linkOf("low"); fermata.CodeOf(err) != fermata.CodeNotEligible {
		t.Errorf("least assurance: got %v", err)
	}
}

func TestSecretsAreNotOnTheLinkPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(allowLowApprovals)
	secret := fermata.NewSecret()
	q := w.ask(`{"type":"approval","risk":"low","title":"Push?","body":"with ` + secret + `","timeout":"never","action":{"token":"` + secret + `"}}`)
	page := w.call("", "GET "+w.answerLink(q, "ann"), "")
	if page.status != http.StatusForbidden || strings.Contains(string(page.body), secret) || strings.Contains(string(page.body), "<form") || !strings.Contains(string(page.body), "holds a secret") {
		t.Errorf("%d %s", page.status, page.body)
	}
}

func TestActionIsWholeOnTheLinkPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(allowLowApprovals)
	q := w.ask(`{"type":"approval","risk":"low","title":"Push?","timeout":"never","action":{"run":"` + strings.Repeat("x", 30000) + `\u202e<script>END"}}`)
	page := string(w.call("", "GET "+w.answerLink(q, "ann"), "").body)
	if !strings.Contains(page, "END") || strings.Contains(page, "<script>") || strings.Contains(page, "\u202e") || !strings.Contains(page, q.ActionHash) {
		t.Errorf("the action is not whole, or not clean")
	}
}

// TestALinkTellsNothingOfAHiddenProject opens the link of a person who has lost access to the project, before and
// after the question is answered.
func TestALinkTellsNothingOfAHiddenProject(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"no role in the project": `{"projects":{"default":"none"}}`,
		"no role":                `{"role":"none"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			q := w.ask(lowChoice)
			address := w.answerLink(q, "ann")
			unknown := w.call("", "GET /a/x", "")
			w.must(http.StatusOK, w.admin, "PATCH /v1/members/ann", change, nil)
			check := func(state string) {
				if page := w.call("", "GET "+address, ""); page.status != unknown.status || string(page.body) != string(unknown.body) {
					t.Errorf("%s: %d %s", state, page.status, page.body)
				}
				if page := w.press(address, url.Values{"item.it": {"toml"}}); page.status != unknown.status {
					t.Errorf("%s: pressed: %d %s", state, page.status, page.body)
				}
			}
			check("open")
			w.must(http.StatusOK, w.admin, "POST /v1/questions/"+q.ID+"/answer", `{"answer":"toml"}`, nil)
			check("answered")
		})
	}
}

// TestALinkNamesTheRoleThatMayNotAnswer opens the link of a viewer. The page names the role and no token, because a
// link uses none.
func TestALinkNamesTheRoleThatMayNotAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := w.answerLink(w.ask(lowChoice), "ann")
	w.must(http.StatusOK, w.admin, "PATCH /v1/members/ann", `{"role":"viewer"}`, nil)
	page := w.call("", "GET "+address, "")
	if body := string(page.body); page.status != http.StatusForbidden || !strings.Contains(body, "The role viewer may not answer in the project default.") {
		t.Errorf("%d %s", page.status, page.body)
	}
}
