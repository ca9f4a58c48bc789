package email

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// Check connects to both servers and signs in. The error says what is wrong,
// and its hint is the remedy.
func (c *Channel) Check(ctx context.Context) error {
	return errors.Join(c.checkSMTP(ctx), c.checkIMAP(ctx))
}

func (c *Channel) checkSMTP(ctx context.Context) error {
	client, err := c.smtp.client()
	if err != nil {
		return fermata.Errorf(fermata.CodeInvalidRequest, "the outgoing server's address: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	conn, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return explain("the outgoing server "+c.smtp.address(), "smtp", err)
	}
	defer func() { _ = client.CloseWithSMTPClient(conn) }()
	if err := conn.Mail(c.from.Address); err != nil {
		return fermata.Errorf(fermata.CodeUnavailable, "the outgoing server %s does not take mails from %s: %w", c.smtp.address(), c.from.Address, err).
			WithHint("set from to an address that this user may send as")
	}
	return nil
}

func (c *Channel) checkIMAP(ctx context.Context) error {
	if c.imap == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout+time.Second)
	defer cancel()
	box, err := c.openMailbox(ctx)
	if err != nil {
		return explain("the mailbox at "+c.imap.address(), "imap", err)
	}
	box.close()
	return nil
}

// explain turns a connection error into one that names the problem and the
// remedy.
func explain(what, field string, err error) error {
	var (
		dns         *net.DNSError
		unknown     x509.UnknownAuthorityError
		otherName   x509.HostnameError
		invalidCert x509.CertificateInvalidError
		timeout     net.Error
		domainErr   *fermata.Error
	)
	e := fermata.Errorf(fermata.CodeUnavailable, "%s cannot be used: %w", what, err)
	text := strings.ToLower(err.Error())
	switch {
	case errors.As(err, &domainErr):
		return domainErr
	case errors.As(err, &dns):
		return e.WithHint("there is no such host: check the name in %s", field)
	case errors.As(err, &unknown):
		return e.WithHint("its certificate is from an authority that this machine does not know: put the authority's certificate into ca")
	case errors.As(err, &otherName):
		return e.WithHint("its certificate is for another name: use one of its names in %s", field)
	case errors.As(err, &invalidCert):
		return e.WithHint("its certificate is not valid now: renew it, or check the clock of this machine")
	case strings.Contains(text, "starttls"):
		return e.WithHint("the server offers no TLS at this port: use %ss:// with the port that speaks TLS from the start", field)
	case isAuthFailure(text):
		return e.WithHint("check the user in %s and the password; many providers want an app password here", field)
	case strings.Contains(text, "first record does not look like a tls handshake"):
		return e.WithHint("the port does not speak TLS from the start: use %s:// instead of %ss://", field, field)
	case strings.Contains(text, "refused"):
		return e.WithHint("nothing listens there: check the host and the port in %s", field)
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return e.WithHint("no answer: check the host and the port in %s, and whether a firewall lets this machine through", field)
	default:
		return e.WithHint("check the host and the port in %s", field)
	}
}

func isAuthFailure(text string) bool {
	for _, word := range []string{"535", "534", "530", "auth", "login", "password", "credential"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// mailboxError returns an error of a mailbox, with its remedy as the hint.
func mailboxError(what string, err error) error {
	e := fermata.Errorf(fermata.CodeUnavailable, "%s: %w", what, err)
	if strings.Contains(what, "password") {
		return e.WithHint("check the user in imap and the password; many providers want an app password here")
	}
	return e.WithHint("check the name of the folder in mailbox")
}
