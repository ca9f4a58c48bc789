package workflow_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// tracker is an MCP server that counts how often it is asked for its tools.
type tracker struct {
	mu        sync.Mutex
	asked     int
	toolNames []string
	down      error
}

func (s *tracker) Tools(_ context.Context, name string, _ fermata.ToolServer) ([]tool.Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	var all []tool.Info
	for _, its := range s.toolNames {
		all = append(all, tool.Info{Name: name + "." + its})
	}
	return all, s.down
}

func (*tracker) Call(context.Context, string, fermata.ToolServer, string, tool.Call) (tool.Result, error) {
	return tool.Result{}, nil
}

func (s *tracker) set(down error, has ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down, s.toolNames = down, has
}

func (s *tracker) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Reading the tools starts nothing. A server is asked when it is defined, and
// when a person asks for a refresh.
func TestReadingAsksNoServer(t *testing.T) {
	onBoth(t, func(w *world) {
		server := &tracker{toolNames: []string{"find"}}
		_, s := w.process(func(o *workflow.Options) { o.Servers = server })
		put := func(url string) {
			w.Helper()
			n := &fermata.NamedTool{Name: "tracker", Server: &fermata.ToolServer{URL: url, Headers: map[string]string{"Authorization": "Bearer sesame"}}}
			kept, err := s.PutNamedTool(w.Context(), admin, n)
			w.OK(err)
			if strings.Contains(asJSON(kept), "sesame") || kept.Listing == nil {
				w.Errorf("the token is shown, or the list is not there: %s", asJSON(kept))
			}
		}
		put("https://tracker.example")
		uses := func(name string) fermata.WorkflowCheck {
			w.Helper()
			v, err := s.Validate(w.Context(), ann, "name: uses\ntriggers: [{manual: true}]\nsteps: [{id: one, tool: tracker."+name+"}]\n")
			w.OK(err)
			return v
		}
		kept, err := s.Put(w.Context(), admin, "", workflow.Definition{Source: "name: uses\ntriggers: [{manual: true}]\nsteps: [{id: one, tool: tracker.find}]\n"})
		w.OK(err)
		if v := uses("find"); !v.Valid || len(v.Problems) > 0 || len(kept.Warnings) > 0 {
			w.Errorf("what it listed is not known: %+v, %+v", v, kept.Warnings)
		}
		if v := uses("close"); v.Valid || !strings.Contains(v.Problems[0].Hint, "tools refresh tracker") {
			w.Errorf("what it did not list: %+v", v)
		}
		server.set(nil, "find", "close")
		_, err = s.Tools(w.Context(), ann)
		w.OK(err)
		_, err = s.Workflow(w.Context(), ann, "uses", "")
		w.OK(err)
		if n := server.times(); n != 1 {
			w.Errorf("it was asked %d times", n)
		}
		named, err := s.RefreshTools(w.Context(), admin, "tracker")
		w.OK(err)
		if len(named.Listing.Tools) != 2 || strings.Contains(asJSON(named), "sesame") || !uses("close").Valid {
			w.Errorf("it was asked again: %s", asJSON(named))
		}

		// A server that is down keeps the tools that it listed, and the listing
		// says that it is down.
		server.set(errors.New("connection refused"))
		named, err = s.RefreshTools(w.Context(), admin, "tracker")
		w.OK(err)
		if len(named.Listing.Tools) != 2 || named.Listing.Error != "connection refused" {
			w.Errorf("it is down: %s", asJSON(named.Listing))
		}
		if v := uses("find"); !v.Valid || len(v.Problems) > 0 {
			w.Errorf("what it listed before it was down: %+v", v)
		}
		if v := uses("other"); !v.Valid || len(v.Problems) != 1 {
			w.Errorf("what nobody can know: %+v", v)
		}
		all, err := s.Tools(w.Context(), ann)
		w.OK(err)
		if !strings.Contains(asJSON(all), `"error":"connection refused"`) || !strings.Contains(asJSON(all), "tracker.close") {
			w.Errorf("the list is %s", asJSON(all))
		}

		// Another server under the same name has no listing yet.
		put("https://another.example")
		if named, err = s.NamedTool(w.Context(), admin, "tracker"); err != nil || len(named.Listing.Tools) != 0 {
			w.Errorf("another server has %s, %v", asJSON(named), err)
		}
	})
}

// An agent, and a person without the role, may not refresh the tools of a
// server.
func TestWhoMayAskAServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t))
	server := &tracker{}
	_, s := w.process(func(o *workflow.Options) { o.Servers = server })
	_, err := s.PutNamedTool(t.Context(), admin, &fermata.NamedTool{Name: "tracker", Server: &fermata.ToolServer{URL: "https://tracker.example"}})
	w.OK(err)
	_, err = s.PutNamedTool(t.Context(), admin, &fermata.NamedTool{Name: "look", Agent: &fermata.AgentTool{Prompt: "Look."}})
	w.OK(err)
	if _, err := s.RefreshTools(t.Context(), ann, "tracker"); fermata.CodeOf(err) != fermata.CodeForbidden || server.times() != 1 {
		t.Errorf("a responder: %v, asked %d times", err, server.times())
	}
	for name, code := range map[string]fermata.Code{"look": fermata.CodeInvalidRequest, "nothing": fermata.CodeNotFound} {
		if _, err := s.RefreshTools(t.Context(), admin, name); fermata.CodeOf(err) != code {
			t.Errorf("%s: %v", name, err)
		}
	}
}
