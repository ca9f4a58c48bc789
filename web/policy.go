package web

import (
	"net/http"
	"strings"
)

// policy lets the page load what this server serves, and nothing else. No
// script stands in the page itself. The only styles that do are those with the
// nonce of the reply; attributes with styles are refused.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// protect sets the headers that keep a page to itself.
func protect(h http.Header, nonce string) {
	p := policy
	if nonce != "" {
		p = strings.Replace(p, "style-src 'self'", "style-src 'self' 'nonce-"+nonce+"'", 1)
	}
	h.Set("Content-Security-Policy", p)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()")
}
