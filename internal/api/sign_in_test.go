package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/api"
)

// accessRoutes are the calls with which people sign in or are given access.
var accessRoutes = []string{
	"GET /v1/sign-in/methods", "POST /v1/sign-in/link", "POST /v1/sign-out", "GET /v1/sessions", "DELETE /v1/sessions/{id}",
	"GET /v1/members/{id}/passkeys", "GET /v1/members/{id}/sessions", "DELETE /v1/members/{id}/sessions",
	"PATCH /v1/members/{id}", "POST /v1/members/{id}/links", "GET /v1/invitations", "POST /v1/invitations", "DELETE /v1/invitations/{id}",
	"POST /v1/sign-in/email", "GET /v1/sign-in/oidc/start", "GET /v1/sign-in/oidc/callback", "POST /v1/sign-in/passkey/start",
	"POST /v1/sign-in/passkey/finish", "POST /v1/passkeys/start", "POST /v1/passkeys/finish", "GET /v1/passkeys", "DELETE /v1/passkeys/{id}",
	"GET /v1/groups", "POST /v1/groups", "PATCH /v1/groups/{name}", "DELETE /v1/groups/{name}",
}

// page is the header of a request that a page of this server sends.
var page = []string{"Sec-Fetch-Site", "same-origin"}

// link makes a sign-in link and returns its secret, which is after #.
func (w *world) link(handle string) string {
	w.Helper()
	var l fermata.Link
	w.must(http.StatusCreated, w.admin, "POST /v1/members/"+handle+"/links", "", &l)
	_, secret, ok := strings.Cut(l.URL, "/sign-in#")
	if !ok {
		w.Fatalf("the link is %q", l.URL)
	}
	return secret
}

// redeem posts a link's secret, as the sign-in page does.
func (w *world) redeem(secret string, headers ...string) reply {
	w.Helper()
	return w.call("", "POST /v1/sign-in/link", `{"token":"`+secret+`"}`, append(headers, page...)...)
}

// signIn signs a member in and returns the cookie.
func (w *world) signIn(handle string) string {
	w.Helper()
	r := w.redeem(w.link(handle))
	if r.status != http.StatusOK {
		w.Fatalf("%d %s", r.status, r.body)
	}
	return w.cookie(r)
}

// cookie checks the attributes of the session's cookie, and returns its name
// and value.
func (w *world) cookie(r reply) string {
	w.Helper()
	set := r.header.Values("Set-Cookie")
	if len(set) != 1 {
		w.Fatalf("cookies: %q", set)
	}
	pair, attributes, _ := strings.Cut(set[0], "; ")
	if !strings.HasPrefix(pair, "__Host-fermata=fms_") || attributes != "Path=/; Max-Age=2592000; HttpOnly; Secure; SameSite=Lax" {
		w.Fatalf("cookie: %q", set[0])
	}
	return pair
}

func TestSignInByLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.PublicURL = "https://fermata.example.com" })
	secret := w.link("ann")
	r := w.redeem(secret)
	var me map[string]any
	r.read(t, &me)
	if me["name"] != "ann" || me["role"] != "responder" || me["assurance"] != "channel" || me["single_user"] != false {
		t.Errorf("whoami: %s", r.body)
	}
	cookie := w.cookie(r)
	if strings.Contains(string(r.body), strings.TrimPrefix(cookie, "__Host-fermata=")) {
		t.Error("the session is in the body, where scripts can read it")
	}
	got := w.call("", "GET /v1/whoami", "", "Cookie", cookie)
	got.read(t, &me)
	if me["name"] != "ann" || me["session_id"] == "" || !strings.HasPrefix(me["member_id"].(string), "mem_") {
		t.Errorf("whoami: %s", got.body)
	}
	if again := w.redeem(secret); again.status != http.StatusUnauthorized || len(again.header.Values("Set-Cookie")) > 0 {
		t.Errorf("a link worked twice: %d %s", again.status, again.body)
	}
}

