package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/outbound"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/tool/mcp"
)

// asServer is the environment variable that makes the test program act as an
// MCP server.
const asServer = "FERMATA_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(asServer); mode != "" {
		if mode == "broken" {
			fmt.Fprintln(os.Stderr, "cannot open the ledger")
			os.Exit(1)
		}
		if err := newServer().Run(context.Background(), &sdk.StdioTransport{}); err != nil && !errors.Is(err, context.Canceled) {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	os.Exit(m.Run())
}

type issue struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
}

// newServer returns an MCP server that tracks issues.
func newServer(versions ...string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "tracker", Version: "1"}, &sdk.ServerOptions{SupportedProtocolVersions: versions})
	sdk.AddTool(s, &sdk.Tool{Name: "create_issue", Description: "Makes an issue."},
		func(_ context.Context, _ *sdk.CallToolRequest, in issue) (*sdk.CallToolResult, issue, error) {
			return nil, in, nil
		})
	plain := func(name string, do func(context.Context, *sdk.CallToolRequest) (string, error)) {
		s.AddTool(&sdk.Tool{Name: name, InputSchema: map[string]any{"type": "object"}},
			func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				text, err := do(ctx, r)
				if err != nil {
					return nil, err
				}
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}, &sdk.ImageContent{MIMEType: "image/png"}}}, nil
			})
	}
	plain("process", func(context.Context, *sdk.CallToolRequest) (string, error) { return fmt.Sprint(os.Getpid()), nil })
	plain("variable", func(context.Context, *sdk.CallToolRequest) (string, error) { return os.Getenv("TRACKER_TOKEN"), nil })
	plain("key", func(_ context.Context, r *sdk.CallToolRequest) (string, error) {
		return fmt.Sprint(r.Params.Meta[mcp.KeyMeta]), nil
	})
	plain("large", func(context.Context, *sdk.CallToolRequest) (string, error) { return strings.Repeat("x", 2<<20), nil })
	plain("crash", func(context.Context, *sdk.CallToolRequest) (string, error) {
		fmt.Fprintln(os.Stderr, "out of ink")
		os.Exit(3)
		return "", nil
	})
	plain("wait", func(ctx context.Context, _ *sdk.CallToolRequest) (string, error) { <-ctx.Done(); return "", ctx.Err() })
	for name, hints := range map[string]*sdk.ToolAnnotations{"look": {ReadOnlyHint: true}, "close": {IdempotentHint: true}} {
		s.AddTool(&sdk.Tool{Name: name, InputSchema: map[string]any{"type": "object"}, Annotations: hints},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{}, nil
			})
	}
	s.AddTool(&sdk.Tool{Name: "refuse", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "the tracker is read-only today"}}}, nil
		})
	return s
}

// program returns the configuration of the server as a program.
func program(mode string) mcp.Server {
	return mcp.Server{Command: []string{os.Args[0], "-test.run=^$"}, Env: map[string]string{asServer: mode}}
}

// remote is the server at a URL. It can forget its sessions.
type remote struct {
	*httptest.Server
	// versions are the protocol versions that it supports; empty means all.
	versions []string
	mu       sync.Mutex
	// handler serves the current sessions.
	handler http.Handler
}

func newRemote(t *testing.T, versions ...string) *remote {
	t.Helper()
	r := &remote{versions: versions}
	r.restart()
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "Bearer sesame" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		r.mu.Lock()
		h := r.handler
		r.mu.Unlock()
		h.ServeHTTP(w, req)
	}))
	t.Cleanup(r.Close)
	return r
}

// restart forgets every session.
func (r *remote) restart() {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := newServer(r.versions...)
	r.handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
}

// open returns a set, which is closed when the test ends.
func open(t *testing.T, servers map[string]mcp.Server) *mcp.Set {
	t.Helper()
	set, err := mcp.New(servers, mcp.Options{
		HTTP: outbound.Client(outbound.Options{AllowPrivate: true}), AllowCommands: true, Version: "1",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Close)
	return set
}

// call calls a tool by its name.
func call(t *testing.T, set *mcp.Set, name string, input map[string]any) (tool.Result, error) {
	t.Helper()
	one, ok := set.Tool(name)
	if !ok {
		t.Fatalf("there is no tool %s", name)
	}
	return one.Call(t.Context(), tool.Call{Key: "run/step/1", Input: input})
}

// wantFailure checks that err is the expected failure.
func wantFailure(t *testing.T, err error, permanent bool, words ...string) {
	t.Helper()
	var f tool.Failure
	var e *fermata.Error
	if !errors.As(err, &f) || !errors.As(err, &e) || f.Permanent() != permanent {
		t.Fatalf("got %v, want a failure", err)
	}
	for _, word := range words {
		if !strings.Contains(e.Message+" | "+e.Hint, word) {
			t.Errorf("it failed with %q, hint %q, want %q in it", e.Message, e.Hint, word)
		}
	}
}

func problemsOf(t *testing.T, err error) []fermata.Problem {
	t.Helper()
	var e *fermata.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	return e.Problems
}
