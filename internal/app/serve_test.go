package app

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/config"
)

// A server that cannot start creates no key and no database, and prints no address.
func TestServeChecksBeforeItMakesAnything(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	for want, c := range map[string]config.Server{
		"invalid_request: the worker has nothing to run":             {Workers: 1},
		"invalid_request: the runner acp has nothing to run":         {Workers: 1, Agents: config.Agents{Runners: []string{"acp"}}},
		"invalid_request: --workdir: ":                               {Workers: 1, WorkDir: "/no/such/folder", Agents: config.Agents{Command: []string{"true"}}},
		"invalid_request: the agent program cannot be run: ":         {Workers: 1, Agents: config.Agents{Runners: []string{"claude"}, Program: "no-such-program"}},
		"invalid_request: --isolate-read, --isolate-write and":       {Workers: 1, Agents: config.Agents{Command: []string{"true"}, Isolation: config.Isolation{Offline: true}}},
		"invalid_request: --trusted-proxies: \"nope\" is no network": {TrustedProxies: []string{"nope"}},
		"invalid_request: --allow-networks: \"nope\" is no network":  {AllowNetworks: []string{"nope"}},
		"unavailable: listen at " + busy.Addr().String() + ": ":      {Listen: busy.Addr().String()},
	} {
		var out strings.Builder
		folder := t.TempDir()
		c.Listen, c.Data = cmp.Or(c.Listen, "127.0.0.1:0"), filepath.Join(folder, "data")
		ctx, cancel := context.WithCancel(t.Context())
		err := Serve(ctx, ServeOptions{Server: c, Log: slog.New(slog.DiscardHandler), Out: &out, Ready: func(RunningServer) { cancel() }})
		cancel()
		var e *fermata.Error
		if !errors.As(err, &e) || e.Hint == "" || !strings.HasPrefix(string(e.Code)+": "+e.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		made, err := os.ReadDir(folder)
		if err != nil || len(made) > 0 || out.Len() > 0 {
			t.Errorf("%s: it made %v and printed %q, %v", want, made, out.String(), err)
		}
	}
}

// The server has its built-in channels before it answers the first request.
func TestTheFirstRequestFindsItsChannel(t *testing.T) {
	t.Parallel()
	options := ServeOptions{
		Server:  config.Server{Listen: "127.0.0.1:0", Storage: config.Storage{Data: t.TempDir()}, SingleUser: true},
		Version: "test", Log: slog.New(slog.DiscardHandler), Out: io.Discard,
	}
	err := withServer(t.Context(), options, func(ctx context.Context, s RunningServer) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/push/key", nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		if res.StatusCode != http.StatusOK {
			t.Errorf("the key for push messages: %s", res.Status)
		}
		return res.Body.Close()
	})
	if err != nil {
		t.Error(err)
	}
}
