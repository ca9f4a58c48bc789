package email

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/test/standin"
)

// Remote is a mail server with the mailbox that Fermata sends from. It is for
// tests that know nothing about mail.
type Remote struct {
	*Server
	tb testing.TB
}

var _ standin.Remote = (*Remote)(nil)

// sender is the name of Fermata's mailbox at the server.
const sender = "fermata"

// NewRemote starts a server.
func NewRemote(tb testing.TB) *Remote {
	return &Remote{Server: Start(tb, Options{}), tb: tb}
}

// Kind returns the kind of the channel.
func (r *Remote) Kind() string { return "email" }

// Settings returns the settings of a channel that uses this server.
func (r *Remote) Settings() map[string]any { return Settings(r.Server) }

// Settings returns the settings of a channel that sends and reads through a
// server.
func Settings(s *Server) map[string]any {
	return map[string]any{
		"smtp": s.SMTP(Address(sender)), "imap": s.IMAP(Address(sender)), "from": "Fermata <" + Address(sender) + ">", "password": Password,
		"reply_to": sender + "+{token}@" + Domain, "authserv_id": Host, "ca": s.CA, "poll": "1s",
	}
}

// AddPerson adds nothing, because every name has a mailbox. It returns the
// address.
func (r *Remote) AddPerson(name string) (identityID, email string) {
	return Address(name), Address(name)
}

// SetInbound does nothing, because mail servers send no requests to Fermata.
func (r *Remote) SetInbound(string) {}

// VisibleMessages returns the messages that the person sees. A thread is closed when one
// of its mails gives the question's outcome. That mail can be the reply to the
// person's own answer.
func (r *Remote) VisibleMessages(person string) []standin.Message {
	mails, err := r.Mails(person)
	if err != nil {
		r.tb.Errorf("read the mails of %s: %v", person, err)
	}
	var list []standin.Message
	for _, m := range mails {
		question := m.Header.Get("X-Fermata-Question")
		closes := question != "" && m.Header.Get("X-Fermata-Status") != "pending"
		for i := range list {
			list[i].Closed = list[i].Closed || closes && list[i].Question == question
		}
		if m.Header.Get("Auto-Submitted") == "auto-replied" {
			continue
		}
		words, _ := m.Links()
		list = append(list, standin.Message{ID: m.ID(), Text: m.Subject() + "\n" + m.Plain, Buttons: words, Question: question, Closed: closes})
	}
	return list
}

// Feedback returns the texts of the mails that answered the person's replies.
func (r *Remote) Feedback(person string) []string {
	mails, err := r.Mails(person)
	if err != nil {
		r.tb.Errorf("read the mails of %s: %v", person, err)
	}
	var words []string
	for _, m := range mails {
		if m.Header.Get("Auto-Submitted") == "auto-replied" {
			words = append(words, m.Plain)
		}
	}
	return words
}

// Reply replies to a mail with one of the mail programs.
func (r *Remote) Reply(person string, m standin.Message, say standin.Reply) error {
	mails, err := r.Mails(person)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(mails, func(have *Mail) bool { return have.ID() == m.ID })
	if i < 0 {
		return fmt.Errorf("%s has no mail %s", person, m.ID)
	}
	programs := []Program{Gmail, Outlook, AppleMail, Thunderbird, Phone, WebMail}
	draft := Draft(programs[len(m.ID)%len(programs)], person, mails[i], TypedText(say))
	to := mails[i].Header.Get("Reply-To")
	return r.Submit(person, draft, strings.Trim(to, "<>"))
}

// TypedText returns the text that a person types to give the answers.
func TypedText(reply standin.Reply) string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(reply.Answers)) {
		line := typedValue(reply.Answers[key])
		if len(reply.Answers) > 1 {
			line = key + ": " + line
		}
		lines = append(lines, line)
	}
	if reply.Text != "" {
		lines = append(lines, reply.Text)
	}
	return strings.Join(lines, "\n")
}

func typedValue(v any) string {
	switch v := v.(type) {
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case []string:
		return strings.Join(v, ", ")
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = fmt.Sprint(v[i])
		}
		return strings.Join(parts, ", ")
	default:
		return fmt.Sprint(v)
	}
}
