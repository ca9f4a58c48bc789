package outbound_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/internal/outbound"
	"github.com/fermata-hq/fermata/test/patience"
)

// counted is a server on every address of this machine that counts its
// connections.
type counted struct {
	port int
	came atomic.Int64
}

func count(t *testing.T) *counted {
	t.Helper()
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	c := &counted{port: listener.Addr().(*net.TCPAddr).Port}
	server := &http.Server{
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ReadHeaderTimeout: time.Second,
		ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				c.came.Add(1)
			}
		},
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return c
}

// names returns a name server with names that resolve to this machine.
func names() *nameServer {
	ip := netip.MustParseAddr
	always := func(a ...netip.Addr) [][]netip.Addr { return [][]netip.Addr{a} }
	return &nameServer{says: map[string][][]netip.Addr{
		"loopback.hostile.test":    always(ip("127.0.0.1")),
		"both.hostile.test":        always(ip("10.0.0.1"), ip("127.0.0.1"), ip("::1")),
		"six.hostile.test":         always(ip("::1")),
		"mapped.hostile.test":      always(ip("::ffff:127.0.0.1")),
		"metadata.google.internal": always(ip("169.254.169.254")),
		"localhost.localdomain":    always(ip("127.0.0.1")),
		"ip6-localhost":            always(ip("::1")),
		"foo.localhost":            always(ip("127.0.0.1")),
	}}
}

func get(t *testing.T, c *http.Client, address string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	res, err := c.Do(req)
	if err == nil {
		_ = res.Body.Close()
	}
	return err
}

func TestHostileAddressesAreNotConnectedTo(t *testing.T) {
	t.Parallel()
	here := count(t)
	client := outbound.Client(outbound.Options{Resolver: names().resolver(t)})
	addresses := hostile(here.port)
	refused := 0
	for _, address := range addresses {
		err := get(t, client, address)
		if err == nil {
			t.Errorf("%s: was connected to", address)
		}
		if outbound.Refused(err) {
			refused++
		} else {
			t.Logf("%s: %v", address, err)
		}
	}
	if n := here.came.Load(); n != 0 {
		t.Errorf("%d connections were made to this machine", n)
	}
	t.Logf("%d addresses, %d refused by the guard, the others are no addresses", len(addresses), refused)
	if refused < 500 {
		t.Errorf("the guard refused %d addresses, want at least 500", refused)
	}
}

// The same addresses can be reached when they are allowed. So the test above
// proves something.
func TestPrivateAddressesAreReachedWhenAllowed(t *testing.T) {
	t.Parallel()
	here := count(t)
	client := outbound.Client(outbound.Options{AllowPrivate: true, Resolver: names().resolver(t)})
	for _, host := range []string{
		"127.0.0.1", "127.0.0.2", "127.255.255.254", "0.0.0.0", "localhost", "127-0-0-1.hostile.test", "127-1-2-3.HOSTILE.test.",
		"loopback.hostile.test", "foo.localhost", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", wide("127.0.0.1"),
	} {
		if err := get(t, client, "http://"+host+":"+port(here)+"/"); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if here.came.Load() == 0 {
		t.Error("nobody came")
	}
}

func TestNameThatChangesIsRefused(t *testing.T) {
	t.Parallel()
	here := count(t)
	public, private := netip.MustParseAddr("93.184.215.14"), netip.MustParseAddr("127.0.0.1")
	server := &nameServer{says: map[string][][]netip.Addr{"rebind.hostile.test": {{public}, {private}}}}
	resolver := server.resolver(t)
	found, err := resolver.LookupNetIP(t.Context(), "ip4", "rebind.hostile.test")
	if err != nil || len(found) != 1 || found[0] != public {
		t.Fatalf("a look at the name before: %v, %v", found, err)
	}
	client := outbound.Client(outbound.Options{Resolver: resolver})
	err = get(t, client, "http://rebind.hostile.test:"+port(here)+"/")
	if !outbound.Refused(err) || here.came.Load() != 0 {
		t.Errorf("the name leads here now: %v, %d connections", err, here.came.Load())
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	here := count(t)
	listener, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	first := httptest.NewUnstartedServer(http.RedirectHandler("http://127.0.0.1:"+port(here)+"/", http.StatusTemporaryRedirect))
	_ = first.Listener.Close()
	first.Listener = listener
	first.Start()
	t.Cleanup(first.Close)
	client := outbound.Client(outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}})

	if err := get(t, client, first.URL); err != nil {
		t.Errorf("a redirect is a response: %v", err)
	}
	client.CheckRedirect = nil
	if err := get(t, client, first.URL); !outbound.Refused(err) {
		t.Errorf("a redirect that is followed to a private address: %v", err)
	}
	if n := here.came.Load(); n != 0 {
		t.Errorf("%d connections followed the redirect", n)
	}
}

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	here := count(t)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:"+port(here))
	}
	err := get(t, outbound.Client(outbound.Options{Resolver: names().resolver(t)}), "http://10-0-0-1.hostile.test:8080/")
	if !outbound.Refused(err) || here.came.Load() != 0 {
		t.Errorf("%v, %d connections to the proxy", err, here.came.Load())
	}
}

func TestPortsOfOtherServicesAreRefused(t *testing.T) {
	t.Parallel()
	server := &nameServer{says: map[string][][]netip.Addr{"example.test": {{netip.MustParseAddr("93.184.215.14")}}}}
	client := outbound.Client(outbound.Options{Resolver: server.resolver(t)})
	for _, p := range []string{"22", "25", "53", "111", "445", "587"} {
		if err := get(t, client, "http://example.test:"+p); !outbound.Refused(err) {
			t.Errorf("port %s: %v", p, err)
		}
	}
}

func TestParseURL(t *testing.T) {
	t.Parallel()
	for raw, valid := range map[string]bool{
		"https://example.com/hook?a=b": true, "http://example.com:8080": true, "https://[2606:4700::1]/": true,
		"": false, "example.com https://": false, "example.com": false, "ftp://example.com": false, "https://": false,
		"https://a:b@example.com": false, "https://a@example.com": false, "http://%zz": false, "javascript:alert(1)": false,
	} {
		if _, err := outbound.ParseURL("url", raw); (err == nil) != valid {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

func port(c *counted) string { return strconv.Itoa(c.port) }
