package access_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/mail"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/access"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/test/patience"
)

// smtpServer is an SMTP server that requires a password and stores the mails.
type smtpServer struct {
	t        *testing.T
	addr     string
	received chan receivedMail
	// repeats makes the server refuse mails with an error that contains their
	// link.
	repeats bool
}

// receivedMail is one mail.
type receivedMail struct {
	from, to string
	data     []byte
}

func newSMTPServer(t *testing.T) *smtpServer {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &smtpServer{t: t, addr: listener.Addr().String(), received: make(chan receivedMail, 100)}
	server := smtp.NewServer(p)
	server.Domain, server.AllowInsecureAuth = "localhost", true
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return p
}

// NewSession implements [smtp.Backend].
func (p *smtpServer) NewSession(*smtp.Conn) (smtp.Session, error) {
	return &smtpSession{server: p}, nil
}

type smtpSession struct {
	server          *smtpServer
	isAuthenticated bool
	mail            receivedMail
}

func (c *smtpSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (c *smtpSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "fermata" || password != "p@ss word" {
			return errors.New("wrong password")
		}
		c.isAuthenticated = true
		return nil
	}), nil
}

func (c *smtpSession) Reset() { c.mail = receivedMail{} }

func (c *smtpSession) Logout() error { return nil }

func (c *smtpSession) Mail(from string, _ *smtp.MailOptions) error {
	if !c.isAuthenticated {
		return smtp.ErrAuthRequired
	}
	c.mail.from = from
	return nil
}

func (c *smtpSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	c.mail.to = to
	return nil
}

func (c *smtpSession) Data(r io.Reader) error {
	var err error
	c.mail.data, err = io.ReadAll(r)
	c.server.received <- c.mail
	if c.server.repeats {
		plain, _ := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(c.mail.data)))
		return &smtp.SMTPError{Code: 554, Message: "suspicious: " + linkIn.FindString(string(plain))}
	}
	return err
}

// next waits for a mail to the address and returns its subject and plain text.
func (p *smtpServer) next(to string) (subject, text string) {
	p.t.Helper()
	d := patience.Receive(p.t, "a mail comes", p.received)
	m, err := mail.ReadMessage(bytes.NewReader(d.data))
	if err != nil {
		p.t.Fatal(err)
	}
	if d.to != to || d.from != "fermata@example.com" || m.Header.Get("Auto-Submitted") != "auto-generated" || m.Header.Get("Message-Id") == "" {
		p.t.Fatalf("mail from %s to %s: %v", d.from, d.to, m.Header)
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		p.t.Fatal(err)
	}
	part, err := multipart.NewReader(m.Body, params["boundary"]).NextRawPart()
	if err != nil {
		p.t.Fatal(err)
	}
	plain, err := io.ReadAll(quotedprintable.NewReader(part))
	if err != nil {
		p.t.Fatal(err)
	}
	subject, err = (&mime.WordDecoder{}).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		p.t.Fatal(err)
	}
	return subject, string(plain)
}

var linkIn = regexp.MustCompile(`https?://\S+/sign-in#fml_\w{38}`)

func (p *smtpServer) link(to string) string {
	p.t.Helper()
	_, text := p.next(to)
	link := linkIn.FindString(text)
	if link == "" {
		p.t.Fatalf("no link in %q", text)
	}
	return link
}

// withMail configures a server that sends mails.
func withMail(w *world, c *api.Config) {
	w.smtpServer = newSMTPServer(w.T)
	w.startMailer(c, "smtp://fermata:p%40ss%20word@"+w.smtpServer.addr, slog.New(slog.NewTextHandler(w.Output(), nil)))
}

func (w *world) startMailer(c *api.Config, server string, log *slog.Logger) {
	w.Helper()
	m, err := access.NewMailer(access.MailOptions{
		Server: server, From: "Fermata <fermata@example.com>", Engine: w.Engine, Log: log,
		Link: func(secret string) string { return api.LinkURL(w.public, secret) },
	})
	w.OK(err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.Context()))
	var running sync.WaitGroup
	running.Go(func() { m.Run(ctx) })
	w.Cleanup(func() {
		cancel()
		running.Wait()
	})
	c.Mail = m
}

