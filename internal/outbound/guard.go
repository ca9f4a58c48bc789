package outbound

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"

	"github.com/fermata-hq/fermata"
)

// morePrivateNetworks are networks that look public but are not: at this address, Azure
// serves the metadata of its machines.
var morePrivateNetworks = []netip.Prefix{netip.MustParsePrefix("168.63.129.16/32")}

// minUnreservedPort is the first port that is not reserved for system services.
// Below it, only 80 and 443 may be reached.
const minUnreservedPort = 1024

// guard decides which addresses may be connected to.
type guard struct {
	allowAll   bool
	allow      []netip.Prefix
	publicOnly *ssrf.Guardian
}

func newGuard(o Options) *guard {
	return &guard{
		allowAll: o.AllowPrivate, allow: o.Allow,
		publicOnly: ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(morePrivateNetworks...)),
	}
}

// checkConnection checks the address of every connection before it is opened.
func (g *guard) checkConnection(_ context.Context, network, address string, _ syscall.RawConn) error {
	if g.allowAll {
		return nil
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return newRefusal("%q is no address", address)
	}
	for _, p := range g.allow {
		if p.Contains(to.Addr().Unmap()) {
			return nil
		}
	}
	if err := g.publicOnly.Safe(network, address, nil); err != nil {
		return newRefusal("%s is not a public address", to.Addr())
	}
	if port := to.Port(); port < minUnreservedPort && port != 80 && port != 443 {
		return newRefusal("port %d is not one of the web", port)
	}
	return nil
}

// checkURL checks the parts of an address that checkConnection does not see.
func (g *guard) checkURL(u *url.URL) error {
	switch {
	case u.Scheme == "":
		return newRefusal("does not begin with http:// or https://")
	case u.Scheme != "http" && u.Scheme != "https":
		return newRefusal("%q is neither http nor https", u.Scheme)
	case u.User != nil:
		return newRefusal("an address with a name or a password in it is not used")
	case u.Hostname() == "":
		return newRefusal("the address names no host")
	}
	return nil
}

// ParseURL parses a web address that a person gave: http or https, with a host
// and without a password. It does not check whether the host is public, because
// that is checked at every connection.
func ParseURL(field, raw string) (*url.URL, error) {
	invalid := func(message string) (*url.URL, error) {
		return nil, fermata.Invalid(fermata.Problem{Field: field, Message: message})
	}
	if strings.TrimSpace(raw) != raw || raw == "" {
		return invalid("an address is needed, such as https://example.com/hook")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return invalid("is no address such as https://example.com/hook")
	}
	if refused, ok := errors.AsType[*refusal]((&guard{}).checkURL(u)); ok {
		return invalid(refused.reason)
	}
	return u, nil
}

// refusal is the error of an address that may not be reached.
type refusal struct{ reason string }

func newRefusal(format string, args ...any) error {
	return &refusal{fmt.Sprintf(format, args...)}
}

// Error returns the reason of the refusal.
func (r *refusal) Error() string { return r.reason + ", so it is not connected to" }

// IsRefused reports whether a request failed because its address may not be
// reached.
func IsRefused(err error) bool {
	_, ok := errors.AsType[*refusal](err)
	return ok
}
