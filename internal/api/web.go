package api

import (
	"net/http"
	"strings"
)

// protocolPaths are the paths of programs. No page is below them, so that a
// mistyped call gets a problem and not an HTML page.
var protocolPaths = []string{"/v1", "/mcp", "/hooks", "/.well-known", "/healthz", "/readyz", "/metrics", "/openapi.json", "/schemas", "/a"}

// isPage reports whether a request is for a page. Pages need no caller, because
// they contain no data until they call the API.
func (s *Server) isPage(r *http.Request) bool {
	if s.Web == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	for _, prefix := range protocolPaths {
		if rest, found := strings.CutPrefix(r.URL.Path, prefix); found && (rest == "" || rest[0] == '/') {
			return false
		}
	}
	return true
}

// servePage handles requests that no route takes.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	if s.isPage(r) {
		s.Web.ServeHTTP(w, r)
		return
	}
	s.replyNoRoute(w, r)
}
