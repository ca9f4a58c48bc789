package channel_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/fermata-hq/fermata/internal/cli/clitest"
)

// newChannelServer returns the address of a server with one webhook channel. The server generates a secret and a key
// pair for the channel whenever a caller writes its settings.
func newChannelServer(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		settings := map[string]any{"url": "https://example.com/", "retries": 3, "events": []string{"*"}, "ed25519_public_key": "whpk_old"}
		if r.Method != http.MethodGet {
			settings["secret"], settings["ed25519_public_key"] = "whsec_made", "whpk_new"
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"name": "audit", "kind": "webhook", "enabled": true, "settings": settings})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// The server shows generated values only once, so the command prints them even if the caller named the setting.
func TestSettingsThatTheServerMakesArePrinted(t *testing.T) {
	t.Parallel()
	url := newChannelServer(t)
	const made = "ed25519_public_key=whpk_new\nsecret=whsec_made\n"
	for name, args := range map[string][]string{
		"a new channel":            {"add", "webhook", "audit", "url=https://example.com/", "events=[\"*\"]", "-f", "-"},
		"a new one that asks":      {"add", "webhook", "audit", "url=https://example.com/", "events=[\"*\"]", "secret=generate", "-f", "-"},
		"a changed one":            {"set", "audit", "url=https://example.com/"},
		"a changed one that asks":  {"set", "audit", "secret=generate"},
		"a changed one, by a file": {"set", "audit", "secret=generate", "-f", "-"},
	} {
		code, out, talk := clitest.Run(t, `{"retries": 3}`, append([]string{"--url", url, "channel"}, args...)...)
		if code != 0 || out != made {
			t.Errorf("%s: exit code %d, it printed %q and %q, want %q", name, code, out, talk, made)
		}
	}
	code, out, talk := clitest.Run(t, "", "--url", url, "channel", "set", "audit", "secret=whsec_made")
	if code != 0 || out != "ed25519_public_key=whpk_new\n" {
		t.Errorf("a secret that the caller gave: exit code %d, it printed %q and %q", code, out, talk)
	}
}
