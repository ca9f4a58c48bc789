package web

import (
	"io"
	"net/http"
)

const notBuiltPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Fermata: the web interface is not built</title>
<h1>This program was built without the web interface</h1>
<p>Everything else works: the API, the command line, agents. To build the interface you need Node.js 20.19 or newer with npm. Run in the folder of the source:</p>
<pre>make build</pre>
<p>and start <code>bin/fermata serve</code> again. Until then answer in the terminal with <code>fermata inbox</code>.</p>
`

// notBuilt serves a page that says how to build the interface.
func notBuilt(w http.ResponseWriter, r *http.Request) {
	protect(w.Header(), "")
	if !wantsPage(r) && r.URL.Path != "/" {
		http.Error(w, "there is nothing at this address", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusNotImplemented)
	// The client may be gone, so the error is ignored.
	_, _ = io.WriteString(w, notBuiltPage)
}
