package workflows

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

type ticket struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
}

// newTracker starts an MCP server with one tool. The server requires a token.
func newTracker(t *testing.T) *httptest.Server {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "tracker", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "create", Description: "Makes a ticket."},
		func(_ context.Context, _ *sdk.CallToolRequest, in ticket) (*sdk.CallToolResult, ticket, error) {
			in.ID = 7
			return nil, in, nil
		})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sesame" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

// A step calls a tool of an MCP server, which a file configures. If the server is
// down, the step fails with the server's name, and a person can let it be tried
// again.
func TestToolsOfAnMCPServer(t *testing.T) {
	t.Parallel()
	w, tracker := newWorld(t, "data-fix", process.SQLite(t)), newTracker(t)
	for name, text := range map[string]string{
		"tools.yaml": "mcp_servers:\n  tracker: {url: \"" + tracker.URL + "\", headers: {Authorization: Bearer sesame}}\n",
		"ticket.yaml": `name: ticket
triggers: [{manual: true}]
steps:
  - {id: create, tool: tracker.create, input: {id: 0, title: "Broken rows"}, output: made, on_error: ask}
  - {id: check, tool: wait, condition: made.id == 7, input: {for: 1s}}
`,
	} {
		w.OK(os.WriteFile(filepath.Join(w.project, name), []byte(text), 0o600))
	}
	w.script("fermata workflow tools put tools.yaml\nfermata workflow put ticket.yaml")
	if listed := w.script("fermata workflow tools list"); !strings.Contains(listed, "tracker.create") {
		t.Errorf("the list of tools is\n%s", listed)
	}
	w.script("fermata workflow run ticket --wait")
	run := w.run("ticket", fermata.TaskDone)
	if got := string(w.step(run, "create").Output); !strings.Contains(got, `"id":7`) || !strings.Contains(got, "Broken rows") {
		t.Errorf("the step gave %s", got)
	}
	if shown := w.script("fermata workflow tools show tracker"); strings.Contains(shown, "sesame") {
		t.Errorf("the token is shown:\n%s", shown)
	}
	tracker.CloseClientConnections()
	tracker.Close()
	w.script("fermata workflow run ticket")
	failed := ""
	patience.Await(t, "a person is asked", func() bool {
		failed = w.script("fermata list --awaiting --json")
		return strings.Contains(failed, "error_recovery")
	})
	if !strings.Contains(failed, "tracker") {
		t.Errorf("the question is %s", failed)
	}
}
