package api

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// ServeHTTP checks, authenticates and limits the request, and passes it to its route.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	rec := &recorder{ResponseWriter: w, pattern: "panicked"}
	s.serve(rec, r)
	took := time.Since(start)
	s.metrics.observe(rec.pattern, rec.code(), took)
	s.logRefusal(rec, r)
	if s.Log.Enabled(r.Context(), slog.LevelDebug) {
		s.Log.LogAttrs(r.Context(), slog.LevelDebug, "request",
			slog.String("method", r.Method), slog.String("path", loggedPath(r.URL.Path)),
			slog.Int("status", rec.code()), slog.Duration("took", took))
	}
}

// logRefusal logs a refused request. The number of lines for each token, or for each address without a token, is
// limited by the same rate as wrong tokens.
func (s *Server) logRefusal(rec *recorder, r *http.Request) {
	switch rec.code() {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
	default:
		return
	}
	address, who := clientAddress(r, s.TrustedProxies), rec.caller
	if !s.limits.loggedRefusals.get(cmp.Or(who.TokenID, who.MemberID, address)).Allow() {
		return
	}
	s.Log.LogAttrs(r.Context(), slog.LevelInfo, "a call was refused",
		slog.String("method", r.Method), slog.String("path", loggedPath(r.URL.Path)), slog.Int("status", rec.code()),
		slog.String("address", address), slog.String("member", who.MemberID), slog.String("token", who.TokenID))
}

// maxLoggedPath is the largest number of bytes of a path in the log. The server's own paths are shorter.
const maxLoggedPath = 200

// loggedPath returns a path for the log, without the secret of a link.
func loggedPath(path string) string {
	if strings.HasPrefix(path, answerPath) {
		return answerPath + "…"
	}
	return path[:min(len(path), maxLoggedPath)]
}

// serve answers the request and records the pattern of its route.
func (s *Server) serve(w *recorder, r *http.Request) {
	defer func() { s.handlePanic(w, r, recover()) }()
	h := w.Header()
	h["X-Content-Type-Options"] = nosniff
	h["Cache-Control"] = noStore
	h["Content-Security-Policy"] = emptyCSP
	r, err := s.admit(w, limitReading(w, r))
	if err != nil {
		w.pattern = "refused"
		s.writeProblem(w, r, err)
		return
	}
	s.mux.ServeHTTP(w, r)
	w.pattern = r.Pattern
}

var (
	nosniff = []string{"nosniff"}
	noStore = []string{"no-store"}
	// emptyCSP is for replies that are not pages, in case a browser shows one. Pages have policies of their own.
	emptyCSP = []string{"default-src 'none'; frame-ancestors 'none'"}
)

// admit runs all checks between the network and a route.
func (s *Server) admit(w *recorder, r *http.Request) (*http.Request, error) {
	if err := s.guard(w, r); err != nil {
		return r, err
	}
	if strings.HasPrefix(r.URL.Path, signInPath) {
		return withRequest(r), nil
	}
	if strings.HasPrefix(r.URL.Path, inboundPath) || strings.HasPrefix(r.URL.Path, workflowHookPath) {
		return r, nil
	}
	mount, mounted := s.mounts[r.URL.Path]
	if isPublicPath(r.URL.Path) || strings.HasPrefix(r.URL.Path, answerPath) || mount.Open || s.isPage(r) {
		return r, nil
	}
	generation := s.Engine.RightsGeneration()
	c, err := s.caller(r)
	if err != nil {
		return r, err
	}
	w.caller = *c
	r = r.WithContext(engine.WithRightsGeneration(engine.WithRenewal(r.Context(), s.renewal(r, c)), generation))
	if err := s.limits.limitToken(c); err != nil {
		return r, err
	}
	if mounted {
		// The other protocol itself handles repeated requests. The context of such a request may outlive the request.
		return withCaller(r, c), nil
	}
	return withIdempotency(withCaller(r, c), c)
}

// isPublicPath reports whether a path needs no caller. Such a path shows nothing about people or their work.
func isPublicPath(path string) bool {
	return path == "/healthz" || path == "/readyz" || path == "/openapi.json" || path == workflowSchemaPath
}

// handlePanic turns a panic into a problem, and logs it.
func (s *Server) handlePanic(w *recorder, r *http.Request, cause any) {
	switch cause {
	case nil:
		return
	case http.ErrAbortHandler:
		panic(cause)
	}
	err := fermata.Internal("serve "+r.Method+" "+loggedPath(r.URL.Path), fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
	if w.status != 0 {
		s.Log.ErrorContext(r.Context(), "a handler panicked within its reply", "error", err)
		return
	}
	s.writeProblem(w, r, err)
}

// replyNoRoute answers a request that no route takes. It replies with 405 if another method is allowed.
func (s *Server) replyNoRoute(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		probe := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := s.mux.Handler(probe); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		s.writeProblem(w, r, fermata.Errorf(fermata.CodeNotFound, "there is nothing at this address").
			WithHint("the addresses are in /openapi.json"))
		return
	}
	allow := strings.Join(allowed, ", ")
	w.Header().Set("Allow", allow)
	s.writeProblem(w, r, withStatus(http.StatusMethodNotAllowed,
		fermata.Errorf(fermata.CodeInvalidRequest, "this address takes %s", allow)))
}

// recorder records the pattern of the route, the status and the caller of a request.
type recorder struct {
	http.ResponseWriter
	pattern string
	status  int
	caller  fermata.Caller
}

// WriteHeader records the first final status.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write records status 200 if the handler set none.
func (w *recorder) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(data)
}

// Unwrap returns the wrapped writer, so that http.ResponseController can reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *recorder) code() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}
