package outbound_test

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer answers like the worst name server: a name that can be read as an
// address in any way resolves to that address, and a name can change its
// answer.
type nameServer struct {
	mu sync.Mutex
	// answers are the answers for a name, one list for each query; the last one
	// repeats.
	answers map[string][][]netip.Addr
}

// resolver returns a resolver that uses only this name server.
func (s *nameServer) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go s.serve(conn)
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (s *nameServer) serve(conn net.PacketConn) {
	buffer := make([]byte, 4096)
	for {
		n, from, err := conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		if reply, err := s.reply(buffer[:n]); err == nil {
			_, _ = conn.WriteTo(reply, from)
		}
	}
}

func (s *nameServer) reply(request []byte) ([]byte, error) {
	var p dnsmessage.Parser
	header, err := p.Start(request)
	if err != nil {
		return nil, err
	}
	question, err := p.Question()
	if err != nil {
		return nil, err
	}
	reply := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: header.ID, Response: true, Authoritative: true},
		Questions: []dnsmessage.Question{question},
	}
	for _, a := range s.addresses(question) {
		r := dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: question.Name, Class: question.Class}}
		switch {
		case a.Is4() && question.Type == dnsmessage.TypeA:
			r.Body = &dnsmessage.AResource{A: a.As4()}
		case a.Is6() && question.Type == dnsmessage.TypeAAAA:
			r.Body = &dnsmessage.AAAAResource{AAAA: a.As16()}
		default:
			continue
		}
		reply.Answers = append(reply.Answers, r)
	}
	return reply.Pack()
}

// addresses returns the present answer for a name. A name that is queried for
// both kinds of address changes after the pair.
func (s *nameServer) addresses(q dnsmessage.Question) []netip.Addr {
	name := strings.TrimSuffix(strings.ToLower(q.Name.String()), ".")
	s.mu.Lock()
	defer s.mu.Unlock()
	answers, ok := s.answers[name]
	switch {
	case !ok:
		if a, ok := parseLooseIPv4(strings.TrimSuffix(name, ".hostile.test")); ok {
			return []netip.Addr{a}
		}
		return nil
	case len(answers) > 1 && q.Type == dnsmessage.TypeA:
		s.answers[name] = answers[1:]
	}
	return answers[0]
}

// parseLooseIPv4 parses an IPv4 address as old system libraries do: one to four parts,
// each decimal, octal or hexadecimal. Hyphens count as dots.
func parseLooseIPv4(text string) (netip.Addr, bool) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == '-' })
	if len(parts) == 0 || len(parts) > 4 {
		return netip.Addr{}, false
	}
	var whole uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 32)
		if err != nil {
			return netip.Addr{}, false
		}
		if i == len(parts)-1 {
			whole += n
		} else {
			whole += n << (24 - 8*i)
		}
	}
	return netip.AddrFrom4([4]byte{byte(whole >> 24), byte(whole >> 16), byte(whole >> 8), byte(whole)}), true
}
