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