func TestWholeStoryWithACookie(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie := w.signIn("ann")
	q := w.ask(say)
	with := append([]string{"Cookie", cookie}, page...)
	r := w.call("", "POST /v1/questions/"+q.ID+"/answer", `{"answer":"yes"}`, with...)
	var answered fermata.Question
	r.read(t, &answered)
	if answered.Resolution.AnsweredBy.Name != "ann" || answered.Resolution.Assurance != fermata.AssuranceChannel {
		t.Errorf("resolution: %+v", answered.Resolution)
	}
	r = w.call("", "POST /v1/sign-out", "", with...)
	if set := r.header.Get("Set-Cookie"); r.status != http.StatusOK || !strings.Contains(set, "__Host-fermata=; Path=/; Max-Age=0") {
		t.Errorf("%d %q", r.status, set)
	}
	if r := w.call("", "GET /v1/whoami", "", "Cookie", cookie); r.status != http.StatusUnauthorized {
		t.Errorf("after signing out: %d", r.status)
	}
}

// TestCookieNeedsTheOwnPage checks that a request from a foreign page, or one
// that does not name its page, changes nothing.
func TestCookieNeedsTheOwnPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie := w.signIn("ann")
	before := w.Head()
	for _, headers := range [][]string{
		nil, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"},
	} {
		r := w.call("", "POST /v1/tasks", `{"title":"t"}`, append([]string{"Cookie", cookie}, headers...)...)
		if r.status != http.StatusForbidden {
			t.Errorf("%v: %d %s", headers, r.status, r.body)
		}
		// A foreign page also cannot sign a victim in as another person.
		if headers != nil {
			if r := w.call("", "POST /v1/sign-in/link", `{"token":"x"}`, headers...); r.status != http.StatusForbidden {
				t.Errorf("sign-in with %v: %d", headers, r.status)
			}
		}
	}
	if w.Head() != before {
		t.Error("something changed")
	}
	for _, headers := range [][]string{{"Sec-Fetch-Site", "same-origin"}, {"Origin", w.url}} {
		if r := w.call("", "POST /v1/tasks", `{"title":"t"}`, append([]string{"Cookie", cookie}, headers...)...); r.status != http.StatusCreated {
			t.Errorf("%v: %d %s", headers, r.status, r.body)
		}
	}
}

func TestSignInRotatesTheSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.signIn("ann")
	fresh := w.cookie(w.redeem(w.link("ann"), "Cookie", old))
	if fresh == old {
		t.Error("the session stayed the same")
	}
	if r := w.call("", "GET /v1/whoami", "", "Cookie", old); r.status != http.StatusUnauthorized {
		t.Errorf("the old session lives: %d", r.status)
	}
	if r := w.call("", "GET /v1/whoami", "", "Cookie", fresh); r.status != http.StatusOK {
		t.Errorf("the new session: %d", r.status)
	}
	// Two cookies with one name are the real one and a planted one.
	if r := w.call("", "GET /v1/whoami", "", "Cookie", fresh+"; "+old); r.status != http.StatusUnauthorized {
		t.Errorf("two cookies: %d", r.status)
	}
}

func TestSignInNeedsASafeConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secret := w.link("ann")
	r := w.redeemAt("fermata.lan:7433", secret)
	if p := r.problem(t); r.status != http.StatusUnprocessableEntity || !strings.Contains(p.Hint, "--public-url https://") {
		t.Errorf("%d %s", r.status, r.body)
	}
	// The refused attempt did not use the link up.
	if r := w.redeem(secret); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// redeemAt posts a link's secret to the server under another host name.
func (w *world) redeemAt(host, secret string) reply {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), http.MethodPost, w.url+"/v1/sign-in/link", strings.NewReader(`{"token":"`+secret+`"}`))
	w.OK(err)
	req.Host = host
	req.Header.Set("Content-Type", "application/json")
	return w.do(req)
}

func TestWrongLinksAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.Limits.Failed = api.Rate{PerSecond: 0.001, Burst: 3} })
	right := w.link("ann")
	for range 3 {
		if r := w.redeem(fermata.NewSecretWithPrefix(fermata.LinkPrefix)); r.status != http.StatusUnauthorized {
			t.Errorf("got %d %s", r.status, r.body)
		}
	}
	if r := w.redeem(fermata.NewSecretWithPrefix(fermata.LinkPrefix)); r.status != http.StatusTooManyRequests || r.header.Get("Retry-After") == "" {
		t.Errorf("got %d %s", r.status, r.body)
	}
	// A correct link from the same address still signs in.
	if r := w.redeem(right); r.status != http.StatusOK {
		t.Errorf("a right link got %d %s", r.status, r.body)
	}
}

