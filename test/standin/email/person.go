package email

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/fermata-hq/fermata/test/patience"
)

// Address returns the mail address of a name.
func Address(name string) string { return name + "@" + Domain }

// Mails returns the mails in a person's mailbox, the newest last.
func (s *Server) Mails(name string) ([]*Mail, error) { return s.MailsIn(name, "INBOX") }

// MailsIn returns the mails in a person's folder, the newest last.
func (s *Server) MailsIn(name, folder string) ([]*Mail, error) {
	client, n, err := s.open(name, folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }()
	section := &imap.FetchItemBodySection{Peek: true}
	all := imap.SeqSet{{Start: 1, Stop: 0}}
	if n == 0 {
		return nil, nil
	}
	found, err := client.Fetch(all, &imap.FetchOptions{Flags: true, InternalDate: true, BodySection: []*imap.FetchItemBodySection{section}}).Collect()
	if err != nil {
		return nil, err
	}
	mails := make([]*Mail, 0, len(found))
	for _, f := range found {
		m, err := readMail(f.FindBodySection(section))
		if err != nil {
			return nil, err
		}
		m.At = f.InternalDate
		for _, flag := range f.Flags {
			m.Seen = m.Seen || flag == imap.FlagSeen
		}
		mails = append(mails, m)
	}
	return mails, nil
}

func (s *Server) open(name, folder string) (_ *imapclient.Client, mails uint32, _ error) {
	client, err := imapclient.DialInsecure(net.JoinHostPort("127.0.0.1", strconv.Itoa(s.ports.imap)), nil)
	if err != nil {
		return nil, 0, err
	}
	if err := client.Login(Address(name), Password).Wait(); err != nil {
		return nil, 0, errors.Join(err, client.Close())
	}
	selected, err := client.Select(folder, nil).Wait()
	if err != nil {
		return nil, 0, errors.Join(err, client.Close())
	}
	return client, selected.NumMessages, nil
}

// Await waits until a mailbox has at least n mails, and returns them.
func (s *Server) Await(name string, n int) ([]*Mail, error) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	timeout := time.After(2 * time.Minute)
	for {
		mails, err := s.Mails(name)
		if err == nil && len(mails) >= n {
			return mails, nil
		}
		select {
		case <-timeout:
			return mails, errors.Join(err, fmt.Errorf("%s has %d mails, not %d", name, len(mails), n))
		case <-ticker.C:
		}
	}
}

// Append puts a mail into a mailbox unchanged, without the checks of the
// server.
func (s *Server) Append(name string, raw []byte) error {
	client, _, err := s.open(name, "INBOX")
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	raw = crlf(raw)
	cmd := client.Append("INBOX", int64(len(raw)), nil)
	if _, err := cmd.Write(raw); err != nil {
		return err
	}
	if err := cmd.Close(); err != nil {
		return err
	}
	_, err = cmd.Wait()
	return err
}

// Submit sends a mail as a person who signed in. [Server.Inject] sends one
// without a sign-in.
func (s *Server) Submit(name string, raw []byte, to ...string) error {
	return s.smtp(sasl.NewPlainClient("", Address(name), Password), Address(name), raw, to)
}

// Inject sends a mail as any sender on the internet. The server accepts it for
// its own people and knows nothing about the sender.
func (s *Server) Inject(envelopeFrom string, raw []byte, to ...string) error {
	return s.smtp(nil, envelopeFrom, raw, to)
}

func (s *Server) smtp(auth sasl.Client, from string, raw []byte, to []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience.Limit())
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.ports.smtp)))
	if err != nil {
		return err
	}
	client := smtp.NewClient(conn)
	defer func() { _ = client.Close() }()
	if auth != nil {
		if err := client.Auth(auth); err != nil {
			return err
		}
	}
	return client.SendMail(from, to, bytes.NewReader(crlf(raw)))
}

func crlf(raw []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
}

// Program is a mail program, which writes replies in its own way.
type Program string

