package api_test

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/api"
)

// A refused call is logged with its address and path, and without a secret. No caller can fill the log in this way.
func TestRefusedCallsAreLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := newWorld(t, func(c *api.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
		c.Limits.Failed = api.Rate{PerSecond: 0.000001, Burst: 2}
	})
	call := func(token, call, from, origin string) (line string) {
		t.Helper()
		log.Reset()
		method, path, _ := strings.Cut(call, " ")
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		r.Host, r.RemoteAddr = "127.0.0.1", "192.0.2.1:1"
		r.Header.Set("X-Forwarded-For", from)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		reply := httptest.NewRecorder()
		w.api.ServeHTTP(reply, r)
		if got := reply.Header().Get("Content-Security-Policy"); strings.HasPrefix(path, "/v1/") && got != "default-src 'none'; frame-ancestors 'none'" {
			t.Errorf("%s: the policy is %q", call, got)
		}
		return log.String()
	}
	secret := fermata.NewSecret()
	for _, tt := range []struct {
		name, token, call, from, origin string
		parts                           []string
	}{
		{"a wrong token", secret, "GET /v1/tasks", "203.0.113.1", "", []string{"status=401", "address=203.0.113.1", "path=/v1/tasks", "method=GET"}},
		{"no token", "", "GET /v1/tasks", "203.0.113.2", "", []string{"status=401", "address=203.0.113.2"}},
		{"a scope that is missing", w.agent, "GET /v1/invitations", "203.0.113.3", "", []string{"status=403", "address=203.0.113.3", "token=tok_"}},
		{"another site", "", "POST /v1/tasks", "203.0.113.4", "https://evil.test", []string{"status=403", "address=203.0.113.4"}},
		{"a link", "", "GET /a/" + secret, "203.0.113.5", "", nil},
	} {
		line := call(tt.token, tt.call, tt.from, tt.origin)
		for _, part := range tt.parts {
			if !strings.Contains(line, part) {
				t.Errorf("%s: %q holds no %s", tt.name, line, part)
			}
		}
		if strings.Contains(line, secret) {
			t.Errorf("%s: the log holds the secret: %q", tt.name, line)
		}
	}
	if line := call(w.agent, "GET /v1/tasks", "203.0.113.6", ""); line != "" {
		t.Errorf("a call that was taken is logged: %q", line)
	}
	lines := 0
	for range 20 {
		lines += strings.Count(call(secret, "GET /"+strings.Repeat("long/", 1000), "203.0.113.7", ""), "\n")
		if log.Len() > 1000 {
			t.Errorf("a line has %d bytes", log.Len())
		}
	}
	if lines > 2 {
		t.Errorf("%d lines are written for one address", lines)
	}
}
