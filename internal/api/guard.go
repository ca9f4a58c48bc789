package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
)

// guard refuses requests that no caller may send: to foreign hosts,
// cross-origin writes, with tokens in addresses, or with large bodies. It runs
// before anything is read.
func (s *Server) guard(w *recorder, r *http.Request) error {
	if s.SingleUser && !isLoopbackHost(r.Host) && !s.hosts[hostname(r.Host)] {
		// Otherwise a page that points its own name at this machine (DNS
		// rebinding) could act as the local user.
		return fermata.Errorf(fermata.CodeForbidden, "the server is not addressed by this host name").
			WithHint("use 127.0.0.1 or localhost, or allow the name in the settings")
	}
	if err := s.origin.Check(r); err != nil {
		return fermata.Errorf(fermata.CodeForbidden, "cross-origin requests are refused")
	}
	if err := refuseQueryToken(r.URL.RawQuery); err != nil {
		return err
	}
	if err := refuseInvalidText(r.URL); err != nil {
		return err
	}
	if err := refuseUnreadValues(r.URL); err != nil {
		return err
	}
	if r.ContentLength > s.MaxBody {
		w.Header().Set("Connection", "close")
		return tooLargeError(s.MaxBody)
	}
	if r.Body != nil && r.Body != http.NoBody {
		// The server's own writer gets the limit, so that it closes the
		// connection only after the client could read the refusal.
		r.Body = http.MaxBytesReader(w.ResponseWriter, r.Body, s.MaxBody)
	}
	return nil
}

func tooLargeError(limit int64) error {
	return withStatus(http.StatusRequestEntityTooLarge,
		fermata.Errorf(fermata.CodeInvalidRequest, "the body is larger than %d bytes", limit))
}

// refuseQueryToken refuses a secret in the address, because logs and browser
// histories store addresses.
func refuseQueryToken(query string) error {
	if !strings.Contains(query, "token") && !strings.Contains(query, "fm") {
		return nil
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return fermata.Errorf(fermata.CodeInvalidRequest, "the query of the address is malformed")
	}
	for key, list := range values {
		for _, value := range list {
			if key == "token" || key == "access_token" || isSecret(value) {
				return fermata.Invalid(fermata.Problem{Field: "query", Message: "a token must not be in the address"}).
					WithHint("send it as the header Authorization: Bearer …, and revoke this one: addresses are logged")
			}
		}
	}
	return nil
}

// refuseInvalidText refuses an address with characters that a text cannot contain.
// PostgreSQL would refuse it without the field's name, and SQLite would find
// nothing.
func refuseInvalidText(u *url.URL) error {
	if !isText(u.Path) {
		return fermata.Errorf(fermata.CodeNotFound, "there is nothing at this address")
	}
	if !strings.ContainsRune(u.RawQuery, '%') && isText(u.RawQuery) {
		return nil
	}
	for _, part := range strings.Split(u.RawQuery, "&") {
		key, value, _ := strings.Cut(part, "=")
		name, errName := url.QueryUnescape(key)
		text, errText := url.QueryUnescape(value)
		if errName != nil || errText != nil {
			return fermata.Errorf(fermata.CodeInvalidRequest, "the query of the address is malformed")
		}
		if !isText(name) || !isText(text) {
			return fermata.Invalid(fermata.Problem{
				Field: strings.ToValidUTF8(name, "�"), Message: "contains a NUL character or is not valid UTF-8",
			})
		}
	}
	return nil
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

func isSecret(s string) bool {
	return slices.ContainsFunc([]string{fermata.TokenPrefix, fermata.LinkPrefix, fermata.SessionPrefix}, func(prefix string) bool {
		return fermata.IsWholeSecret(prefix, s)
	})
}

// isLocal reports whether a request comes from this machine, is addressed to
// it, and was not forwarded by a proxy.
func isLocal(r *http.Request) bool {
	for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip"} {
		if len(r.Header[header]) > 0 {
			return false
		}
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback() && isLoopbackHost(r.Host)
}

func isLoopbackHost(host string) bool {
	name := hostname(host)
	if name == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Unmap().IsLoopback()
}

// hostname returns the host without its port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}
