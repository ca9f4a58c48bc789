package access_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/access"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/checkpoint"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var admin = testkit.Admin

// world is a whole server, which people open at public.
type world struct {
	testkit.World
	server *httptest.Server
	public string
	// publicKey is the public key of the audit.
	publicKey string

	// Services outside the server that some tests need.
	smtpServer *smtpServer
	logLines   logLines
	idp        *provider
	origin     string
}

// each runs a test on both databases. With configures how people sign in.
func each(t *testing.T, with func(w *world, c *api.Config), test func(w *world)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := &world{World: testkit.New(t, opts)}
		signer, err := checkpoint.NewSigner(w.DB.Keys().AuditSigner())
		w.OK(err)
		w.Engine, w.publicKey = engine.New(w.DB, engine.Options{Signer: signer}), signer.PublicKey()
		w.server = httptest.NewUnstartedServer(nil)
		w.public = "http://" + w.server.Listener.Addr().String()
		c := api.Config{Engine: w.Engine, Version: "test", PublicURL: w.public}
		with(w, &c)
		w.server.Config.Handler = api.New(c)
		w.server.Start()
		t.Cleanup(w.server.Close)
		test(w)
	})
}

func (w *world) change(handle string, ch fermata.MemberChange) {
	w.Helper()
	_, err := w.Engine.ChangeMember(w.Context(), admin, handle, ch)
	w.OK(err)
}

func (w *world) role(handle string) fermata.Role {
	w.Helper()
	members, err := w.Engine.Members(w.Context(), admin)
	w.OK(err)
	for _, m := range members {
		if m.Handle == handle {
			return m.Role
		}
	}
	w.Fatalf("%s is no member", handle)
	return ""
}

// browser keeps cookies as a real one does, and marks its requests as coming
// from the server's own pages.
type browser struct {
	w       *world
	cookies map[string]string
	host    string
}

func (w *world) browser() *browser {
	return &browser{w: w, cookies: map[string]string{}, host: strings.TrimPrefix(w.public, "http://")}
}

// reply is the reply to a call.
type reply struct {
	status   int
	location string
	body     string
}

// call sends a request, such as "GET /v1/whoami", and keeps the cookies.
func (b *browser) call(call, body string, headers ...string) reply {
	b.w.Helper()
	method, path, _ := strings.Cut(call, " ")
	if strings.HasPrefix(path, "/") {
		path = b.w.public + path
	}
	req, err := http.NewRequestWithContext(b.w.Context(), method, path, strings.NewReader(body))
	b.w.OK(err)
	if strings.HasPrefix(path, b.w.public) {
		req.Host = b.host
		for name, value := range b.cookies {
			req.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	b.w.OK(err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	b.w.OK(err)
	for _, c := range res.Cookies() {
		if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || !strings.HasPrefix(c.Name, "__Host-") {
			b.w.Errorf("cookie %+v", c)
		}
		b.cookies[c.Name] = c.Value
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return reply{res.StatusCode, res.Header.Get("Location"), string(data)}
}

// must makes a call and checks the status of the reply.
func (b *browser) must(status int, call, body string, headers ...string) reply {
	b.w.Helper()
	r := b.call(call, body, headers...)
	if r.status != status {
		b.w.Fatalf("%s: %d %s, want %d", call, r.status, r.body, status)
	}
	return r
}

// me returns the name and assurance of the signed-in member, or "".
func (b *browser) me() (name string, known fermata.Assurance) {
	b.w.Helper()
	r := b.call("GET /v1/whoami", "")
	if r.status == http.StatusUnauthorized {
		return "", ""
	}
	var who struct {
		Name      string
		Assurance fermata.Assurance
	}
	b.w.OK(json.Unmarshal([]byte(r.body), &who))
	return who.Name, who.Assurance
}

func (b *browser) checkSignedIn(name string, known fermata.Assurance) {
	b.w.Helper()
	if n, k := b.me(); n != name || k != known {
		b.w.Errorf("signed in as %q, known by %q; want %q, %q", n, k, name, known)
	}
}

// open signs in with a link, as the page does.
func (b *browser) open(link string) reply {
	b.w.Helper()
	secret, ok := strings.CutPrefix(link, b.w.public+"/sign-in#")
	if !ok {
		b.w.Fatalf("the link is %q", link)
	}
	return b.call("POST /v1/sign-in/link", `{"token":"`+secret+`"}`)
}

// signIn signs a member in with a link of an admin.
func (b *browser) signIn(handle string) {
	b.w.Helper()
	l, err := b.w.Engine.MakeLink(b.w.Context(), admin, handle)
	b.w.OK(err)
	if r := b.open(api.LinkURL(b.w.public, l.Secret)); r.status != http.StatusOK {
		b.w.Fatalf("%d %s", r.status, r.body)
	}
}

var _ api.Mailer = (*access.Mailer)(nil)
