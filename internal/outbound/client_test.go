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

// countingServer is a server on every address of this machine that counts its
// connections.
type countingServer struct {
	port        int
	connections atomic.Int64
}

func newCountingServer(t *testing.T) *countingServer {
	t.Helper()
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	c := &countingServer{port: listener.Addr().(*net.TCPAddr).Port}
	server := &http.Server{
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ReadHeaderTimeout: time.Second,
		ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				c.connections.Add(1)
			}
		},
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return c
}

// newHostileNames returns a name server with names that resolve to this machine.
func newHostileNames() *nameServer {
	ip := netip.MustParseAddr
	always := func(a ...netip.Addr) [][]netip.Addr { return [][]netip.Addr{a} }
	return &nameServer{answers: map[string][][]netip.Addr{
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
	here := newCountingServer(t)
	client := outbound.Client(outbound.Options{Resolver: newHostileNames().resolver(t)})
	addresses := hostileURLs(here.port)
	refused := 0
	for _, address := range addresses {
		err := get(t, client, address)
		if err == nil {
			t.Errorf("%s: was connected to", address)
		}
		if outbound.IsRefused(err) {
			refused++
		} else {
			t.Logf("%s: %v", address, err)
		}
	}
	if n := here.connections.Load(); n != 0 {
		t.Errorf("%d connections were made to this machine", n)
	}
	t.Logf("%d addresses, %d refused by the guard, the others are no addresses", len(addresses), refused)
	if refused < 500 {
		t.Errorf("the guard refused %d addresses, want at least 500", refused)
	}
}

// The same addresses can be reached when they are allowed. This shows that the
// guard refuses them in the test above.
func TestPrivateAddressesAreReachedWhenAllowed(t *testing.T) {
	t.Parallel()
	here := newCountingServer(t)
	client := outbound.Client(outbound.Options{AllowPrivate: true, Resolver: newHostileNames().resolver(t)})
	for _, host := range []string{
		"127.0.0.1", "127.0.0.2", "127.255.255.254", "0.0.0.0", "localhost", "127-0-0-1.hostile.test", "127-1-2-3.HOSTILE.test.",
		"loopback.hostile.test", "foo.localhost", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", toFullWidth("127.0.0.1"),
	} {
		if err := get(t, client, "http://"+host+":"+port(here)+"/"); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if here.connections.Load() == 0 {
		t.Error("nobody came")
	}
}

func TestNameThatChangesIsRefused(t *testing.T) {
	t.Parallel()
	here := newCountingServer(t)
	public, private := netip.MustParseAddr("93.184.215.14"), netip.MustParseAddr("127.0.0.1")
	server := &nameServer{answers: map[string][][]netip.Addr{"rebind.hostile.test": {{public}, {private}}}}
	resolver := server.resolver(t)
	found, err := resolver.LookupNetIP(t.Context(), "ip4", "rebind.hostile.test")
	if err != nil || len(found) != 1 || found[0] != public {
		t.Fatalf("a look at the name before: %v, %v", found, err)
	}
	client := outbound.Client(outbound.Options{Resolver: resolver})
	err = get(t, client, "http://rebind.hostile.test:"+port(here)+"/")
	if !outbound.IsRefused(err) || here.connections.Load() != 0 {
		t.Errorf("the name leads here now: %v, %d connections", err, here.connections.Load())
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	here := newCountingServer(t)
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
	if err := get(t, client, first.URL); !outbound.IsRefused(err) {
		t.Errorf("a redirect that is followed to a private address: %v", err)
	}
	if n := here.connections.Load(); n != 0 {
		t.Errorf("%d connections followed the redirect", n)
	}
}

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	here := newCountingServer(t)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:"+port(here))
	}
	err := get(t, outbound.Client(outbound.Options{Resolver: newHostileNames().resolver(t)}), "http://10-0-0-1.hostile.test:8080/")
	if !outbound.IsRefused(err) || here.connections.Load() != 0 {
		t.Errorf("%v, %d connections to the proxy", err, here.connections.Load())
	}
}

func TestPortsOfOtherServicesAreRefused(t *testing.T) {
	t.Parallel()
	server := &nameServer{answers: map[string][][]netip.Addr{"example.test": {{netip.MustParseAddr("93.184.215.14")}}}}
	client := outbound.Client(outbound.Options{Resolver: server.resolver(t)})
	for _, p := range []string{"22", "25", "53", "111", "445", "587"} {
		if err := get(t, client, "http://example.test:"+p); !outbound.IsRefused(err) {
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

func port(c *countingServer) string { return strconv.Itoa(c.port) }
