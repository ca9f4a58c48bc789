package access_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/access"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
)

// provider is an identity provider: discovery, keys, the authorization endpoint
// and the token endpoint, with real signatures. Like a real one, it checks the
// client, the redirect address and PKCE, and that a code is used once.
type provider struct {
	t      *testing.T
	meta   *oidctest.Server
	server *httptest.Server
	key    *ecdsa.PrivateKey

	mu    sync.Mutex
	codes map[string]url.Values
	// claims describe the person who signs in. forge changes the claims before they are signed.
	claims map[string]any
	forge  func(claims map[string]any)
	signer *ecdsa.PrivateKey
	// refuse makes the person refuse the sign-in.
	refuse bool
	// redirectPath is a path that redirects to the address in to.
	redirectPath, redirectTo string
	// scopes are the scopes that the provider supports. askedScopes are the scopes of the last sign-in.
	scopes      []string
	askedScopes string
	// endSession is the address that ends sessions; empty leaves it out.
	endSession string
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{
		t: t, key: key, signer: key, codes: map[string]url.Values{}, forge: func(map[string]any) {},
		claims: map[string]any{"sub": "1", "email": "Ann@example.com", "email_verified": true, "name": "Ann A."},
		meta:   &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k", Algorithm: oidc.ES256}}, Algorithms: []string{oidc.ES256}},
	}
	p.server = httptest.NewServer(p)
	p.meta.SetIssuer(p.server.URL)
	t.Cleanup(p.server.Close)
	return p
}

// ServeHTTP replies to browsers and to the server.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.URL.Path == p.redirectPath {
		http.Redirect(w, r, p.redirectTo, http.StatusTemporaryRedirect)
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		p.discover(w, r)
	case "/auth":
		p.authorize(w, r)
	case "/token":
		p.redeem(w, r)
	default:
		p.meta.ServeHTTP(w, r)
	}
}

