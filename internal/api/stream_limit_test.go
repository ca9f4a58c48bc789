package api_test

import (
	"net/http"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/api"
)

func TestATokenHasFewStreamsOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.Limits.Streams = 2 })
	first := w.follow("")
	w.follow("")
	r := w.call(w.human, "GET /v1/events", "")
	if p := r.problem(t); r.status != http.StatusTooManyRequests || p.Code != fermata.CodeRateLimited || p.RetryAfter < 1 {
		t.Errorf("a third stream got %d %s", r.status, r.body)
	}
	// A list is not a stream, and another token has its own streams.
	w.must(http.StatusOK, w.human, "GET /v1/tasks", "", nil)
	w.follow("", "Authorization", "Bearer "+w.agent)
	first.stop()
	// The place becomes free when the server notices that the client left.
	for w.call(w.human, "HEAD /v1/events", "").status == http.StatusTooManyRequests {
		select {
		case <-t.Context().Done():
			t.Fatal("a stream that ended keeps its place")
		default:
		}
	}
}

// The streams of another protocol, such as those of /mcp, count together with
// the event streams.
func TestStreamsOfAnotherProtocolCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.Limits.Streams = 2 })
	w.api.Mount(api.Mount{Path: "/other", Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})})
	w.must(http.StatusNoContent, w.human, "GET /other", "", nil)
	w.follow("")
	w.follow("")
	if r := w.call(w.human, "GET /other", ""); r.status != http.StatusTooManyRequests {
		t.Errorf("a third stream got %d %s", r.status, r.body)
	}
	w.must(http.StatusNoContent, w.human, "POST /other", "{}", nil)
	w.must(http.StatusNoContent, w.agent, "GET /other", "", nil)
}
