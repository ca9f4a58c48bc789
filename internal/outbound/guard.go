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

// alsoPrivate are networks that look public but are not: at this address, Azure
// serves the metadata of its machines.
var alsoPrivate = []netip.Prefix{netip.MustParsePrefix("168.63.129.16/32")}

// leastFreePort is the first port that is not reserved for system services.
// Below it, only 80 and 443 may be reached.
const leastFreePort = 1024

// guard decides which addresses may be connected to.
type guard struct {
	all    bool
	allow  []netip.Prefix
	public *ssrf.Guardian
}

func newGuard(o Options) *guard {
	return &guard{
		all: o.AllowPrivate, allow: o.Allow,
		public: ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(alsoPrivate...)),
	}
}

// control checks the address of every connection before it is made.
func (g *guard) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if g.all {
		return nil
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return refuse("%q is no address", address)
	}
	for _, p := range g.allow {
		if p.Contains(to.Addr().Unmap()) {
			return nil
		}
	}
	if err := g.public.Safe(network, address, nil); err != nil {
		return refuse("%s is not a public address", to.Addr())
	}
	if port := to.Port(); port < leastFreePort && port != 80 && port != 443 {
		return refuse("port %d is not one of the web", port)
	}
	return nil
}

// url checks the parts of an address that the connection does not show.
func (g *guard) url(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return refuse("%q is neither http nor https", u.Scheme)
	case u.User != nil:
		return refuse("an address with a name or a password in it is not used")
	case u.Hostname() == "":
		return refuse("the address names no host")
	}
	return nil
}

// ParseURL parses a web address that a person gave: http or https, with a host
// and without a password. It does not check whether the host is public, because
// that is checked at every connection.
func ParseURL(field, raw string) (*url.URL, error) {
	wrong := func(message string) (*url.URL, error) {
		return nil, fermata.Invalid(fermata.Problem{Field: field, Message: message})
	}
	if strings.TrimSpace(raw) != raw || raw == "" {
		return wrong("an address is needed, such as https://example.com/hook")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return wrong("is no address such as https://example.com/hook")
	}
	if refused, ok := errors.AsType[*refusal]((&guard{}).url(u)); ok {
		return wrong(refused.why)
	}
	return u, nil
}

// refusal is the error of an address that may not be reached.
type refusal struct{ why string }

func refuse(format string, args ...any) error {
	return &refusal{fmt.Sprintf(format, args...)}
}

// Error returns the reason of the refusal.
func (r *refusal) Error() string { return r.why + ", so it is not connected to" }

// Refused reports whether a request failed because its address may not be
// reached.
func Refused(err error) bool {
	_, ok := errors.AsType[*refusal](err)
	return ok
}
