package web_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fermata-hq/fermata/web"
)

var files = fstest.MapFS{
	".keep":                {},
	"index.html":           {Data: []byte(`<meta property="csp-nonce" nonce="__CSP_NONCE__">`)},
	"sw.js":                {Data: []byte("worker")},
	"assets/main-1a.js.gz": {Data: pack("whole")},
}

func pack(text string) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(text)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return packed.Bytes()
}

// get sends a request as a browser does when a person opens the address. The
// headers replace those of the browser.
func get(t *testing.T, h http.Handler, path string, headers ...string) (*httptest.ResponseRecorder, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept", "text/html,*/*")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w, w.Body.String()
}

func TestEveryAddressOpensThePage(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/index.html", "/questions/q_1", "/tasks/a.b"} {
		r, body := get(t, web.New(files), path)
		if r.Code != http.StatusOK || !strings.HasPrefix(body, "<meta") || r.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d %q %q", path, r.Code, body, r.Header())
		}
	}
}

func TestNonceIsNewInEveryReply(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 3 {
		r, body := get(t, web.New(files), "/")
		_, nonce, _ := strings.Cut(strings.TrimSuffix(body, `">`), `nonce" nonce="`)
		policy := r.Header().Get("Content-Security-Policy")
		if nonce == "" || seen[nonce] || !strings.Contains(policy, "style-src 'self' 'nonce-"+nonce+"'") {
			t.Errorf("nonce %q, policy %q", nonce, policy)
		}
		if strings.Contains(policy, "unsafe") || !strings.Contains(policy, "script-src 'self';") {
			t.Errorf("policy %q", policy)
		}
		seen[nonce] = true
	}
}

func TestFilesWithAHashAreKept(t *testing.T) {
	t.Parallel()
	h := web.New(files)
	r, body := get(t, h, "/assets/main-1a.js", "Accept-Encoding", "br, gzip")
	if body != string(pack("whole")) || r.Header().Get("Content-Encoding") != "gzip" || !strings.Contains(r.Header().Get("Cache-Control"), "immutable") ||
		!strings.HasPrefix(r.Header().Get("Content-Type"), "text/javascript") {
		t.Errorf("%q %q", body, r.Header())
	}
	for _, accepts := range []string{"", "br", "gzip;q=0"} {
		if r, body := get(t, h, "/assets/main-1a.js", "Accept-Encoding", accepts); body != "whole" || r.Header().Get("Content-Encoding") != "" {
			t.Errorf("%q: %q %q", accepts, body, r.Header())
		}
	}
	if r, _ := get(t, h, "/sw.js"); r.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("sw.js: %q", r.Header())
	}
}

func TestNothingIsNotAPage(t *testing.T) {
	t.Parallel()
	h := web.New(files)
	for _, path := range []string{"/assets/none.js", "/assets/"} {
		if r, _ := get(t, h, path); r.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, r.Code)
		}
	}
	if r, _ := get(t, h, "/none.png", "Accept", "image/*"); r.Code != http.StatusNotFound {
		t.Errorf("a picture: %d", r.Code)
	}
	if _, body := get(t, h, "/.keep"); !strings.HasPrefix(body, "<meta") {
		t.Errorf("a hidden file: %q", body)
	}
}

func TestProgramWithoutTheInterfaceSaysHowToBuildIt(t *testing.T) {
	t.Parallel()
	r, body := get(t, web.New(fstest.MapFS{".keep": {}}), "/")
	if r.Code != http.StatusNotImplemented || !strings.Contains(body, "make build") || !strings.Contains(body, "fermata inbox") {
		t.Errorf("%d %q", r.Code, body)
	}
}