// These are the mail programs. Each quotes in its own way.
const (
	Gmail       Program = "gmail"
	Outlook     Program = "outlook"
	AppleMail   Program = "apple"
	Thunderbird Program = "thunderbird" // in German, with a signature
	Phone       Program = "phone"       // HTML alone
	WebMail     Program = "webmail"     // in German, with AW: and without marks before quoted lines
)

// Draft returns a reply in the form that a mail program makes.
func Draft(p Program, from string, m *Mail, text string) []byte {
	var b strings.Builder
	to := m.Header.Get("Reply-To")
	if to == "" {
		to = m.Header.Get("From")
	}
	subject := m.Header.Get("Subject")
	switch {
	case p == WebMail:
		subject = "AW: " + subject
	case !strings.HasPrefix(subject, "Re: "):
		subject = "Re: " + subject
	}
	id := fmt.Sprintf("<%d.%s@%s>", time.Now().UnixNano(), p, Domain)
	fmt.Fprintf(&b, "From: %s <%s>\nTo: %s\nSubject: %s\nDate: %s\nMessage-ID: %s\n", strings.ToUpper(from[:1])+from[1:], Address(from), to, subject, time.Now().Format(time.RFC1123Z), id)
	fmt.Fprintf(&b, "In-Reply-To: %s\nReferences: %s %s\nMIME-Version: 1.0\n", m.ID(), strings.Join(strings.Fields(m.Header.Get("References")), "\n "), m.ID())
	plain := "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n"
	quoted := "> " + strings.ReplaceAll(strings.TrimSpace(m.Plain), "\n", "\n> ") + "\n"
	escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", "\n", "<br>").Replace(text)
	switch p {
	case Outlook:
		b.WriteString(plain + text + "\n\n________________________________\nFrom: Fermata <fermata@people.test>\nSent: Friday, 20 November 2026 10:00\nTo: Ada\nSubject: " + m.Header.Get("Subject") + "\n\n" + m.Plain)
	case AppleMail:
		b.WriteString(plain + text + "\n\nSent from my iPhone\n\n> On 20. Nov 2026, at 10:00, Fermata <fermata@people.test> wrote:\n> \n" + quoted)
	case Thunderbird:
		b.WriteString("Content-Type: text/plain; charset=iso-8859-1; format=flowed\nContent-Transfer-Encoding: quoted-printable\n\n" +
			latin1QP(text) + "\n\nAm 20.11.26 um 10:00 schrieb Fermata:\n" + quotedASCII(quoted) + "\n-- \nAda aus M=FCnchen\n")
	case WebMail:
		b.WriteString(plain + text + "\n \nGesendet: Freitag, 20. November 2026 um 10:00 Uhr\nVon: \"Fermata\" <fermata@people.test>\nAn: " + Address(from) + "\nBetreff: " +
			m.Header.Get("Subject") + "\n" + m.Plain)
	case Phone:
		b.WriteString("Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n<html><head><style>p{margin:0}</style></head><body><div dir=\"auto\">" + escaped +
			"</div><br><div class=\"gmail_quote\"><div dir=\"ltr\" class=\"gmail_attr\">Fermata schrieb am Fr., 20. Nov. 2026:<br></div><blockquote>" + m.HTML + "</blockquote></div></body></html>\n")
	default:
		fmt.Fprintf(&b, "Content-Type: multipart/alternative; boundary=\"b1\"\n\n--b1\n%s%s\n\nOn Fri, 20 Nov 2026 at 10:00, Fermata\n<fermata@people.test> wrote:\n\n%s\n--b1\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n<div dir=\"ltr\">%s</div><br><div class=\"gmail_quote\"><blockquote>%s</blockquote></div>\n--b1--\n", plain, text, quoted, escaped, m.HTML)
	}
	return []byte(b.String())
}

func latin1QP(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 && r != '=' {
			b.WriteRune(r)
		} else if r <= 0xff {
			fmt.Fprintf(&b, "=%02X", r)
		}
	}
	return b.String()
}

func quotedASCII(s string) string { return latin1QP(s) }
