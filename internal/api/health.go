package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// registerHealth registers the routes for operators and tools, which are outside /v1.
func (s *Server) registerHealth() {
	s.mux.HandleFunc("GET /healthz", writeHealthy)
	s.mux.HandleFunc("GET /readyz", s.writeReady)
	s.mux.HandleFunc("GET /openapi.json", s.serveDocument())
}

// serveMetrics registers the metrics of the configured registry.
func (s *Server) serveMetrics() {
	s.mux.Handle("GET /metrics", s.requireEveryProject(promhttp.HandlerFor(s.Registry, promhttp.HandlerOpts{
		// If a faulty database makes some metrics unreadable, the other metrics must still show the fault.
		ErrorHandling: promhttp.ContinueOnError,
	})))
}

// requireEveryProject serves metrics that name projects. It refuses callers who do not see every project.
func (s *Server) requireEveryProject(figures http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := callerOf(r.Context()).CheckPermission(fermata.ToReadAnalytics, fermata.InEveryProject); err != nil {
			s.writeProblem(w, r, err)
			return
		}
		figures.ServeHTTP(w, r)
	})
}

// writeHealthy replies that the process runs.
func writeHealthy(w http.ResponseWriter, _ *http.Request) {
	writeHealth(w, fermata.Readiness{Status: "ok"})
}

// writeReady replies whether the server should get requests.
func (s *Server) writeReady(w http.ResponseWriter, r *http.Request) {
	if s.draining.Load() {
		s.writeProblem(w, r, fermata.Errorf(fermata.CodeUnavailable, "the server is about to stop"))
		return
	}
	if err := s.Engine.CheckReady(r.Context()); err != nil {
		s.writeProblem(w, r, notReadyError(err))
		return
	}
	clock := s.clockReadiness()
	writeHealth(w, fermata.Readiness{Status: "ready", Warnings: slices.Concat(clock.Warnings, s.witnessWarnings()), Clock: clock})
}

// witnessWarnings returns a warning about witnesses that store nothing. It does not name them, because anyone can read it.
func (s *Server) witnessWarnings() []string {
	n, since := s.Engine.FailingWitnesses()
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the checkpoints of the audit chain do not reach %d of its witnesses since %s: the server's log says which, and why",
		n, since.UTC().Format(time.RFC3339))}
}

// clockReadiness returns the facts about the database's clock that an operator should know.
func (s *Server) clockReadiness() *fermata.ClockReadiness {
	jump, skew := s.Engine.Clock().Jump, s.Engine.ClockSkew()
	clock := &fermata.ClockReadiness{JumpSeconds: jump.Seconds(), SkewSeconds: skew.Seconds()}
	if jump != 0 {
		clock.Warnings = append(clock.Warnings, fmt.Sprintf(
			"the database's clock jumped by %s: nothing times out until it is right again or has kept to the jump for %s",
			jump.Round(time.Second), store.ClockConfirmTime))
	}
	if skew.Abs() > store.LongestSkew {
		side := "ahead of"
		if skew < 0 {
			side = "behind"
		}
		clock.Warnings = append(clock.Warnings, fmt.Sprintf(
			"the clock of the server's machine is %s %s the database's, by which deadlines and leases go: let a time service set both",
			skew.Abs().Round(store.SkewPrecision), side))
	}
	return clock
}

// notReadyError returns the error that says why the server is not ready. An error with a hint is returned as it is,
// because the hint says what an operator can do. The text of any other error is only in the log.
func notReadyError(err error) error {
	if known, ok := errors.AsType[*fermata.Error](err); ok && known.Hint != "" {
		return known
	}
	return fermata.Errorf(fermata.CodeUnavailable, "the database cannot be reached")
}

func writeHealth(w http.ResponseWriter, r fermata.Readiness) {
	w.Header().Set("Content-Type", "application/json")
	// An error means that the client is gone, so there is nothing to do.
	_ = json.NewEncoder(w).Encode(r)
}

// serveDocument serves the OpenAPI document, which is encoded at the first request.
func (s *Server) serveDocument() http.HandlerFunc {
	write := sync.OnceValues(func() ([]byte, error) { return json.Marshal(s.OpenAPI()) })
	return func(w http.ResponseWriter, r *http.Request) {
		data, err := write()
		if err != nil {
			s.writeProblem(w, r, fermata.Internal("write the OpenAPI document", err))
			return
		}
		w.Header().Set("Content-Type", "application/openapi+json")
		// An error means that the client is gone, so there is nothing to do.
		_, _ = w.Write(data)
	}
}
