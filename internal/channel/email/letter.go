package email

import (
	"net/mail"
	"strings"

	gomail "github.com/wneessen/go-mail"

	"github.com/fermata-hq/fermata"
)

// letter is a mail before it is encoded.
type letter struct {
	To         mail.Address
	Subject    string
	MessageID  string
	InReplyTo  string
	References []string
	ReplyTo    string
	// Auto is the value of the header Auto-Submitted (RFC 3834).
	Auto string
	// Delivery, Question and Status help people to filter mails, and help in
	// support.
	Delivery, Question, Status string
	Text, HTML                 string
}

// addQuestion adds the question of the mail and its status.
func (l *letter) addQuestion(q *fermata.Question) {
	if q != nil {
		l.Question, l.Status = q.ID, string(q.Status)
	}
}

// message encodes a letter. The same letter always gets the same Message-ID.
func (l *letter) message(c *config) (*gomail.Msg, error) {
	msg := gomail.NewMsg()
	if err := msg.FromFormat(c.from.Name, c.from.Address); err != nil {
		return nil, err
	}
	to := msg.To
	if l.To.Name != "" {
		to = func(rcpts ...string) error { return msg.AddToFormat(l.To.Name, rcpts[0]) }
	}
	if err := to(l.To.Address); err != nil {
		return nil, err
	}
	if l.ReplyTo != "" {
		if err := msg.ReplyTo(l.ReplyTo); err != nil {
			return nil, err
		}
	}
	msg.Subject(l.Subject)
	msg.SetDate()
	msg.SetMessageIDWithValue(strings.Trim(l.MessageID, "<>"))
	for name, value := range map[gomail.Header]string{
		"In-Reply-To": l.InReplyTo, "References": strings.Join(l.References, "\r\n "),
		// These headers keep out-of-office programs from replying.
		"Auto-Submitted": l.Auto, "X-Auto-Response-Suppress": "OOF, AutoReply",
		// People filter their mail by these headers.
		"List-Id":            "Fermata <fermata." + c.domain() + ">",
		"X-Fermata-Delivery": l.Delivery, "X-Fermata-Question": l.Question, "X-Fermata-Status": l.Status,
	} {
		if value != "" {
			msg.SetGenHeaderPreformatted(name, value)
		}
	}
	msg.SetBodyString(gomail.TypeTextPlain, l.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, l.HTML)
	return msg, nil
}

// content returns the part of a sent mail that is stored: the text that the
// person read.
func (l *letter) content() string { return "Subject: " + l.Subject + "\n\n" + l.Text }
