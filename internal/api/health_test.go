package api_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/insight"
)

func TestMetricsAreServed(t *testing.T) {
	t.Parallel()
	m := insight.NewMetrics()
	w := newWorld(t, func(c *api.Config) { c.Registry = m.Registry() })
	m.Follow(w.engine.Stats)
	w.ask(say)
	text := string(w.call(w.agent, "GET /metrics", "").body)
	for _, line := range []string{
		`fermata_http_requests_total{code="201",route="POST /v1/tasks/{id}/questions"} 1`,
		`fermata_questions_pending{type="blocking"} 1`,
		`fermata_tasks{state="awaiting_input"} 1`,
		"go_goroutines ",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("there is no line %q", line)
		}
	}
}

func TestInternalErrorsAreLoggedAndNotSent(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := newWorld(t, func(c *api.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	w.breakEngine()
	r := w.call("", "GET /readyz", "")
	p := r.problem(t)
	if r.status != http.StatusInternalServerError || p.Code != fermata.CodeInternal {
		t.Errorf("got %d %s", r.status, r.body)
	}
	if strings.Contains(string(r.body), "nil pointer") || strings.Contains(string(r.body), "goroutine") {
		t.Errorf("the cause was sent: %s", r.body)
	}
	if !strings.Contains(log.String(), "nil pointer") {
		t.Errorf("the cause was not logged: %s", log.String())
	}
}

// breakEngine makes every use of the engine panic.
func (w *world) breakEngine() { w.api.Engine = nil }
