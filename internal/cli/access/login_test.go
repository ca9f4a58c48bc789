package access_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/config"
	"github.com/fermata-hq/fermata/test/patience"
)

func TestLoginIsForOneServer(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", filepath.Join(t.TempDir(), "home"))
	secret := fermata.NewSecret()
	shown := make(chan string, 8)
	serve := func() string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			shown <- r.Header.Get("Authorization")
			if r.Header.Get("Authorization") == "" {
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = w.Write([]byte(`{"code":"unauthenticated","detail":"a token is needed","hint":"send one"}`))
				return
			}
			_ = json.NewEncoder(w).Encode(client.Whoami{Name: "anna", Workspace: "default"})
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	one, other := serve(), serve()

	if code, _, talk := clitest.Run(t, secret+"\n", "login", "--url", one); code != session.ExitOK || !strings.Contains(talk, "signed in as anna") {
		t.Fatalf("login: got %d\n%s", code, talk)
	}
	if got := patience.Receive(t, "a request comes", shown); got != "Bearer "+secret {
		t.Errorf("login showed %q", got)
	}
	if code, _, _ := clitest.Run(t, "", "list"); code != session.ExitOK {
		t.Errorf("list: got %d", code)
	}
	if got := patience.Receive(t, "a request comes", shown); got != "Bearer "+secret {
		t.Errorf("list showed %q", got)
	}
	code, _, talk := clitest.Run(t, "", "list", "--url", other)
	if code != session.ExitNotAllowed || !strings.Contains(talk, "fermata login") {
		t.Errorf("another server: got %d\n%s", code, talk)
	}
	if got := patience.Receive(t, "a request comes", shown); got != "" {
		t.Errorf("another server was shown %q", got)
	}
	if code, _, _ := clitest.Run(t, "", "login", "--url", one); code != session.ExitUsage {
		t.Errorf("no token: got %d, want 2", code)
	}
	if code, _, _ := clitest.Run(t, secret[:20]+"\n", "login", "--url", one); code != session.ExitNotAllowed {
		t.Errorf("a damaged token: got %d, want 4", code)
	}
}

// A stored token is removed for one server; the others keep theirs.
func TestLogout(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	path, err := config.LoginPath()
	if err != nil {
		t.Fatal(err)
	}
	if err := (config.Login{}).WithToken("http://one", "a").WithToken("http://two", "b").Save(path); err != nil {
		t.Fatal(err)
	}
	if code, _, talk := clitest.Run(t, "", "logout"); code != session.ExitOK || !strings.Contains(talk, "the token for http://two was removed from "+path) {
		t.Errorf("got %d\n%s", code, talk)
	}
	if login, err := config.LoadLogin(path); err != nil || login.Token("http://one") != "a" || login.Token("http://two") != "" {
		t.Errorf("stored are %+v, %v", login, err)
	}
	if code, _, talk := clitest.Run(t, "", "logout"); code != session.ExitNotFound || !strings.Contains(talk, "no token is stored for http://two") {
		t.Errorf("again: got %d\n%s", code, talk)
	}
	if code, _, talk := clitest.Run(t, "", "logout", "--url", "http://one/"); code != session.ExitOK {
		t.Errorf("another server: got %d\n%s", code, talk)
	}
}
