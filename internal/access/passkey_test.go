package access_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/access"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/engine"
)

func withPasskeys(w *world, c *api.Config) {
	host, origin := access.PasskeyHost(w.public)
	var err error
	c.Passkeys, err = access.NewPasskeys(w.Engine, host, origin)
	w.OK(err)
	w.origin = origin
}

// localBrowser returns a browser that opens the server by the name of this machine, at
// which passkeys work.
func (w *world) localBrowser() *browser {
	b := w.browser()
	b.host = strings.TrimPrefix(w.origin, "http://")
	return b
}

func (b *browser) addPasskey(a *authenticator) reply {
	b.w.Helper()
	return b.call("POST /v1/passkeys/finish", a.create(b.must(http.StatusOK, "POST /v1/passkeys/start", "").body))
}

func (b *browser) usePasskey(a *authenticator) reply {
	b.w.Helper()
	return b.call("POST /v1/sign-in/passkey/finish", a.get(b.must(http.StatusOK, "POST /v1/sign-in/passkey/start", "").body))
}

// addMemberWithPasskey adds a member with a passkey.
func (w *world) addMemberWithPasskey(handle string) *authenticator {
	w.Helper()
	w.AddMember(engine.NewMember{Handle: handle})
	b, a := w.localBrowser(), newAuthenticator(w.T, w.origin)
	b.signIn(handle)
	if r := b.addPasskey(a); r.status != http.StatusCreated {
		w.Fatalf("%d %s", r.status, r.body)
	}
	return a
}

func TestPasskeySignsIn(t *testing.T) {
	each(t, withPasskeys, func(w *world) {
		a, b := w.addMemberWithPasskey("ann"), w.localBrowser()
		if r := b.must(http.StatusOK, "GET /v1/sign-in/methods", ""); !strings.Contains(r.body, `"passkey":true`) {
			w.Errorf("%s", r.body)
		}
		for range 3 {
			if r := b.usePasskey(a); r.status != http.StatusOK {
				w.Fatalf("%d %s", r.status, r.body)
			}
			b.checkSignedIn("ann", fermata.AssurancePasskey)
		}
		var list struct{ Items []fermata.Passkey }
		r := b.must(http.StatusOK, "GET /v1/passkeys", "")
		w.OK(json.Unmarshal([]byte(r.body), &list))
		if len(list.Items) != 1 || list.Items[0].LastUsedAt == nil || strings.Contains(r.body, encodeBase64(a.id)) {
			w.Errorf("%s", r.body)
		}
		// An answer in this session has the assurance of a passkey.
		q, err := w.Engine.AskExternal(w.Context(), coder, "", "", fermata.Ask{Question: "go?"})
		w.OK(err)
		r = b.must(http.StatusOK, "POST /v1/questions/"+q.ID+"/answer", `{"answer":"yes"}`)
		if !strings.Contains(r.body, `"assurance":"passkey"`) {
			w.Errorf("%s", r.body)
		}
	})
}

// TestForgedPasskey: a signature must be by the key, for this site, on this
// page, for this sign-in, and by a person whom the device recognised. Otherwise
// it is refused.
func TestForgedPasskey(t *testing.T) {
	each(t, withPasskeys, func(w *world) {
		good := w.addMemberWithPasskey("ann")
		other := w.addMemberWithPasskey("bob")
		refused := func(name string, change func(a *authenticator)) {
			w.Helper()
			a, b := *good, w.localBrowser()
			change(&a)
			if r := b.usePasskey(&a); r.status != http.StatusUnauthorized {
				w.Errorf("%s: %d %s", name, r.status, r.body)
			}
			b.checkSignedIn("", "")
		}
		refused("another page", func(a *authenticator) { a.origin = "https://evil.example" })
		refused("another site", func(a *authenticator) { a.rp = "evil.example" })
		refused("a person who is not known", func(a *authenticator) { a.flags = present })
		refused("nobody there", func(a *authenticator) { a.flags = verified })
		refused("another key", func(a *authenticator) { a.key = other.key })
		refused("another member", func(a *authenticator) { a.handle = other.handle })
		refused("nobody's handle", func(a *authenticator) { a.handle = []byte("mem_none") })
		refused("an unknown key", func(a *authenticator) { a.id = []byte("none") })

		// A signature works once, and only for its own sign-in.
		b := w.localBrowser()
		signed := good.get(b.must(http.StatusOK, "POST /v1/sign-in/passkey/start", "").body)
		flow := b.cookies["__Host-fermata-flow"]
		thief := w.localBrowser()
		thief.must(http.StatusOK, "POST /v1/sign-in/passkey/start", "")
		thief.must(http.StatusUnauthorized, "POST /v1/sign-in/passkey/finish", signed)
		w.localBrowser().must(http.StatusUnauthorized, "POST /v1/sign-in/passkey/finish", signed)
		b.must(http.StatusOK, "POST /v1/sign-in/passkey/finish", signed)
		again := w.localBrowser()
		again.cookies["__Host-fermata-flow"] = flow
		again.must(http.StatusUnauthorized, "POST /v1/sign-in/passkey/finish", signed)

		// A counter that goes back means that there is a copy of the passkey.
		copied := *good
		if r := w.localBrowser().usePasskey(good); r.status != http.StatusOK {
			w.Fatalf("%d %s", r.status, r.body)
		}
		copied.counter = 0
		if r := w.localBrowser().usePasskey(&copied); r.status != http.StatusUnauthorized {
			w.Errorf("a copy: %d", r.status)
		}
		for _, body := range []string{`{}`, `{"credential":{}}`, `{"credential":"x"}`, `{"credential":null}`} {
			b := w.localBrowser()
			b.must(http.StatusOK, "POST /v1/sign-in/passkey/start", "")
			if r := b.call("POST /v1/sign-in/passkey/finish", body); r.status != http.StatusUnauthorized && r.status != http.StatusBadRequest {
				w.Errorf("%s: %d %s", body, r.status, r.body)
			}
		}
	})
}

