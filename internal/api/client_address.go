package api

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientAddress returns the address that a request came from, for rate limits. It is the peer, or the last address
// before the trusted proxies. Headers that the client itself sets have no effect. An IPv6 address counts as its /64
// network, because one client has such a network for itself.
func clientAddress(r *http.Request, trusted []netip.Prefix) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "unknown " + r.RemoteAddr
	}
	at := peer.Addr().Unmap()
	forwarded, plain := elementsOf(r.Header["Forwarded"]), elementsOf(r.Header["X-Forwarded-For"])
	for i, element := range forwarded {
		forwarded[i] = forParameter(element)
	}
	byForwarded, byPlain := walkBack(at, forwarded, trusted), walkBack(at, plain, trusted)
	switch {
	case len(forwarded) == 0:
		at = byPlain
	case len(plain) == 0 || byPlain == byForwarded:
		at = byForwarded
	default:
		// A proxy writes only one of the two headers. The client sent the other one, and it is unknown which one that
		// is. So neither header is used.
	}
	if at.Is6() {
		network, err := at.WithZone("").Prefix(64)
		if err == nil {
			return network.String()
		}
	}
	return at.String()
}

// walkBack goes from the peer towards the client, as long as the host that named the previous address is trusted.
func walkBack(at netip.Addr, hops []string, trusted []netip.Prefix) netip.Addr {
	for _, name := range slices.Backward(hops) {
		if !slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(at) }) {
			break
		}
		before, ok := readAddress(name)
		if !ok {
			break
		}
		at = before
	}
	return at
}

// elementsOf splits the lines of a header that is a list (RFC 9110 §5.6.1).
func elementsOf(lines []string) []string {
	var all []string
	for _, line := range lines {
		all = append(all, strings.Split(line, ",")...)
	}
	return all
}

// forParameter returns the parameter "for" of an element of Forwarded (RFC 7239 §4), or "" if it has none.
func forParameter(element string) string {
	for pair := range strings.SplitSeq(element, ";") {
		name, value, _ := strings.Cut(pair, "=")
		if strings.EqualFold(strings.TrimSpace(name), "for") {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}

// readAddress parses an address in the form that proxies write, with or without a port.
func readAddress(s string) (netip.Addr, bool) {
	s = strings.TrimSpace(s)
	if addrPort, err := netip.ParseAddrPort(s); err == nil {
		return addrPort.Addr().Unmap(), true
	}
	at, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return at.Unmap(), err == nil
}