func (p *provider) discover(w http.ResponseWriter, r *http.Request) {
	said := httptest.NewRecorder()
	p.meta.ServeHTTP(said, r)
	var document map[string]any
	if err := json.Unmarshal(said.Body.Bytes(), &document); err != nil {
		p.t.Error(err)
	}
	document["scopes_supported"] = p.scopes
	if p.endSession != "" {
		document["end_session_endpoint"] = p.endSession
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(document); err != nil {
		p.t.Error(err)
	}
}

func (p *provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	p.askedScopes = q.Get("scope")
	if q.Get("client_id") != "fermata" || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" ||
		q.Get("nonce") == "" || !strings.Contains(q.Get("scope"), "openid") {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}, "iss": {p.server.URL}, "session_state": {"x.y"}, "custom": {"1"}}
	if p.refuse {
		back.Set("error", "access_denied")
	} else {
		code := rand.Text()
		p.codes[code] = q
		back.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (p *provider) redeem(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	q, ok := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !ok || id != "fermata" || secret != "s3cret" || r.PostFormValue("redirect_uri") != q.Get("redirect_uri") ||
		base64.RawURLEncoding.EncodeToString(sum[:]) != q.Get("code_challenge") {
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	claims := map[string]any{
		"iss": p.server.URL, "aud": "fermata", "nonce": q.Get("nonce"),
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(),
	}
	for k, v := range p.claims {
		claims[k] = v
	}
	p.forge(claims)
	text, err := json.Marshal(claims)
	if err != nil {
		p.t.Error(err)
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(map[string]any{
		"access_token": "a", "token_type": "Bearer", "id_token": oidctest.SignIDToken(p.signer, "k", oidc.ES256, string(text)),
	}); err != nil {
		p.t.Error(err)
	}
}

func withProvider(w *world, c *api.Config) {
	w.idp = newProvider(w.T)
	var err error
	c.OIDC, err = access.NewOIDC(access.OIDCOptions{
		Issuer: w.idp.server.URL, ClientID: "fermata", ClientSecret: "s3cret", Name: "Example", Redirect: w.public + api.OIDCCallbackPath, Engine: w.Engine,
	})
	w.OK(err)
}

// goToProvider goes to the provider and returns the address to which it sends the browser back.
func (b *browser) goToProvider(path string) string {
	b.w.Helper()
	start := b.must(http.StatusSeeOther, "GET /v1/sign-in/oidc/start?return="+url.QueryEscape(path), "")
	return b.must(http.StatusFound, "GET "+start.location, "").location
}

// signInAtProvider does the whole sign-in and returns the path at which it ends.
func (b *browser) signInAtProvider(path string) string {
	b.w.Helper()
	return b.must(http.StatusSeeOther, "GET "+b.goToProvider(path), "", "Sec-Fetch-Site", "cross-site").location
}

func TestIdentityProviderSignsIn(t *testing.T) {
	each(t, withProvider, func(w *world) {
		w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com"})
		b := w.browser()
		if r := b.must(http.StatusOK, "GET /v1/sign-in/methods", ""); !strings.Contains(r.body, `"oidc":{"name":"Example"}`) {
			w.Errorf("%s", r.body)
		}
		if to := b.signInAtProvider("/inbox?type=approval#q"); to != "/inbox?type=approval#q" {
			w.Errorf("went to %q", to)
		}
		b.checkSignedIn("ann", fermata.AssuranceSession)
		if len(b.cookies) != 1 {
			w.Errorf("cookies: %v", b.cookies)
		}
		// After the first sign-in, the subject identifies the member, whatever the address is.
		w.idp.claims["email"] = "changed@example.com"
		other := w.browser()
		other.signInAtProvider("/")
		other.checkSignedIn("ann", fermata.AssuranceSession)
		// The address alone does not make another person ann.
		w.idp.claims["sub"], w.idp.claims["email"] = "2", "ann@example.com"
		thief := w.browser()
		if to := thief.signInAtProvider("/"); to != "/sign-in?problem=unknown" {
			w.Errorf("went to %q", to)
		}
		thief.checkSignedIn("", "")
	})
}

func TestIdentityProviderLetsOnlyMembersIn(t *testing.T) {
	each(t, withProvider, func(w *world) {
		b := w.browser()
		if to := b.signInAtProvider("/"); to != "/sign-in?problem=unknown" {
			w.Errorf("went to %q", to)
		}
		b.checkSignedIn("", "")
		w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com"})
		// An unverified address belongs to nobody, and the page gives this reason.
		for _, verified := range []any{false, "false", nil, 1, "yes"} {
			w.idp.claims["email_verified"] = verified
			if to := b.signInAtProvider("/"); to != "/sign-in?problem=unverified" {
				w.Errorf("%v: went to %q", verified, to)
			}
		}
		delete(w.idp.claims, "email_verified")
		if to := b.signInAtProvider("/"); to != "/sign-in?problem=unverified" {
			w.Errorf("went to %q", to)
		}
		w.idp.claims["email_verified"] = true
		w.change("ann", fermata.MemberChange{Disabled: ptr(true)})
		if to := b.signInAtProvider("/"); to != "/sign-in?problem=unknown" {
			w.Errorf("went to %q", to)
		}
		b.checkSignedIn("", "")
	})
}

// Some providers write the claim as a text, and some leave it out because every address is verified.
func TestIdentityProvidersSayVerifiedInSeveralWays(t *testing.T) {
	each(t, withProvider, func(w *world) {
		w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com"})
		w.idp.claims["email_verified"] = "true"
		b := w.browser()
		b.signInAtProvider("/")
		b.checkSignedIn("ann", fermata.AssuranceSession)
	})
	trusting := func(w *world, c *api.Config) {
		withProvider(w, c)
		c.OIDC.TrustEmail = true
	}
	t.Run("trusted", func(t *testing.T) {
		each(t, trusting, func(w *world) {
			w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com"})
			// If the provider sends the claim, its value counts.
			w.idp.claims["email_verified"] = false
			b := w.browser()
			b.signInAtProvider("/")
			b.checkSignedIn("", "")
			delete(w.idp.claims, "email_verified")
			b.signInAtProvider("/")
			b.checkSignedIn("ann", fermata.AssuranceSession)
		})
	})
}

func withGroups(w *world, c *api.Config) {
	withProvider(w, c)
	c.OIDC.Roles = map[string]string{"staff": "viewer", "platform team": "operator"}
	w.idp.scopes = []string{"openid", "groups"}
}

// At each sign-in, the groups at the provider decide the role of the member.
func TestGroupsOfTheProviderGiveRoles(t *testing.T) {
	each(t, withGroups, func(w *world) {
		w.AddMember(engine.NewMember{Handle: "boss", Role: fermata.RoleAdmin})
		w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com", Role: fermata.RoleAdmin})
		signIn := func(groups any, to string, want fermata.Role) {
			w.Helper()
			w.idp.claims["groups"] = groups
			if got := w.browser().signInAtProvider("/"); got != to {
				w.Errorf("%v: went to %q, want %q", groups, got, to)
			}
			if got := w.role("ann"); got != want {
				w.Errorf("%v: the role is %q, want %q", groups, got, want)
			}
		}
		signIn([]string{"other", "platform team", "staff"}, "/", fermata.RoleOperator)
		signIn("staff", "/", fermata.RoleViewer)
		signIn([]string{"platform team"}, "/", fermata.RoleOperator)
		signIn(7, "/sign-in?problem=unavailable", fermata.RoleOperator)
		signIn([]string{"admin", ""}, "/", fermata.RoleNone)
		signIn(nil, "/", fermata.RoleNone)
		if !strings.Contains(w.idp.askedScopes, "groups") {
			w.Errorf("the scopes were %q", w.idp.askedScopes)
		}
		// The last admin stays an admin.
		admins, viewer := fermata.RoleAdmin, fermata.RoleViewer
		w.change("ann", fermata.MemberChange{Role: &admins})
		w.change("boss", fermata.MemberChange{Role: &viewer})
		signIn([]string{"staff"}, "/", fermata.RoleAdmin)
	})
}

// Only a person who signed in with the provider is told where to sign out there.
func TestSignOutOfTheProvider(t *testing.T) {
	each(t, withProvider, func(w *world) {
		w.idp.endSession = w.idp.server.URL + "/bye?tenant=1"
		w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com"})
		b := w.browser()
		b.signInAtProvider("/")
		var out struct {
			ProviderURL string `json:"provider_url"`
		}
		w.OK(json.Unmarshal([]byte(b.must(http.StatusOK, "POST /v1/sign-out", "").body), &out))
		u, err := url.Parse(out.ProviderURL)
		w.OK(err)
		q := u.Query()
		if !strings.HasPrefix(out.ProviderURL, w.idp.server.URL+"/bye?") || q.Get("tenant") != "1" || q.Get("client_id") != "fermata" ||
			q.Get("post_logout_redirect_uri") != w.public+"/sign-in" {
			w.Errorf("the address is %q", out.ProviderURL)
		}
		b.checkSignedIn("", "")
		other := w.browser()
		other.signIn("ann")
		if r := other.must(http.StatusOK, "POST /v1/sign-out", ""); strings.Contains(r.body, "provider_url") {
			w.Errorf("a sign-out after a link says %s", r.body)
		}
	})
}

// A sign-out address that is missing or not safe is not used.
func TestStrangeSignOutsOfProviders(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "javascript:alert(1)", "http://evil.test/bye", "/bye", "%"} {
		p := newProvider(t)
		p.endSession = address
		o, err := access.NewOIDC(access.OIDCOptions{Issuer: p.server.URL, ClientID: "fermata", Redirect: "https://fermata.example.com/v1/x"})
		if err != nil {
			t.Fatal(err)
		}
		if got := o.SignOutURL(t.Context()); got != "" {
			t.Errorf("%q leads to %q", address, got)
		}
	}
}

func TestRolesOfGroupsAreChecked(t *testing.T) {
	t.Parallel()
	for group, role := range map[string]string{"staff": "boss", "": "viewer", "all": "none", "none": ""} {
		_, err := access.NewOIDC(access.OIDCOptions{Issuer: "https://idp.example.com", ClientID: "fermata", Roles: map[string]string{group: role}})
		if fermata.CodeOf(err) != fermata.CodeInvalidRequest {
			t.Errorf("%q=%q: %v", group, role, err)
		}
	}
}

// An admin can link a member to a subject, whatever the addresses are.
func TestAnAdminLinksASubject(t *testing.T) {
	each(t, withProvider, func(w *world) {
		m := w.AddMember(engine.NewMember{Handle: "ann"})
		_, err := engine.Write(w.Context(), w.Engine, admin, fermata.ToManagePeople, func(tx *store.Tx) (bool, error) {
			tx.SetIdentity(fermata.Identity{Kind: fermata.IdentityOIDC, ID: w.idp.server.URL + " 1", MemberID: m.ID, CreatedAt: tx.Now()})
			return true, nil
		})
		w.OK(err)
		w.idp.claims["email"] = "private@example.net"
		b := w.browser()
		b.signInAtProvider("/")
		b.checkSignedIn("ann", fermata.AssuranceSession)
	})
}

func TestIdentityProviderAcceptsAnInvitation(t *testing.T) {
	each(t, withProvider, func(w *world) {
		l, err := w.Engine.Invite(w.Context(), admin, fermata.NewInvitation{Email: "ann@example.com", Role: fermata.RoleOperator})
		w.OK(err)
		b := w.browser()
		b.signInAtProvider("/")
		b.checkSignedIn("ann", fermata.AssuranceSession)
		if r := w.browser().open(api.LinkURL(w.public, l.Secret)); r.status != http.StatusUnauthorized {
			w.Errorf("the invitation was accepted twice: %d", r.status)
		}
	})
}

// TestForgedIdentity: if anything in the reply is wrong, nobody is signed in.
func TestForgedIdentity(t *testing.T) {
	each(t, withProvider, func(w *world) {
		w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com"})
		for name, forge := range map[string]func(claims map[string]any){
			"nonce":             func(c map[string]any) { c["nonce"] = "other" },
			"no nonce":          func(c map[string]any) { delete(c, "nonce") },
			"audience":          func(c map[string]any) { c["aud"] = "another client" },
			"another program's": func(c map[string]any) { c["aud"], c["azp"] = []string{"fermata", "other"}, "other" },
			"nobody's of two":   func(c map[string]any) { c["aud"] = []string{"fermata", "other"} },
			"one's for us":      func(c map[string]any) { c["azp"] = "other" },
			"issuer":            func(c map[string]any) { c["iss"] = "https://evil.example" },
			"expired":           func(c map[string]any) { c["exp"] = time.Now().Add(-time.Hour).Unix() },
		} {
			w.idp.forge = forge
			b := w.browser()
			if to := b.signInAtProvider("/"); to != "/sign-in?problem=expired" {
				w.Errorf("%s: went to %q", name, to)
			}
			b.checkSignedIn("", "")
		}
		w.idp.forge = func(map[string]any) {}
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		w.OK(err)
		w.idp.signer = key
		b := w.browser()
		if to := b.signInAtProvider("/"); to != "/sign-in?problem=expired" {
			w.Errorf("signature: went to %q", to)
		}
		b.checkSignedIn("", "")
	})
}

// TestCallbackBelongsToItsBrowser: a callback signs nobody in if another
// browser began the flow, if it was used before, or if it was changed.
func TestCallbackBelongsToItsBrowser(t *testing.T) {
	each(t, withProvider, func(w *world) {
		w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com"})
		expired := func(b *browser, back string) {
			w.Helper()
			if to := b.must(http.StatusSeeOther, "GET "+back, "").location; to != "/sign-in?problem=expired" {
				w.Errorf("went to %q", to)
			}
			b.checkSignedIn("", "")
		}
		attacker, victim := w.browser(), w.browser()
		back := attacker.goToProvider("/")
		expired(victim, back)
		victim.goToProvider("/")
		expired(victim, back)

		b := w.browser()
		for change, value := range map[string]string{"state": "other", "iss": "https://evil.example", "code": "guessed"} {
			back := b.goToProvider("/")
			u, err := url.Parse(back)
			w.OK(err)
			q := u.Query()
			q.Set(change, value)
			u.RawQuery = q.Encode()
			expired(b, u.String())
			expired(b, back)
		}
		back = b.goToProvider("/")
		flow := b.cookies["__Host-fermata-flow"]
		b.must(http.StatusSeeOther, "GET "+back, "")
		b.checkSignedIn("ann", fermata.AssuranceSession)
		again := w.browser()
		again.cookies["__Host-fermata-flow"] = flow
		expired(again, back)

		late := w.browser()
		back = late.goToProvider("/")
		w.Clock.Advance(engine.FlowTimeout)
		expired(late, back)
	})
}

func TestIdentityProviderSaysNo(t *testing.T) {
	each(t, withProvider, func(w *world) {
		w.idp.refuse = true
		if to := w.browser().signInAtProvider("/"); to != "/sign-in?problem=cancelled" {
			w.Errorf("went to %q", to)
		}
	})
}

func TestNoOpenRedirect(t *testing.T) {
	each(t, withProvider, func(w *world) {
		for _, path := range []string{
			"https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)", "evil.example", "/\t/evil.example",
			"/%0d%0aSet-Cookie:x\r\n", "http:/evil.example", "///evil.example",
		} {
			w.browser().must(http.StatusBadRequest, "GET /v1/sign-in/oidc/start?return="+url.QueryEscape(path), "")
		}
	})
}

func TestIdentityProviderIsDown(t *testing.T) {
	each(t, withProvider, func(w *world) {
		w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com"})
		b := w.browser()
		back := b.goToProvider("/")
		w.idp.server.Close()
		b.must(http.StatusSeeOther, "GET "+back, "")
		b.checkSignedIn("", "")
	})
	t.Run("from the start", func(t *testing.T) {
		closed := func(w *world, c *api.Config) {
			withProvider(w, c)
			w.idp.server.Close()
		}
		each(t, closed, func(w *world) {
			w.browser().must(http.StatusServiceUnavailable, "GET /v1/sign-in/oidc/start", "")
		})
	})
}

// A redirect to another host is not followed, neither at discovery nor when the code is exchanged.
func TestIdentityProviderRedirectsElsewhere(t *testing.T) {
	for _, path := range []string{"/.well-known/openid-configuration", "/token"} {
		t.Run(path, func(t *testing.T) {
			var visits atomic.Int32
			elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
			t.Cleanup(elsewhere.Close)
			t.Cleanup(func() {
				if n := visits.Load(); n != 0 {
					t.Errorf("the other host was visited %d times", n)
				}
			})
			each(t, withProvider, func(w *world) {
				w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com"})
				w.idp.redirect(path, elsewhere.URL+"/inside")
				b := w.browser()
				if path == "/token" {
					b.must(http.StatusSeeOther, "GET "+b.goToProvider("/"), "")
				} else {
					b.must(http.StatusServiceUnavailable, "GET /v1/sign-in/oidc/start", "")
				}
				b.checkSignedIn("", "")
			})
		})
	}
}

// redirect makes the provider redirect requests for the path to another address.
func (p *provider) redirect(path, to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.redirectPath, p.redirectTo = path, to
}

func TestWithoutAProvider(t *testing.T) {
	each(t, func(*world, *api.Config) {}, func(w *world) {
		for _, call := range []string{"GET /v1/sign-in/oidc/start", "GET /v1/sign-in/oidc/callback"} {
			w.browser().must(http.StatusUnprocessableEntity, call, "")
		}
		w.browser().must(http.StatusUnprocessableEntity, "POST /v1/sign-in/email", `{"email":"a@b.example"}`)
		w.browser().must(http.StatusUnprocessableEntity, "POST /v1/sign-in/passkey/start", "")
	})
}

func TestOIDCOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []access.OIDCOptions{
		{}, {Issuer: "id.example.com", ClientID: "x"}, {Issuer: "http://id.example.com", ClientID: "x"}, {Issuer: "https://id.example.com"},
	} {
		if _, err := access.NewOIDC(o); fermata.CodeOf(err) != fermata.CodeInvalidRequest {
			t.Errorf("%+v: %v", o, err)
		}
	}
	o, err := access.NewOIDC(access.OIDCOptions{Issuer: "https://id.example.com/realm", ClientID: "x"})
	if err != nil || o.DisplayName() != "id.example.com" {
		t.Errorf("%v %v", o, err)
	}
}
