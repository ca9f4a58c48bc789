package api

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fermata-hq/fermata"
)

// healthRoutes are for operators and tools; they stand outside /v1.
func (s *Server) healthRoutes() {
	s.mux.HandleFunc("GET /healthz", healthy)
	s.mux.HandleFunc("GET /readyz", s.ready)
	s.mux.HandleFunc("GET /openapi.json", s.document())
	s.mux.Handle("GET /metrics", promhttp.HandlerFor(s.Registry, promhttp.HandlerOpts{}))
}

// healthy says that the process runs.
func healthy(w http.ResponseWriter, _ *http.Request) { writeStatus(w, "ok") }

// ready says whether the server should be sent requests.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	if s.draining.Load() {
		s.writeProblem(w, r, fermata.Errorf(fermata.CodeUnavailable, "the server is about to stop"))
		return
	}
	if err := s.Engine.Ping(r.Context()); err != nil {
		s.Log.WarnContext(r.Context(), "not ready", "error", err)
		s.writeProblem(w, r, fermata.Errorf(fermata.CodeUnavailable, "the database cannot be reached"))
		return
	}
	writeStatus(w, "ready")
}

func writeStatus(w http.ResponseWriter, status string) {
	w.Header().Set("Content-Type", "application/json")
	// The client may be gone; there is nobody to tell.
	_ = json.NewEncoder(w).Encode(map[string]string{"status": status})
}

// document serves the OpenAPI document, which is written at its first read.
func (s *Server) document() http.HandlerFunc {
	write := sync.OnceValues(func() ([]byte, error) { return json.Marshal(s.OpenAPI()) })
	return func(w http.ResponseWriter, r *http.Request) {
		data, err := write()
		if err != nil {
			s.writeProblem(w, r, fermata.Internal("write the OpenAPI document", err))
			return
		}
		w.Header().Set("Content-Type", "application/openapi+json")
		// The client may be gone; there is nobody to tell.
		_, _ = w.Write(data)
	}
}
