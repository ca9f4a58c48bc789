// Package names is a stand-in for DNS servers that knows no name. So tests ask no DNS server on the network.
package names

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Main runs the tests of a package with every name unknown. Call it from TestMain.
func Main(m *testing.M) {
	BlockLookups()
	os.Exit(m.Run())
}

// BlockLookups makes every name unknown to this process, except the names in the machine's hosts file.
func BlockLookups() {
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go serve(server)
		return client, nil
	}}
}

// serve answers the queries of one connection. The connection is a stream, so each message follows its length.
func serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for {
		var length uint16
		if err := binary.Read(conn, binary.BigEndian, &length); err != nil {
			return
		}
		data := make([]byte, length)
		if _, err := io.ReadFull(conn, data); err != nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(data); err != nil {
			return
		}
		reply := dnsmessage.Message{
			Header:    dnsmessage.Header{ID: m.ID, Response: true, RecursionDesired: true, RecursionAvailable: true, RCode: dnsmessage.RCodeNameError},
			Questions: m.Questions,
		}
		packed, err := reply.Pack()
		if err != nil {
			return
		}
		if _, err := conn.Write(binary.BigEndian.AppendUint16(nil, uint16(len(packed)))); err != nil {
			return
		}
		if _, err := conn.Write(packed); err != nil {
			return
		}
	}
}
