//go:build !windows && !plan9

package witness

import (
	"context"
	"encoding/json"
	"log/syslog"
	"net/url"
	"strings"
	"sync"

	"github.com/fermata-hq/fermata"
)

// syslogTag is the name of the program in the lines of a system log.
const syslogTag = "fermata-audit"

// Syslog sends checkpoints to a system log (RFC 3164), each as a line of JSON. Fermata cannot read a system log, so
// compare its lines with 'fermata audit verify --witness'.
type Syslog struct {
	address, network, host string

	mu     sync.Mutex
	writer *syslog.Writer
	// newest is the number of the newest checkpoint that was sent, by workspace.
	newest map[string]int64
}

// openSyslog returns the witness for the system log of this machine or of another one.
func openSyslog(address string) (Witness, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, badSyslog(address)
	}
	s := &Syslog{address: address, newest: map[string]int64{}}
	network, remote := strings.CutPrefix(u.Scheme, syslogScheme+"+")
	switch {
	case address == syslogScheme+":":
		return s, nil
	case !remote || network != "tcp" && network != "udp" || u.Hostname() == "" || u.Port() == "" || u.Path != "" || u.RawQuery != "" || u.User != nil:
		return nil, badSyslog(address)
	}
	s.network, s.host = network, u.Host
	return s, nil
}

func badSyslog(address string) error {
	return fermata.Errorf(fermata.CodeInvalidRequest, "%q names no system log", address).
		WithHint("syslog: is that of this machine; syslog+tcp://HOST:PORT and syslog+udp://HOST:PORT are others")
}

// Name returns the address.
func (s *Syslog) Name() string { return s.address }

// Keep sends the checkpoint, unless it was sent before. With UDP, it is unknown whether the checkpoint arrived.
func (s *Syslog) Keep(_ context.Context, c fermata.SignedCheckpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest[c.Workspace] >= c.Seq {
		return nil
	}
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if s.writer == nil {
		if s.writer, err = syslog.Dial(s.network, s.host, syslog.LOG_AUTHPRIV|syslog.LOG_NOTICE, syslogTag); err != nil {
			s.writer = nil
			return err
		}
	}
	if err = s.writer.Notice(string(line)); err == nil {
		s.newest[c.Workspace] = c.Seq
	}
	return err
}
