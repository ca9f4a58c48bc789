package email

import (
	"context"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/fermata-hq/fermata/internal/notice"
)

// sendTimeout is the time limit for one mail.
const sendTimeout = 30 * time.Second

// client returns a client of the server. It sends mails over TLS. Only a server
// on this machine may do without.
func (s *server) client() (*gomail.Client, error) {
	port, err := strconv.Atoi(s.port)
	if err != nil {
		return nil, err
	}
	opts, auth := []gomail.Option{gomail.WithTimeout(sendTimeout), gomail.WithTLSConfig(s.config)}, gomail.SMTPAuthAutoDiscover
	switch {
	case s.tls:
		opts = append(opts, gomail.WithSSL())
	case s.isLocal():
		// Without TLS, the library does not choose a way to sign in by itself.
		opts, auth = append(opts, gomail.WithTLSPolicy(gomail.TLSOpportunistic)), gomail.SMTPAuthPlain
	default:
		opts = append(opts, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.user != "" && s.password != "" {
		opts = append(opts, gomail.WithSMTPAuth(auth), gomail.WithUsername(s.user), gomail.WithPassword(s.password))
	}
	return gomail.NewClient(s.host, append(opts, gomail.WithPort(port))...)
}

// send sends one mail over a connection of its own.
func (s *server) send(ctx context.Context, msg *gomail.Msg) error {
	client, err := s.client()
	if err != nil {
		return notice.Permanent(err)
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	// The server has accepted the mail if it is delivered. A later error must
	// not make Fermata send it again.
	if err := client.DialAndSendWithContext(ctx, msg); err != nil && !msg.IsDelivered() {
		return classifySendError(err)
	}
	return nil
}