func (b *browser) askForMail(email string) reply {
	b.w.Helper()
	return b.must(http.StatusAccepted, "POST /v1/sign-in/email", `{"email":"`+email+`"}`)
}

func TestMailSignsIn(t *testing.T) {
	each(t, withMail, func(w *world) {
		office := w.smtpServer
		w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com"})
		b := w.browser()
		b.askForMail(" Ann@Example.COM ")
		link := office.link("ann@example.com")
		if r := b.open(link); r.status != http.StatusOK {
			w.Fatalf("%d %s", r.status, r.body)
		}
		b.checkSignedIn("ann", fermata.AssuranceSession)
		if r := w.browser().open(link); r.status != http.StatusUnauthorized {
			w.Errorf("the link worked twice: %d", r.status)
		}
		b.askForMail("ann@example.com")
		link = office.link("ann@example.com")
		w.Clock.Advance(fermata.MailLinkLifetime)
		if r := w.browser().open(link); r.status != http.StatusUnauthorized {
			w.Errorf("the link worked too late: %d", r.status)
		}
	})
}

// TestMailTellsNobodyWhoIsKnown: the reply is the same for every address, and
// only a member gets a mail.
func TestMailTellsNobodyWhoIsKnown(t *testing.T) {
	each(t, withMail, func(w *world) {
		office := w.smtpServer
		w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com"})
		w.AddMember(engine.NewMember{Handle: "bob", Email: "bob@example.com"})
		w.change("bob", fermata.MemberChange{Disabled: ptr(true)})
		b := w.browser()
		unknown, disabled, known := b.askForMail("eve@example.com"), b.askForMail("bob@example.com"), b.askForMail("ann@example.com")
		if unknown != known || disabled != known || known.body != "" {
			w.Errorf("%+v\n%+v\n%+v", unknown, disabled, known)
		}
		// Mails are sent in order, so this mail is the only one.
		office.link("ann@example.com")
		if len(office.received) > 0 {
			w.Error("somebody who is not known got a mail")
		}
	})
}

// TestMailLeadsToTheServerAlone: the host name in a request does not get into
// the mail.
func TestMailLeadsToTheServerAlone(t *testing.T) {
	each(t, withMail, func(w *world) {
		office := w.smtpServer
		w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com"})
		b := w.browser()
		b.host = "evil.example"
		b.must(http.StatusAccepted, "POST /v1/sign-in/email", `{"email":"ann@example.com"}`, "X-Forwarded-Host", "evil.example")
		if link := office.link("ann@example.com"); !strings.HasPrefix(link, w.public+"/sign-in#") {
			w.Errorf("the link is %q", link)
		}
	})
}

func TestMailboxIsNotFlooded(t *testing.T) {
	each(t, withMail, func(w *world) {
		office := w.smtpServer
		w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com"})
		w.AddMember(engine.NewMember{Handle: "bob", Email: "bob@example.com"})
		b := w.browser()
		for range 10 {
			b.askForMail("ann@example.com")
		}
		b.askForMail("bob@example.com")
		for range 3 {
			office.link("ann@example.com")
		}
		office.link("bob@example.com")
	})
}

func TestMailRequestsAreLimited(t *testing.T) {
	with := func(w *world, c *api.Config) {
		withMail(w, c)
		c.Limits.SignIn = api.Rate{PerSecond: 0.001, Burst: 2}
	}
	each(t, with, func(w *world) {
		b := w.browser()
		for _, email := range []string{"nobody@example.com", "else@example.com"} {
			b.askForMail(email)
		}
		b.must(http.StatusTooManyRequests, "POST /v1/sign-in/email", `{"email":"a@example.com"}`)
	})
}

func TestMailRefusesWhatIsNoAddress(t *testing.T) {
	each(t, withMail, func(w *world) {
		for _, email := range []string{"ann", "a@b, c@d", `a@b.example\r\nBcc: c@d.example`, "Ann <a@b.example>", strings.Repeat("a", 300) + "@b.example"} {
			w.browser().must(http.StatusBadRequest, "POST /v1/sign-in/email", `{"email":"`+email+`"}`)
		}
	})
}

