package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/standin/wall"
)

// addWall makes the world send messages to a wall, which stores the whole messages. The wall knows ann and bob.
func (w *world) addWall() *wall.Wall {
	w.Helper()
	there := wall.New()
	w.Cleanup(there.Close)
	w.api.Delivery = delivery.New(delivery.Options{DB: w.DB, Engine: w.Engine, PublicURL: w.url, Kinds: []delivery.Kind{wall.NewKind(delivery.ToPeople)}})
	w.OK(w.Engine.Start(w.Context()))
	w.OK(w.api.Delivery.Start(w.Context()))
	testkit.Run(w, w.Engine.RunTail, w.api.Delivery.Run)
	w.must(http.StatusCreated, w.admin, "POST /v1/channels", quoted(map[string]any{"name": "wall", "kind": "wall", "settings": there.Settings()}), nil)
	step := `[{"after":"0s","channel":"wall"}]`
	w.must(http.StatusOK, w.admin, "PUT /v1/routes", `{"blocking":`+step+`,"approval":`+step+`,"error_recovery":`+step+`,"non_blocking":[],"progress":[]}`, nil)
	for _, name := range []string{"ann", "bob"} {
		id, _ := there.AddPerson(name)
		w.must(http.StatusOK, w.admin, "PUT /v1/members/"+name+"/identities/wall", quoted(map[string]string{"id": id}), nil)
	}
	return there
}

// message waits for the message about a question to a person, and returns it.
func (w *world) message(there *wall.Wall, person string, q *fermata.Question) *notice.Notice {
	w.Helper()
	limit := time.After(patience.Limit())
	for {
		changed := there.Changed()
		for _, n := range there.Notices("wall-" + person) {
			if n.Question != nil && n.Question.ID == q.ID {
				return n
			}
		}
		select {
		case <-changed:
		case <-limit:
			w.Fatalf("%s got no message of %s", person, q.Title)
		}
	}
}

// reader is a caller with a token or with a browser's cookie.
type reader struct{ token, cookie string }

func (w *world) reads(r reader, call string) reply {
	w.Helper()
	if r.cookie != "" {
		return w.call("", call, "", "Cookie", r.cookie, "Sec-Fetch-Site", "same-origin", "Accept", "application/json")
	}
	return w.call(r.token, call, "", "Accept", "application/json")
}

// readers returns callers of every kind: agents and people, with every scope, with tokens and in browsers, and
// operators of this and of other projects.
func (w *world) readers() map[string]reader {
	w.Helper()
	w.token(`{"name":"o","kind":"human","member":"op","role":"operator","scopes":["answer"]}`)
	w.token(`{"name":"h","kind":"human","member":"half","role":"operator","scopes":["answer"]}`)
	w.must(http.StatusOK, w.admin, "PATCH /v1/members/half", `{"projects":{"default":"viewer"}}`, nil)
	all := map[string]reader{"nobody": {}, "the admin's token": {token: w.admin}}
	for _, scope := range []string{"read", "ask", "work"} {
		all["an agent's token to "+scope] = reader{token: w.token(`{"name":"a","scopes":["` + scope + `"]}`)}
	}
	for _, name := range []string{"ann", "bob", "op", "half"} {
		for _, scope := range []string{"read", "ask", "work", "answer"} {
			all[name+"'s token to "+scope] = reader{token: w.token(`{"name":"t","kind":"human","member":"` + name + `","scopes":["` + scope + `"]}`)}
		}
		all[name+"'s browser"] = reader{cookie: w.signIn(name)}
	}
	return all
}

// The answer link and the reply secret are only in the message. No call that reads shows them to any caller while
// both are valid.
func TestNobodyReadsALiveLink(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) { checkReadByNobody(t, newWorldOn(t, opts)) })
}

func checkReadByNobody(t *testing.T, w *world) {
	t.Helper()
	there := w.addWall()
	readers := w.readers()
	q := w.ask(`{"type":"blocking","risk":"low","title":"Which?","timeout":"never","assignees":["ann"],"items":[{"key":"it","prompt":"Which?","response_type":"boolean"}]}`)
	sent := w.message(there, "ann", q)
	_, link, _ := strings.Cut(sent.Answer, "/a/")
	if link == "" || sent.Reply == "" {
		t.Fatalf("the message decides nothing: %+v", sent)
	}
	id := w.sentTo("ann", q)
	ids := strings.NewReplacer("/deliveries/{id}", "/deliveries/"+id, "/questions/{id}", "/questions/"+q.ID, "/tasks/{id}", "/tasks/"+q.TaskID,
		"/members/{id}", "/members/ann", "/channels/{name}", "/channels/wall")
	calls := []string{"GET /v1/deliveries?question_id=" + q.ID, "POST /v1/deliveries/" + id + "/redeliver"}
	for path, methods := range readDocument(t, w).Paths {
		if _, gets := methods["get"]; gets && !strings.Contains(ids.Replace(path), "{") {
			calls = append(calls, "GET "+ids.Replace(path))
		}
	}
	slices.Sort(calls)
	var show []string
	for name, r := range readers {
		for _, call := range calls {
			got := w.reads(r, call)
			if got.status == http.StatusTooManyRequests {
				t.Fatalf("%s was not asked: %s", call, got.body)
			}
			if text := string(got.body); strings.Contains(text, link) || strings.Contains(text, sent.Reply) {
				t.Errorf("%s reads by %s how to answer: %d %s", name, call, got.status, text)
			}
		}
		var d fermata.Delivery
		if got := w.reads(r, "GET /v1/deliveries/"+id); got.status == http.StatusOK {
			got.read(t, &d)
		}
		if d.Content != "" {
			show = append(show, name)
		}
	}
	slices.Sort(show)
	if want := []string{"ann's browser", "ann's token to answer", "op's browser"}; !slices.Equal(show, want) {
		t.Errorf("what was sent is read by %q, want %q", show, want)
	}
	if done := w.decide("/a/"+link, w.form("/a/"+link, "item.it", "yes")); done.status != http.StatusSeeOther || w.now(q.ID).Resolution == nil {
		t.Errorf("the link was not live: %d %s", done.status, done.body)
	}
}