// TestPasskeyIsNoWayUp: a person with a weaker sign-in cannot give themselves
// the strongest one.
func TestPasskeyIsNoWayUp(t *testing.T) {
	each(t, withPasskeys, func(w *world) {
		a := w.addMemberWithPasskey("ann")
		weak := w.localBrowser()
		weak.signIn("ann")
		weak.must(http.StatusForbidden, "POST /v1/passkeys/start", "")
		var list struct{ Items []fermata.Passkey }
		w.OK(json.Unmarshal([]byte(weak.must(http.StatusOK, "GET /v1/passkeys", "").body), &list))
		id := list.Items[0].ID
		weak.must(http.StatusForbidden, "DELETE /v1/passkeys/"+id, "")

		w.AddMember(engine.NewMember{Handle: "bob"})
		other := w.localBrowser()
		other.signIn("bob")
		other.must(http.StatusNotFound, "DELETE /v1/passkeys/"+id, "")
		token, err := w.Engine.CreateToken(w.Context(), admin, fermata.NewToken{Name: "t", Member: "bob", Scopes: []fermata.Scope{fermata.ScopeAnswer}})
		w.OK(err)
		w.localBrowser().must(http.StatusForbidden, "POST /v1/passkeys/start", "", "Authorization", "Bearer "+token.Secret)
		// A sign-in that is not fresh is not enough either.
		w.Clock.Advance(fermata.FreshSignInLifetime)
		// Every change of a member empties the server's cache of callers.
		w.change("bob", fermata.MemberChange{Name: ptr("B")})
		other.checkSignedIn("bob", fermata.AssuranceChannel)
		other.must(http.StatusForbidden, "POST /v1/passkeys/start", "")

		strong := w.localBrowser()
		strong.usePasskey(a)
		second := newAuthenticator(w.T, w.origin)
		if r := strong.addPasskey(second); r.status != http.StatusCreated {
			w.Errorf("%d %s", r.status, r.body)
		}
		strong.must(http.StatusNoContent, "DELETE /v1/passkeys/"+id, "")
		if r := w.localBrowser().usePasskey(a); r.status != http.StatusUnauthorized {
			w.Errorf("a removed passkey: %d", r.status)
		}
	})
}

// TestForgedRegistration: a passkey that a person did not create on a page of this server is refused.
func TestForgedRegistration(t *testing.T) {
	each(t, withPasskeys, func(w *world) {
		w.AddMember(engine.NewMember{Handle: "ann"})
		b := w.localBrowser()
		b.signIn("ann")
		for name, change := range map[string]func(a *authenticator){
			"another page":            func(a *authenticator) { a.origin = "https://evil.example" },
			"nobody knows who":        func(a *authenticator) { a.flags = present },
			"nobody touched anything": func(a *authenticator) { a.flags = verified },
		} {
			a := newAuthenticator(w.T, w.origin)
			change(a)
			if r := b.addPasskey(a); r.status != http.StatusUnauthorized {
				w.Errorf("%s: %d %s", name, r.status, r.body)
			}
		}
		a := newAuthenticator(w.T, w.origin)
		made := a.create(b.must(http.StatusOK, "POST /v1/passkeys/start", "").body)
		// A ceremony that one member began cannot be ended by another.
		w.AddMember(engine.NewMember{Handle: "bob"})
		other := w.localBrowser()
		other.signIn("bob")
		other.cookies["__Host-fermata-flow"] = b.cookies["__Host-fermata-flow"]
		other.must(http.StatusUnauthorized, "POST /v1/passkeys/finish", made)
		b.must(http.StatusUnauthorized, "POST /v1/passkeys/finish", made)
	})
}

func TestPasskeyOfADisabledMember(t *testing.T) {
	each(t, withPasskeys, func(w *world) {
		a := w.addMemberWithPasskey("ann")
		w.change("ann", fermata.MemberChange{Disabled: ptr(true)})
		if r := w.localBrowser().usePasskey(a); r.status != http.StatusUnauthorized {
			w.Errorf("%d %s", r.status, r.body)
		}
	})
}

// TestPasskeyNeedsTheName: at another address of the server, no ceremony
// begins.
func TestPasskeyNeedsTheName(t *testing.T) {
	each(t, withPasskeys, func(w *world) {
		b := w.browser()
		if r := b.must(http.StatusOK, "GET /v1/sign-in/methods", ""); !strings.Contains(r.body, `"passkey":false`) {
			w.Errorf("%s", r.body)
		}
		b.must(http.StatusUnprocessableEntity, "POST /v1/sign-in/passkey/start", "")
	})
}

func TestPasskeyHost(t *testing.T) {
	t.Parallel()
	for public, want := range map[string][2]string{
		"https://fermata.example.com": {"fermata.example.com", "https://fermata.example.com"},
		"https://box.example:8443":    {"box.example", "https://box.example:8443"},
		"http://127.0.0.1:7433":       {"localhost", "http://localhost:7433"},
		"http://localhost:7433":       {"localhost", "http://localhost:7433"},
		"http://box.lan:7433":         {},
		"https://192.0.2.1":           {},
		"":                            {},
	} {
		if host, origin := access.PasskeyHost(public); host != want[0] || origin != want[1] {
			t.Errorf("%q: %q %q", public, host, origin)
		}
	}
}
