package api_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/insight"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

func TestMetricsAreServed(t *testing.T) {
	t.Parallel()
	m := insight.NewMetrics()
	w := newWorld(t, func(c *api.Config) { c.Registry = m.Registry() })
	m.AddGauges(w.Engine.Stats)
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

// TestReadinessTellsOfAClockThatJumped checks that the server keeps serving,
// and warns that nothing times out at the moment.
func TestReadinessTellsOfAClockThatJumped(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	opts := storetest.SQLite(t)
	opts.ClockError = func() time.Duration { return time.Duration(ahead.Load()) }
	w := newWorldOn(t, opts)
	var ready fermata.Readiness
	w.must(http.StatusOK, "", "GET /readyz", "", &ready)
	if len(ready.Warnings) > 0 || ready.Clock == nil || ready.Clock.JumpSeconds != 0 || ready.Clock.SkewSeconds != 0 {
		t.Fatalf("a clock that runs as it should is reported as %+v", ready)
	}
	ahead.Store(int64(2 * time.Hour))
	if _, err := w.Engine.Now(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.must(http.StatusOK, "", "GET /readyz", "", &ready)
	if len(ready.Warnings) != 1 || !strings.Contains(ready.Warnings[0], "jumped by 2h0m0s: nothing times out") {
		t.Errorf("the jump is told as %q", ready.Warnings)
	}
	if jump := ready.Clock.JumpSeconds; jump < 7100 || jump > 7300 || len(ready.Clock.Warnings) != 1 {
		t.Errorf("the jump is told as %+v", ready.Clock)
	}
}
