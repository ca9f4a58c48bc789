package api

import (
	"net/http"
	"net/netip"
	"testing"
)

func TestClientAddress(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, c := range map[string]struct {
		peer           string
		plain, forward []string
		want           string
	}{
		"without a proxy":                  {peer: "192.0.2.1:9", want: "192.0.2.1"},
		"a claim of a client":              {peer: "192.0.2.1:9", plain: []string{"198.51.100.7"}, want: "192.0.2.1"},
		"a proxy":                          {peer: "127.0.0.1:9", plain: []string{"198.51.100.7"}, want: "198.51.100.7"},
		"a claim before a proxy":           {peer: "127.0.0.1:9", plain: []string{"203.0.113.9, 198.51.100.7"}, want: "198.51.100.7"},
		"a claim in a line of its own":     {peer: "127.0.0.1:9", plain: []string{"203.0.113.9", "198.51.100.7"}, want: "198.51.100.7"},
		"two proxies":                      {peer: "127.0.0.1:9", plain: []string{"203.0.113.9, 198.51.100.7, 10.1.2.3"}, want: "198.51.100.7"},
		"a proxy in front of nobody":       {peer: "127.0.0.1:9", want: "127.0.0.1"},
		"garbage":                          {peer: "127.0.0.1:9", plain: []string{"x, 10.1.2.3"}, want: "10.1.2.3"},
		"with a port":                      {peer: "127.0.0.1:9", plain: []string{"198.51.100.7:4711"}, want: "198.51.100.7"},
		"RFC 7239":                         {peer: "127.0.0.1:9", forward: []string{`for=203.0.113.9;proto=https, For="198.51.100.7:80";by=x`}, want: "198.51.100.7"},
		"RFC 7239 with IPv6":               {peer: "[fd00::1]:9", forward: []string{`for="[2001:db8:1:2::17]:4711"`}, want: "2001:db8:1:2::/64"},
		"RFC 7239 without an address":      {peer: "127.0.0.1:9", forward: []string{`for=_hidden`}, want: "127.0.0.1"},
		"both headers agree":               {peer: "127.0.0.1:9", plain: []string{"198.51.100.7"}, forward: []string{"for=198.51.100.7"}, want: "198.51.100.7"},
		"the other header is the client's": {peer: "127.0.0.1:9", plain: []string{"198.51.100.7"}, forward: []string{"for=203.0.113.9"}, want: "127.0.0.1"},
		"IPv6 by its network":              {peer: "[2001:db8:1:2::17]:9", want: "2001:db8:1:2::/64"},
		"IPv4 in IPv6":                     {peer: "[::ffff:192.0.2.1]:9", want: "192.0.2.1"},
		"no address":                       {peer: "@", want: "unknown @"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Forwarded-For": c.plain, "Forwarded": c.forward}}
		if got := clientAddress(r, trusted); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
