package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/outbound"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/tool/mcp"
)

// onBothTransports runs a test with the server as a program, and with the server at a URL.
func onBothTransports(t *testing.T, test func(t *testing.T, set *mcp.Set)) {
	t.Helper()
	t.Run("program", func(t *testing.T) {
		t.Parallel()
		test(t, open(t, map[string]mcp.Server{"tracker": program("yes")}))
	})
	t.Run("address", func(t *testing.T) {
		t.Parallel()
		r := newRemote(t)
		test(t, open(t, map[string]mcp.Server{"tracker": {URL: r.URL, Headers: map[string]string{"authorization": "Bearer sesame"}}}))
	})
}

func TestListAndCall(t *testing.T) {
	t.Parallel()
	onBothTransports(t, func(t *testing.T, set *mcp.Set) {
		tools, problems := set.Tools(t.Context())
		create := tools["tracker.create_issue"]
		if len(problems) > 0 || create == nil || len(tools) != 10 {
			t.Fatalf("got %d tools, %v", len(tools), problems)
		}
		info := create.Info()
		if info.Description != "Makes an issue." || !strings.Contains(string(info.Input), `"title"`) || len(info.Output) == 0 {
			t.Errorf("got %+v", info)
		}
		r, err := create.Call(t.Context(), tool.Call{Input: map[string]any{"id": 12, "title": "It sticks"}})
		if diff := cmp.Diff(map[string]any{"id": 12, "title": "It sticks"}, r.Output); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		r, err = call(t, set, "tracker.key", nil)
		if r.Output != "run/step/1" || err != nil || !strings.Contains(r.Note, "an image") {
			t.Errorf("got %+v %v", r, err)
		}
	})
}

func TestFailures(t *testing.T) {
	t.Parallel()
	onBothTransports(t, func(t *testing.T, set *mcp.Set) {
		_, err := call(t, set, "tracker.refuse", nil)
		wantFailure(t, err, false, "tracker.refuse: the tracker is read-only today")
		_, err = call(t, set, "tracker.nothing", nil)
		wantFailure(t, err, true, "nothing", "MCP server tracker")
		_, err = call(t, set, "tracker.create_issue", map[string]any{"id": "twelve", "title": "x"})
		wantFailure(t, err, false, "id")
		_, err = call(t, set, "tracker.large", nil)
		wantFailure(t, err, true, "more than 1 MiB")
	})
}

func TestConnectionIsUsedAgain(t *testing.T) {
	t.Parallel()
	set := open(t, map[string]mcp.Server{"tracker": program("yes")})
	var mu sync.Mutex
	seen := map[any]bool{}
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			r, err := call(t, set, "tracker.process", nil)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			seen[r.Output] = true
		})
	}
	callers.Wait()
	if len(seen) != 1 {
		t.Errorf("%d programs were started", len(seen))
	}
}

func TestCloseEndsThePrograms(t *testing.T) {
	t.Parallel()
	set := open(t, map[string]mcp.Server{"tracker": program("yes")})
	r, err := call(t, set, "tracker.process", nil)
	if err != nil {
		t.Fatal(err)
	}
	set.Close()
	if err := syscall.Kill(number(t, r.Output), 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the program is still there: %v", err)
	}
}

func number(t *testing.T, v any) int {
	t.Helper()
	n, err := tool.Decode([]byte(v.(string)))
	if err != nil {
		t.Fatal(err)
	}
	return n.(int)
}

func TestProgramThatDies(t *testing.T) {
	t.Parallel()
	set := open(t, map[string]mcp.Server{"tracker": program("yes")})
	_, err := call(t, set, "tracker.crash", nil)
	wantFailure(t, err, false, "the MCP server tracker is down", "out of ink", "start it by hand")
	if _, err := call(t, set, "tracker.key", nil); err != nil {
		t.Errorf("the next call gave %v", err)
	}
}

func TestProgramThatDoesNotStart(t *testing.T) {
	t.Parallel()
	set := open(t, map[string]mcp.Server{"tracker": program("broken"), "gone": {Command: []string{"no-such-program-here"}}})
	_, err := call(t, set, "tracker.key", nil)
	wantFailure(t, err, false, "tracker is down", "cannot open the ledger")
	_, err = call(t, set, "gone.key", nil)
	wantFailure(t, err, false, "gone is down", "not found")
	tools, problems := set.Tools(t.Context())
	if len(tools) != 0 || len(problems) != 2 {
		t.Errorf("got %v %v", tools, problems)
	}
}

// Up to protocol version 2025-11-25, a server has sessions and may forget them.
func TestServerThatForgotTheSession(t *testing.T) {
	t.Parallel()
	r := newRemote(t, "2025-11-25")
	set := open(t, map[string]mcp.Server{"tracker": {URL: r.URL, Headers: map[string]string{"Authorization": "Bearer sesame"}}})
	for range 3 {
		if _, err := call(t, set, "tracker.key", nil); err != nil {
			t.Error(err)
		}
		r.restart()
	}
	if _, problems := set.Tools(t.Context()); len(problems) > 0 {
		t.Error(problems)
	}
}

func TestAddressThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	url := r.URL
	set := open(t, map[string]mcp.Server{"tracker": {URL: url + "/?secret=1"}, "denied": {URL: url}})
	_, err := call(t, set, "denied.key", nil)
	wantFailure(t, err, true, "denied is down", "headers of denied")
	r.Close()
	_, err = call(t, set, "tracker.key", nil)
	wantFailure(t, err, false, "tracker is down", "check that it runs at 127.0.0.1")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the failure tells the address: %v", err)
	}
}

// A server that goes away between two calls is reported as down. The call did not reach it, and is safe to retry.
func TestServerThatGoesAway(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	set := open(t, map[string]mcp.Server{"tracker": {URL: r.URL + "/?secret=1", Headers: map[string]string{"Authorization": "Bearer sesame"}}})
	if _, err := call(t, set, "tracker.key", nil); err != nil {
		t.Fatal(err)
	}
	r.Close()
	for range 2 {
		_, err := call(t, set, "tracker.key", nil)
		wantFailure(t, err, false, "the MCP server tracker is down", "check that it runs at 127.0.0.1")
		if strings.Contains(err.Error(), "secret") || !tool.IsSafeToRetry(err) || fermata.CodeOf(err) != fermata.CodeUnavailable {
			t.Errorf("got %v", err)
		}
	}
}

// The annotations of a server decide which of its tools are idempotent.
func TestToolsThatAreIdempotent(t *testing.T) {
	t.Parallel()
	set := open(t, map[string]mcp.Server{"tracker": program("yes")})
	tools, problems := set.Tools(t.Context())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for name, want := range map[string]bool{"tracker.create_issue": false, "tracker.look": true, "tracker.close": true, "tracker.key": false} {
		if got := tools[name].Info().Idempotent; got != want {
			t.Errorf("%s is idempotent: %t, want %t", name, got, want)
		}
	}
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	set, err := mcp.New(map[string]mcp.Server{"tracker": {URL: r.URL}, "local": program("yes")}, mcp.Options{HTTP: outbound.Client(outbound.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	_, err = call(t, set, "tracker.key", nil)
	wantFailure(t, err, true, "tracker", "--allow-networks")
	_, err = call(t, set, "local.key", nil)
	wantFailure(t, err, true, "MCP server local", "not allowed")
}

func TestTheStepsTimeEndsTheCall(t *testing.T) {
	t.Parallel()
	onBothTransports(t, func(t *testing.T, set *mcp.Set) {
		if _, err := call(t, set, "tracker.key", nil); err != nil {
			t.Fatal(err)
		}
		late := errors.New("the step took too long")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, late)
		defer cancel()
		one, _ := set.Tool("tracker.wait")
		if _, err := one.Call(ctx, tool.Call{}); !errors.Is(err, late) {
			t.Errorf("got %v", err)
		}
		if _, err := call(t, set, "tracker.key", nil); err != nil {
			t.Errorf("the next call gave %v", err)
		}
	})
}

// This test changes the environment of the process, so it does not run in parallel.
func TestValuesFromTheEnvironment(t *testing.T) {
	t.Setenv("TRACKER", "Bearer sesame")
	r := newRemote(t)
	local := program("yes")
	local.Env["TRACKER_TOKEN"] = "env:TRACKER"
	set := open(t, map[string]mcp.Server{
		"remote": {URL: r.URL, Headers: map[string]string{"Authorization": "env:TRACKER"}}, "local": local,
		"missing": {URL: r.URL, Headers: map[string]string{"Authorization": "env:TRACKER_MISSING"}},
	})
	if _, err := call(t, set, "remote.key", nil); err != nil {
		t.Error(err)
	}
	if got, err := call(t, set, "local.variable", nil); got.Output != "Bearer sesame" {
		t.Errorf("got %v %v", got.Output, err)
	}
	_, err := call(t, set, "missing.key", nil)
	wantFailure(t, err, true, "MCP server missing", "no environment variable TRACKER_MISSING")
}

func TestCheckNamesEveryProblem(t *testing.T) {
	t.Parallel()
	_, err := mcp.New(map[string]mcp.Server{
		"Big": {URL: "https://example.com"}, "none": {}, "two": {URL: "https://example.com", Command: []string{"x"}},
		"odd": {URL: "ftp://example.com", Headers: map[string]string{"a b": "c"}}, "var": {Command: []string{"x"}, Env: map[string]string{"A=B": "c"}},
	}, mcp.Options{HTTP: http.DefaultClient})
	var fields []string
	for _, p := range problemsOf(t, err) {
		fields = append(fields, p.Field)
	}
	want := []string{"mcp_servers.Big", "mcp_servers.none", "mcp_servers.odd.headers", "mcp_servers.odd.url", "mcp_servers.two", "mcp_servers.var.env"}
	if !slices.Equal(fields, want) {
		t.Errorf("got %v, want %v", fields, want)
	}
}

func TestToolsOfOtherServers(t *testing.T) {
	t.Parallel()
	set := open(t, map[string]mcp.Server{"tracker": program("yes")})
	for _, name := range []string{"other.key", "tracker", "tracker.", ""} {
		if _, ok := set.Tool(name); ok {
			t.Errorf("there is a tool %q", name)
		}
	}
}
