package outbound_test

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// notPublic4 are IPv4 addresses from every network that is not public.
var notPublic4 = []string{
	"127.0.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.254", "0.0.0.0", "0.1.2.3",
	"10.0.0.1", "10.255.255.254", "172.16.0.1", "172.31.255.254", "192.168.0.1", "192.168.255.254",
	"169.254.169.254", "169.254.170.2", "100.64.0.1", "100.100.100.200", "192.0.0.192",
	"168.63.129.16", "198.18.0.1", "192.0.2.1", "198.51.100.1", "203.0.113.1",
	"224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "192.88.99.1",
}

// notPublic6 are the same for IPv6, in several spellings.
var notPublic6 = []string{
	"::1", "0:0:0:0:0:0:0:1", "0000:0000:0000:0000:0000:0000:0000:0001", "::", "0::0",
	"fe80::1", "fe80::1%25lo", "fe80::1%25eth0", "::1%25lo", "febf::1", "fec0::1",
	"fc00::1", "fd00::1", "fd00:ec2::254", "fdff:ffff::1", "ff02::1", "ff01::1", "ff0e::1",
	"100::1", "2001:db8::1", "3fff::1", "5f00::1", "64:ff9b:1::1", "2001::1", "2001:10::1", "2001:20::1", "4000::1",
}

// spellings returns ways to write an IPv4 address, or to hide it in another
// address.
func spellings(a netip.Addr) []string {
	b := a.As4()
	n := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	high, low := n>>16, n&0xffff
	hosts := []string{
		a.String(), a.String() + ".",
		fmt.Sprint(n), fmt.Sprintf("0x%x", n), fmt.Sprintf("0X%X", n), fmt.Sprintf("0%o", n),
		fmt.Sprintf("0x%x.0x%x.0x%x.0x%x", b[0], b[1], b[2], b[3]),
		fmt.Sprintf("0%o.0%o.0%o.0%o", b[0], b[1], b[2], b[3]),
		fmt.Sprintf("%03d.%03d.%03d.%03d", b[0], b[1], b[2], b[3]),
		fmt.Sprintf("%d.%d", b[0], n&0xffffff), fmt.Sprintf("%d.%d.%d", b[0], b[1], low),
		fmt.Sprintf("0x%x.%d", b[0], n&0xffffff),
		fmt.Sprintf("%d-%d-%d-%d.hostile.test", b[0], b[1], b[2], b[3]),
		fmt.Sprintf("%d-%d-%d-%d.HOSTILE.test.", b[0], b[1], b[2], b[3]),
		toFullWidth(a.String()), strings.ReplaceAll(a.String(), ".", "。"), url.PathEscape(toFullWidth(a.String())),
		strings.ReplaceAll(a.String(), ".", "%2e"),
		fmt.Sprintf("[::ffff:%s]", a), fmt.Sprintf("[::ffff:%x:%x]", high, low), fmt.Sprintf("[0:0:0:0:0:ffff:%x:%x]", high, low),
		fmt.Sprintf("[::%s]", a), fmt.Sprintf("[::ffff:0:%s]", a),
		fmt.Sprintf("[64:ff9b::%s]", a), fmt.Sprintf("[64:ff9b:1::%s]", a),
		fmt.Sprintf("[2002:%x:%x::1]", high, low),
		fmt.Sprintf("[2001:0:%x:%x::1]", high, low), fmt.Sprintf("[2001::%x:%x]", ^high&0xffff, ^low&0xffff),
	}
	return hosts
}

// toFullWidth replaces digits by full-width ones, which some programs convert to
// digits.
func toFullWidth(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r - '0' + '\uff10'
		}
		return r
	}, text)
}

// hostileURLs returns every hostile address, with a port.
func hostileURLs(port int) []string {
	var all []string
	add := func(host string) {
		all = append(all, fmt.Sprintf("http://%s:%d/hook", host, port))
	}
	for _, text := range notPublic4 {
		for _, host := range spellings(netip.MustParseAddr(text)) {
			add(host)
		}
	}
	for _, host := range notPublic6 {
		add("[" + host + "]")
	}
	for _, host := range []string{
		"localhost", "localhost.", "LOCALHOST", "LocalHost", "localhost.localdomain", "ip6-localhost", "foo.localhost",
		"loopback.hostile.test", "both.hostile.test", "six.hostile.test", "mapped.hostile.test", "metadata.google.internal",
		"ⓛocalhost", "ｌｏｃａｌｈｏｓｔ", "ⓁⓄⒸⒶⓁⒽⓄⓈⓉ",
	} {
		add(host)
	}
	for _, raw := range []string{
		"http://127.0.0.1@127.0.0.1:%d/", "http://example.com@127.0.0.1:%d/", "http://127.0.0.1:%d#@example.com/",
		"http://127.0.0.1:%d?@example.com/", "http://a:b@localhost:%d/", "https://127.0.0.1:%d/", "https://localhost:%d/",
		"HTTP://127.0.0.1:%d/", "gopher://127.0.0.1:%d/", "file://127.0.0.1:%d/etc/passwd", "ftp://127.0.0.1:%d/", "unix://127.0.0.1:%d/",
		"//127.0.0.1:%d/", "http:127.0.0.1:%d/", "http:///127.0.0.1:%d/", "http://127.0.0.1\\@example.com:%d/",
		"http://127.0.0.1 :%d/", "http://127.0.0.1\t:%d/", "http://[127.0.0.1]:%d/", "http://::1:%d/", "http://:%d/", "http://0:%d/",
	} {
		all = append(all, fmt.Sprintf(raw, port))
	}
	return all
}
