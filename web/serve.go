package web

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

// page is the document that every address of the interface shows.
const page = "index.html"

// noncePlace is the placeholder in the page for the nonce of its reply. The
// styles that Mantine writes at run time carry this nonce.
const noncePlace = "__CSP_NONCE__"

// New returns a handler that serves the files of a built interface. File names
// below assets contain a hash of the content, so browsers may cache them for
// ever. Browsers ask for all other files again each time. An address without a
// file gets the page, which knows what to show there.
func New(files fs.FS) http.Handler {
	index, err := fs.ReadFile(files, page)
	if err != nil {
		return http.HandlerFunc(notBuilt)
	}
	return &site{files, index}
}

type site struct {
	files fs.FS
	index []byte
}

// ServeHTTP serves a file or the page.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	switch {
	case name == "" || name == page:
		s.servePage(w, r)
	case s.serveFile(w, r, name):
	case strings.HasPrefix(name+"/", "assets/") || !wantsPage(r):
		protect(w.Header(), "")
		http.Error(w, "there is nothing at this address", http.StatusNotFound)
	default:
		s.servePage(w, r)
	}
}

// wantsPage reports whether a browser opens the address as a page.
func wantsPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

func (s *site) servePage(w http.ResponseWriter, r *http.Request) {
	nonce := rand.Text()
	h := w.Header()
	protect(h, nonce)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	body := bytes.ReplaceAll(s.index, []byte(noncePlace), []byte(nonce))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// serveFile serves the file with this name. It returns false and writes nothing
// if there is no such file.
func (s *site) serveFile(w http.ResponseWriter, r *http.Request, name string) bool {
	if strings.HasPrefix(path.Base(name), ".") || strings.HasSuffix(name, compressed) {
		return false
	}
	isPacked := true
	body, err := fs.ReadFile(s.files, name+compressed)
	if err != nil {
		isPacked = false
		if body, err = fs.ReadFile(s.files, name); err != nil {
			return false
		}
	}
	h := w.Header()
	protect(h, "")
	h.Set("Content-Type", typeOf(name))
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, "assets/") {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if isPacked {
		h.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			h.Set("Content-Encoding", "gzip")
		} else {
			body = unpack(body)
		}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	return true
}

// compressed is the suffix of a file that is stored packed by gzip, and not a
// second time as it is.
const compressed = ".gz"

func unpack(packed []byte) []byte {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err) // The file is part of the program.
	}
	whole, err := io.ReadAll(reader)
	if err != nil {
		panic(err)
	}
	return whole
}

func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return strings.ReplaceAll(weight, " ", "") != "q=0"
		}
	}
	return false
}

// types maps file extensions to media types, so that they do not depend on the
// machine's own table.
var types = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	".png": "image/png", ".woff2": "font/woff2", ".webmanifest": "application/manifest+json", ".json": "application/json",
}

func typeOf(name string) string {
	ext := path.Ext(name)
	if t, known := types[ext]; known {
		return t
	}
	if t := mime.TypeByExtension(ext); t != "" {
		return t
	}
	return "application/octet-stream"
}
