package email

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	_ "embed" // for the schema
	"encoding/json"
	"net"
	"net/mail"
	"net/url"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// Kind is the name of this kind of channel.
const Kind = "email"

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema of the settings.
func Schema() json.RawMessage { return bytes.Clone(schema) }

// Secrets returns the names of the settings that are never shown again. The addresses of the servers are among them
// because they may contain a password.
func Secrets() []string { return []string{"smtp", "imap", "password", "imap_password"} }

const (
	tokenPlaceholder = "{token}"
	// defaultPoll is how often a mailbox is checked if its server does not announce new mail. minPoll is the shortest
	// interval that the settings may give.
	defaultPoll = 30 * time.Second
	minPoll     = time.Second
	// longestLocal is how many characters the part before the @ may have (RFC 5321).
	longestLocal = 64
)

// settings are the settings as an operator writes them.
type settings struct {
	SMTP         string `json:"smtp"`
	From         string `json:"from"`
	Password     string `json:"password"`
	IMAP         string `json:"imap"`
	IMAPPassword string `json:"imap_password"`
	Mailbox      string `json:"mailbox"`
	MoveTo       string `json:"move_to"`
	ReplyTo      string `json:"reply_to"`
	Poll         string `json:"poll"`
	AuthServID   string `json:"authserv_id"`
	CA           string `json:"ca"`
}

// config is the result of checking the settings.
type config struct {
	from *mail.Address
	smtp server
	// imap is nil if replies are not read.
	imap    *server
	mailbox string
	moveTo  string
	// replyTo is the address for replies. It is empty if replies are not read.
	replyTo    string
	poll       time.Duration
	authServID string
}

// server is the address of a server and the user to sign in as.
type server struct {
	host, port     string
	tls            bool // from the first byte
	user, password string
	config         *tls.Config
}

func (s *server) address() string { return net.JoinHostPort(s.host, s.port) }

// isLocal reports whether the server runs on this machine. Only then may a connection go without TLS.
func (s *server) isLocal() bool {
	ip := net.ParseIP(s.host)
	return s.host == "localhost" || ip != nil && ip.IsLoopback()
}

// readSettings checks the settings. It connects to nothing.
func readSettings(raw json.RawMessage) (*config, error) {
	s := settings{Mailbox: "INBOX"}
	if err := strictjson.UnmarshalSettings(raw, &s); err != nil {
		return nil, err
	}
	c := &config{mailbox: s.Mailbox, moveTo: s.MoveTo, authServID: s.AuthServID, poll: defaultPoll}
	var err error
	if c.from, err = mail.ParseAddress(s.From); err != nil {
		return nil, invalid("from", "must be a mail address, such as fermata@example.com or Fermata <fermata@example.com>")
	}
	trust, err := trustedAuthorities(s.CA)
	if err != nil {
		return nil, err
	}
	smtp, err := readServer("smtp", s.SMTP, s.Password, map[string]string{"smtp": "587", "smtps": "465"}, trust)
	if err != nil {
		return nil, err
	}
	c.smtp = *smtp
	if s.Poll != "" {
		if c.poll, err = time.ParseDuration(s.Poll); err != nil || c.poll < minPoll {
			return nil, invalid("poll", "must be a duration of at least a second, such as 30s")
		}
	}
	return c, c.readReplies(s, trust)
}

// readReplies checks the settings about replies.
func (c *config) readReplies(s settings, trust *x509.CertPool) error {
	if s.IMAP == "" {
		if s.ReplyTo != "" || s.MoveTo != "" {
			return invalid("imap", "is needed to read replies: give it, or leave out reply_to and move_to")
		}
		return nil
	}
	password := s.IMAPPassword
	if password == "" {
		password = s.Password
	}
	var err error
	if c.imap, err = readServer("imap", s.IMAP, password, map[string]string{"imap": "143", "imaps": "993"}, trust); err != nil {
		return err
	}
	if c.imap.user == "" || c.imap.password == "" {
		return invalid("imap", "needs a user and a password: imaps://user@host and password")
	}
	c.replyTo = s.ReplyTo
	switch {
	case c.replyTo == "" && strings.Contains(c.imap.user, "@"):
		c.replyTo = c.imap.user
	case c.replyTo == "":
		c.replyTo = c.from.Address
	}
	// The check replaces the placeholder by letters.
	a, err := mail.ParseAddress(strings.Replace(c.replyTo, tokenPlaceholder, "token", 1))
	if err != nil || a.Name != "" || strings.Contains(a.Address, "{") {
		return invalid("reply_to", "must be a mail address, such as answers+{token}@example.com")
	}
	return nil
}

// readServer reads the address of a server: scheme://user:password@host:port.
func readServer(field, address, password string, ports map[string]string, trust *x509.CertPool) (*server, error) {
	u, err := url.Parse(address)
	if err != nil || ports[u.Scheme] == "" || u.Hostname() == "" || u.Path != "" && u.Path != "/" {
		// The text of the parse error could contain the password.
		return nil, invalid(field, "must be "+field+"://user@host:port, or "+field+"s://… for a port that speaks TLS from the start; the password goes into password")
	}
	s := &server{
		host: u.Hostname(), port: u.Port(), tls: u.Scheme == field+"s", user: u.User.Username(), password: password,
		config: &tls.Config{ServerName: u.Hostname(), RootCAs: trust, MinVersion: tls.VersionTLS12},
	}
	if own, ok := u.User.Password(); ok {
		s.password = own
	}
	if s.port == "" {
		s.port = ports[u.Scheme]
	}
	return s, nil
}

// trustedAuthorities returns the certificate authorities of the system together with those of the settings. If the
// settings have none, it returns nil, which means those of the system.
func trustedAuthorities(pem string) (*x509.CertPool, error) {
	if pem == "" {
		return nil, nil //nolint:nilnil // no pool stands for the system's
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM([]byte(pem)) {
		return nil, invalid("ca", "must be certificates in PEM")
	}
	return pool, nil
}

func invalid(field, message string) error {
	return fermata.Invalid(fermata.Problem{Field: field, Message: message})
}
