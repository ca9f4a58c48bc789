package web

import (
	"net/http"
	"strings"
)

// policy is the Content-Security-Policy: the page may load only what this
// server serves, and data: images. The page has no inline scripts. An inline
// style needs the nonce of the reply, and style attributes are refused.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// protect sets the headers that isolate a page from other sites. A nonce, if
// there is one, is added to the policy for styles.
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