// sentTo waits until the server has recorded that it sent the person a message about the question, and returns the id of
// the delivery.
func (w *world) sentTo(person string, q *fermata.Question) (id string) {
	w.Helper()
	patience.Await(w, "a message is sent to "+person, func() bool {
		var list struct{ Items []*fermata.Delivery }
		w.must(http.StatusOK, w.admin, "GET /v1/deliveries?state=sent&question_id="+q.ID, "", &list)
		at := slices.IndexFunc(list.Items, func(d *fermata.Delivery) bool { return d.Member == person })
		if at >= 0 {
			id = list.Items[at].ID
		}
		return at >= 0
	})
	return id
}

// A program with a token to ask cannot get a link for itself. It cannot use a low risk or name its own person for
// this, and it cannot evade what a project or a rule requires.
func TestTheAskerOpensNoLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	there := w.addWall()
	asks := w.token(`{"name":"asks","kind":"human","member":"ann","scopes":["ask"]}`)
	ask := func(body string) *fermata.Question {
		var q fermata.Question
		w.must(http.StatusCreated, asks, "POST /v1/questions", body, &q)
		return &q
	}
	const choice = `{"question":"Go on?","risk":"low","timeout":"never","project":"PROJECT","assignees":["WHO"],"type":"blocking"}`
	const approval = `{"question":"Drop?","risk":"low","timeout":"never","assignees":["WHO"],"type":"approval","action":{"tool":"Bash","input":{"command":"drop"}}}`
	fill := func(body, who, project string) string {
		return strings.NewReplacer("WHO", who, "PROJECT", project).Replace(body)
	}
	for name, tt := range map[string]struct {
		body, who string
		risk      fermata.Risk
		link      bool
	}{
		"a choice of one's own":              {fill(choice, "ann", "default"), "ann", fermata.RiskLow, false},
		"a choice of somebody else's":        {fill(choice, "bob", "default"), "bob", fermata.RiskLow, true},
		"an approval of one's own":           {fill(approval, "ann", ""), "ann", fermata.RiskMedium, false},
		"an approval of somebody else's":     {fill(approval, "bob", ""), "bob", fermata.RiskMedium, false},
		"a choice in a project of more risk": {fill(choice, "bob", "grave"), "bob", fermata.RiskHigh, false},
	} {
		w.policy(func(p *fermata.Policy) { p.ProjectRisk = map[string]fermata.Risk{"grave": fermata.RiskHigh} })
		q := ask(tt.body)
		if sent := w.message(there, tt.who, q); q.Risk != tt.risk || (sent.Answer != "") != tt.link {
			t.Errorf("%s: risk %s, link %q; want %s, %v", name, q.Risk, sent.Answer, tt.risk, tt.link)
		}
	}
	w.must(http.StatusCreated, w.admin, "POST /v1/gate-rules", `{"tool":"Bash","decision":"ask","risk":"high"}`, nil)
	w.policy(allowLowApprovals)
	if q := ask(fill(approval, "bob", "")); q.Risk != fermata.RiskHigh {
		t.Errorf("a call that a rule finds grave is asked for at the risk %s", q.Risk)
	}
	for name, token := range map[string]string{"the asker": asks, "an agent": w.agent} {
		for _, call := range []string{"PUT /v1/policies", "POST /v1/gate-rules"} {
			body, err := json.Marshal(fermata.DefaultPolicy())
			if err != nil {
				t.Fatal(err)
			}
			if call == "POST /v1/gate-rules" {
				body = []byte(`{"tool":"Bash","decision":"ask","risk":"low"}`)
			}
			if r := w.call(token, call, string(body)); r.status != http.StatusForbidden {
				t.Errorf("%s lowers the risk by %s: %d %s", name, call, r.status, r.body)
			}
		}
	}
}