func TestInvitationByMail(t *testing.T) {
	each(t, withMail, func(w *world) {
		office := w.smtpServer
		w.AddMember(engine.NewMember{Handle: "boss", Role: fermata.RoleAdmin})
		boss := w.browser()
		boss.signIn("boss")
		r := boss.must(http.StatusCreated, "POST /v1/invitations", `{"email":"cid@example.com","role":"operator"}`)
		if !strings.Contains(r.body, `"sent":true`) {
			w.Errorf("%s", r.body)
		}
		subject, text := office.next("cid@example.com")
		if subject != "boss invites you to Fermata" || !strings.Contains(text, "You will be called cid.") {
			w.Errorf("%q %q", subject, text)
		}
		cid := w.browser()
		if r := cid.open(linkIn.FindString(text)); r.status != http.StatusOK {
			w.Errorf("%d %s", r.status, r.body)
		}
		cid.checkSignedIn("cid", fermata.AssuranceSession)
	})
}

// TestMailOfTheOldAddressIsVoid: a person who reads the old mailbox cannot sign
// in.
func TestMailOfTheOldAddressIsVoid(t *testing.T) {
	each(t, withMail, func(w *world) {
		office := w.smtpServer
		w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com"})
		b := w.browser()
		b.askForMail("ann@example.com")
		link := office.link("ann@example.com")
		w.change("ann", fermata.MemberChange{Email: ptr("new@example.com")})
		if r := b.open(link); r.status != http.StatusUnauthorized {
			w.Errorf("%d %s", r.status, r.body)
		}
	})
}

// logLines sends every line of a log to a channel.
type logLines chan string

func (l logLines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// TestMailIsRefusedWithItsLink: if a mail server repeats a mail in its error,
// the link does not get into the log.
func TestMailIsRefusedWithItsLink(t *testing.T) {
	with := func(w *world, c *api.Config) {
		w.logLines = make(logLines, 10)
		w.smtpServer = newSMTPServer(w.T)
		w.smtpServer.repeats = true
		w.startMailer(c, "smtp://fermata:p%40ss%20word@"+w.smtpServer.addr, slog.New(slog.NewTextHandler(w.logLines, nil)))
	}
	each(t, with, func(w *world) {
		w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com"})
		w.browser().askForMail("ann@example.com")
		if line := patience.Receive(w, "a line is logged", w.logLines); !strings.Contains(line, "suspicious: http") || strings.Contains(line, "fml_") {
			w.Errorf("%s", line)
		}
	})
}

// TestMailServerIsDown: only the operator learns of it, and the password is in
// no log.
func TestMailServerIsDown(t *testing.T) {
	with := func(w *world, c *api.Config) {
		w.logLines = make(logLines, 10)
		listener, err := (&net.ListenConfig{}).Listen(w.Context(), "tcp", "127.0.0.1:0")
		w.OK(err)
		w.OK(listener.Close())
		w.startMailer(c, "smtp://fermata:s3cret@"+listener.Addr().String(), slog.New(slog.NewTextHandler(w.logLines, nil)))
	}
	each(t, with, func(w *world) {
		w.AddMember(engine.NewMember{Handle: "ann", Email: "ann@example.com"})
		w.browser().askForMail("ann@example.com")
		if line := patience.Receive(w, "a line is logged", w.logLines); !strings.Contains(line, "a mail was not sent") || strings.Contains(line, "s3cret") || strings.Contains(line, "fml_") {
			w.Errorf("%s", line)
		}
	})
}

func TestMailOptions(t *testing.T) {
	t.Parallel()
	for server, from := range map[string]string{
		"": "a@b.example", "http://mail.example": "a@b.example", "smtp://": "a@b.example", "smtp://user:pass word%@x": "a@b.example",
		"smtp://mail.example": "nonsense", "smtp://mail.example/path": "a@b.example",
	} {
		_, err := access.NewMailer(access.MailOptions{Server: server, From: from})
		if fermata.CodeOf(err) != fermata.CodeInvalidRequest || strings.Contains(err.Error(), "pass word") {
			t.Errorf("%q %q: %v", server, from, err)
		}
	}
	for _, server := range []string{"smtp://mail.example", "smtps://u:p@mail.example:465", "smtp://localhost:25"} {
		if _, err := access.NewMailer(access.MailOptions{Server: server, From: "Fermata <a@b.example>"}); err != nil {
			t.Errorf("%q: %v", server, err)
		}
	}
}

func ptr[T any](v T) *T { return &v }