func TestSignInMethods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.call("", "GET /v1/sign-in/methods", "")
	if r.status != http.StatusOK || string(r.body) != `{"single_user":false,"link":true,"email":false,"passkey":false}` {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := w.call("", "GET /v1/sign-in/link", ""); r.status != http.StatusMethodNotAllowed {
		t.Errorf("a link was read with GET: %d", r.status)
	}
	if r := w.call("", "GET /v1/whoami?next="+fermata.NewSecretWithPrefix(fermata.LinkPrefix), ""); r.status != http.StatusBadRequest {
		t.Errorf("a link in the address: %d", r.status)
	}
}

// TestSingleUserMaySignIn checks that the local user of a single-user server
// can sign in to get a higher assurance.
func TestSingleUserMaySignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, singleUser)
	var me struct {
		Name       string
		SessionID  string `json:"session_id"`
		SingleUser bool   `json:"single_user"`
	}
	r := w.call("", "GET /v1/whoami", "")
	r.read(t, &me)
	if !me.SingleUser || me.SessionID != "" {
		t.Errorf("whoami: %s", r.body)
	}
	local := me.Name
	cookie := w.signIn("ann")
	w.call("", "GET /v1/whoami", "", "Cookie", cookie).read(t, &me)
	if me.Name != "ann" || me.SessionID == "" {
		t.Errorf("whoami: %+v", me)
	}
	w.call("", "GET /v1/whoami", "", "Cookie", "__Host-fermata=fms_old").read(t, &me)
	if me.Name != local {
		t.Errorf("with a dead session: %+v", me)
	}
}

func TestMembersByHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var m fermata.Member
	w.must(http.StatusOK, w.admin, "PATCH /v1/members/ann", `{"role":"viewer","email":"Ann@Example.com","projects":{"web":"operator"},"groups":["ops"]}`, &m)
	if m.Email != "ann@example.com" || m.RoleIn("web") != fermata.RoleOperator || m.RoleIn("other") != fermata.RoleViewer {
		t.Errorf("%+v", m)
	}
	for body, status := range map[string]int{`{"role":"king"}`: 400, `{"x":1}`: 400, `{"disabled":"yes"}`: 400, `{"email":"x"}`: 400} {
		if r := w.call(w.admin, "PATCH /v1/members/ann", body); r.status != status {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	if r := w.call(w.human, "PATCH /v1/members/ann", `{"role":"admin"}`); r.status != http.StatusForbidden {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := w.call(w.admin, "PATCH /v1/members/admin", `{"disabled":true}`); r.status != http.StatusUnprocessableEntity {
		t.Errorf("the last admin: %d %s", r.status, r.body)
	}
	w.must(http.StatusOK, w.admin, "PATCH /v1/members/ann", `{"disabled":true}`, &m)
	if r := w.call(w.human, "GET /v1/whoami", ""); r.status != http.StatusUnauthorized {
		t.Errorf("disabled: %d", r.status)
	}
}

func TestInvitationByHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var i fermata.Invitation
	w.must(http.StatusCreated, w.admin, "POST /v1/invitations", `{"handle":"cid","role":"operator"}`, &i)
	_, secret, _ := strings.Cut(i.URL, "#")
	var list struct{ Items []fermata.Invitation }
	w.must(http.StatusOK, w.admin, "GET /v1/invitations", "", &list)
	if len(list.Items) != 1 || list.Items[0].Handle != "cid" || list.Items[0].URL != "" || i.Sent {
		t.Errorf("%+v", list)
	}
	var me struct{ Name, Role string }
	w.redeem(secret).read(t, &me)
	if me.Name != "cid" || me.Role != "operator" {
		t.Errorf("%+v", me)
	}
	w.must(http.StatusCreated, w.admin, "POST /v1/invitations", `{"handle":"eve"}`, &i)
	w.must(http.StatusNoContent, w.admin, "DELETE /v1/invitations/"+i.ID, "", nil)
	_, secret, _ = strings.Cut(i.URL, "#")
	if r := w.redeem(secret); r.status != http.StatusUnauthorized {
		t.Errorf("withdrawn: %d", r.status)
	}
}

// TestRepeatedInvitationHasNoSecret checks that the reply to a repeated request
// has no secret, because it comes from the database, which does not store the
// secret.
func TestRepeatedInvitationHasNoSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var first, second fermata.Invitation
	for _, i := range []*fermata.Invitation{&first, &second} {
		w.call(w.admin, "POST /v1/invitations", `{"handle":"cid"}`, "Idempotency-Key", "k").read(t, i)
	}
	if first.ID != second.ID || first.URL == "" || second.URL != "" {
		t.Errorf("%+v\n%+v", first, second)
	}
}

func TestSessionsByHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	here, there := w.signIn("ann"), w.signIn("ann")
	var list struct{ Items []fermata.BrowserSession }
	w.call("", "GET /v1/sessions", "", "Cookie", here).read(t, &list)
	if len(list.Items) != 2 {
		t.Fatalf("%+v", list)
	}
	other := list.Items[0]
	if other.Current {
		other = list.Items[1]
	}
	if r := w.call("", "DELETE /v1/sessions/"+other.ID, "", append([]string{"Cookie", here}, page...)...); r.status != http.StatusNoContent {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := w.call("", "GET /v1/whoami", "", "Cookie", there); r.status != http.StatusUnauthorized {
		t.Errorf("%d", r.status)
	}
	if r := w.call(w.agent, "GET /v1/sessions", ""); r.status != http.StatusForbidden {
		t.Errorf("%d", r.status)
	}
}

// TestDevicesByHTTP checks that members see their own devices, and that an
// admin sees any member's devices and can sign a person out everywhere.
func TestDevicesByHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(http.StatusCreated, w.admin, "POST /v1/members", `{"handle":"ben"}`, nil)
	ann, ben := w.signIn("ann"), w.signIn("ben")
	var sessions struct{ Items []fermata.BrowserSession }
	w.must(http.StatusOK, w.admin, "GET /v1/members/ann/sessions", "", &sessions)
	if len(sessions.Items) != 1 || sessions.Items[0].Current {
		t.Errorf("%+v", sessions)
	}
	w.call("", "GET /v1/members/ann/sessions", "", "Cookie", ann).read(t, &sessions)
	if len(sessions.Items) != 1 || !sessions.Items[0].Current {
		t.Errorf("%+v", sessions)
	}
	var passkeys struct{ Items []fermata.Passkey }
	w.must(http.StatusOK, w.admin, "GET /v1/members/ann/passkeys", "", &passkeys)
	for _, route := range []string{"GET /v1/members/ann/sessions", "GET /v1/members/ann/passkeys", "DELETE /v1/members/ann/sessions"} {
		if r := w.call("", route, "", append([]string{"Cookie", ben}, page...)...); r.status != http.StatusForbidden {
			t.Errorf("%s by somebody else: %d %s", route, r.status, r.body)
		}
		if r := w.call(w.agent, route, ""); r.status != http.StatusForbidden {
			t.Errorf("%s by an agent: %d %s", route, r.status, r.body)
		}
	}
	var ended struct{ Ended int }
	w.must(http.StatusOK, w.admin, "DELETE /v1/members/ann/sessions", "", &ended)
	if r := w.call("", "GET /v1/whoami", "", "Cookie", ann); ended.Ended != 1 || r.status != http.StatusUnauthorized {
		t.Errorf("%d ended, then %d", ended.Ended, r.status)
	}
	if r := w.call("", "GET /v1/whoami", "", "Cookie", ben); r.status != http.StatusOK {
		t.Errorf("the other one is out, too: %d", r.status)
	}
}

// TestPageOfSomebodyElse checks that a page names its person. If the browser's
// session belongs to another person, the request of the page is refused.
func TestPageOfSomebodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(http.StatusCreated, w.admin, "POST /v1/members", `{"handle":"ben"}`, nil)
	ben := w.signIn("ben")
	if r := w.call("", "GET /v1/whoami", "", "Cookie", ben, "Fermata-Member", "ann"); r.status != http.StatusUnauthorized {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := w.call("", "GET /v1/whoami", "", "Cookie", ben, "Fermata-Member", "ben"); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestGroupsByHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var g fermata.Group
	w.must(http.StatusCreated, w.admin, "POST /v1/groups", `{"name":"on call","members":["ann"]}`, &g)
	w.must(http.StatusOK, w.admin, "PATCH /v1/groups/on%20call", `{"members":["bob"]}`, &g)
	if len(g.Members) != 1 || g.Members[0] != "bob" {
		t.Errorf("%+v", g)
	}
	w.must(http.StatusNoContent, w.admin, "DELETE /v1/groups/on%20call", "", nil)
	var list struct{ Items []fermata.Group }
	w.must(http.StatusOK, w.human, "GET /v1/groups", "", &list)
	if len(list.Items) != 0 {
		t.Errorf("%+v", list)
	}
}
