package access

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"
	"golang.org/x/time/rate"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

const (
	// maxQueuedMails is the largest number of mails that wait to be sent. Further
	// mails are dropped, and people must ask again.
	maxQueuedMails = 256
	// mailTimeout is the time limit for sending one mail.
	mailTimeout = 30 * time.Second
	// A mailbox gets at most mailboxBurst links at once, and then one in
	// mailboxInterval. maxMailboxes is the largest number of mailboxes that are
	// counted.
	mailboxBurst    = 3
	mailboxInterval = time.Minute
	maxMailboxes    = 10_000
)

// MailOptions configure how mails are sent.
type MailOptions struct {
	// Server is smtp://user:password@host:port, or smtps://… for a port that
	// speaks TLS from the start.
	Server string
	// From is the sender's address, also in the form Name <address>.
	From string
	// Link returns the address of a link for its secret.
	Link   func(secret string) string
	Engine *engine.Engine
	Log    *slog.Logger
}

// Mailer sends mails with sign-in links and invitations. The goroutine of
// [Mailer.Run] looks up whether an address belongs to a member, so that the
// time of a reply does not reveal it.
type Mailer struct {
	MailOptions
	client *gomail.Client
	jobs   chan func(context.Context) error
	// limiters limits how often each mailbox gets a mail. Only Run uses it.
	limiters map[string]*rate.Limiter
}

// NewMailer checks the options. It does not connect.
func NewMailer(o MailOptions) (*Mailer, error) {
	u, err := url.Parse(o.Server)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || u.Path != "" && u.Path != "/" {
		// The text of the error could contain the password.
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "--smtp must be smtp://user:password@host:port or smtps://…")
	}
	if err := gomail.NewMsg().From(o.From); err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "--mail-from needs a mail address: %q is none", o.From)
	}
	client, err := gomail.NewClient(u.Hostname(), smtpOptions(u)...)
	if err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "--smtp: %w", err)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Mailer{MailOptions: o, client: client, jobs: make(chan func(context.Context) error, maxQueuedMails), limiters: map[string]*rate.Limiter{}}, nil
}

// smtpOptions returns the options for a server address. Mails go over TLS; TLS
// is optional only for a server on this machine.
func smtpOptions(u *url.URL) []gomail.Option {
	opts, auth := []gomail.Option{gomail.WithTimeout(mailTimeout)}, gomail.SMTPAuthAutoDiscover
	switch ip := net.ParseIP(u.Hostname()); {
	case u.Scheme == "smtps":
		opts = append(opts, gomail.WithSSLPort(false))
	case u.Hostname() == "localhost" || ip != nil && ip.IsLoopback():
		// Without TLS, the library does not find an authentication method by
		// itself.
		opts, auth = append(opts, gomail.WithTLSPortPolicy(gomail.TLSOpportunistic)), gomail.SMTPAuthPlain
	default:
		opts = append(opts, gomail.WithTLSPortPolicy(gomail.TLSMandatory))
	}
	if port, err := strconv.Atoi(u.Port()); err == nil {
		opts = append(opts, gomail.WithPort(port))
	}
	if password, ok := u.User.Password(); ok {
		opts = append(opts, gomail.WithSMTPAuth(auth), gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	return opts
}

// Run sends mails until ctx ends.
func (m *Mailer) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case job := <-m.jobs:
			if err := job(ctx); err != nil && ctx.Err() == nil {
				m.Log.ErrorContext(ctx, "a mail was not sent", "error", err)
			}
		}
	}
}

func (m *Mailer) enqueue(job func(context.Context) error) {
	select {
	case m.jobs <- job:
	default:
		m.Log.Warn("a mail was dropped: too many wait")
	}
}

// SendSignIn sends a link to the member with the address, if there is one. It
// returns at once.
func (m *Mailer) SendSignIn(email string) {
	m.enqueue(func(ctx context.Context) error {
		if !m.mayWriteTo(email) {
			m.Log.WarnContext(ctx, "a sign-in mail was not sent: too many to this address")
			return nil
		}
		l, err := m.Engine.MakeMailLink(ctx, email)
		if fermata.CodeOf(err) == fermata.CodeNotFound {
			return nil
		}
		if err != nil {
			return err
		}
		return m.send(ctx, email, letter{
			Subject: "Sign in to Fermata", Button: "Sign in as " + l.Member, Link: m.Link(l.Secret),
			Lines: []string{"This link signs you in to Fermata as " + l.Member + ". It works once, for 15 minutes."},
			End:   "If you did not ask for it, you can ignore this mail: nobody gets in without the link.",
		})
	})
}

// SendInvitation sends the link of an invitation. It returns at once.
func (m *Mailer) SendInvitation(i *fermata.Invitation) {
	m.enqueue(func(ctx context.Context) error {
		by := i.CreatedBy.Name
		if by == "" {
			by = "An admin"
		}
		return m.send(ctx, i.Email, letter{
			Subject: by + " invites you to Fermata", Button: "Accept the invitation", Link: i.URL,
			Lines: []string{by + " invites you to Fermata, where agents ask people. You will be called " + i.Handle + ".", "The link works once, for seven days."},
			End:   "If you do not know what this is about, you can ignore this mail.",
		})
	})
}

// mayWriteTo reports whether a mailbox may get another mail.
func (m *Mailer) mayWriteTo(email string) bool {
	bucket, ok := m.limiters[email]
	if !ok {
		if len(m.limiters) >= maxMailboxes {
			clear(m.limiters)
		}
		bucket = rate.NewLimiter(rate.Every(mailboxInterval), mailboxBurst)
		m.limiters[email] = bucket
	}
	return bucket.Allow()
}

func (m *Mailer) send(ctx context.Context, to string, l letter) error {
	msg := gomail.NewMsg()
	if err := msg.From(m.From); err != nil {
		return err
	}
	if err := msg.To(to); err != nil {
		return err
	}
	msg.Subject(l.Subject)
	msg.SetDate()
	msg.SetMessageID()
	// This asks mail programs to send no out-of-office reply (RFC 3834).
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	text, html, err := l.render()
	if err != nil {
		return err
	}
	msg.SetBodyString(gomail.TypeTextPlain, text)
	msg.AddAlternativeString(gomail.TypeTextHTML, html)
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	if err := m.client.DialAndSendWithContext(ctx, msg); err != nil {
		return errors.New(linkSecret().ReplaceAllString(err.Error(), "[removed]"))
	}
	return nil
}

// linkSecret matches the secret of a link. A mail server may repeat it when it
// refuses the mail, and a person who reads it in a log could sign in.
var linkSecret = lazyregexp.New(fermata.LinkPrefix + `\w+`)
