package email

import (
	"net/mail"
	"strings"

	gomail "github.com/wneessen/go-mail"

	"github.com/fermata-hq/fermata"
)

// letter is a mail before it is packed.
type letter struct {
	To         mail.Address
	Subject    string
	MessageID  string
	InReplyTo  string
	References []string
	ReplyTo    string
	// Auto is what kind of automatic mail it is (RFC 3834).
	Auto string
	// Delivery, Question and Status are for people's filters and for support.
	Delivery, Question, Status string
	Text, HTML                 string
}

// addQuestion adds the question of the mail, and its state.
func (l *letter) addQuestion(q *fermata.Question) {
	if q != nil {
		l.Question, l.Status = q.ID, string(q.Status)
	}
}

// message packs a letter. The same letter makes the same Message-ID.
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
		// Nobody's out-of-office reply shall answer.
		"Auto-Submitted": l.Auto, "X-Auto-Response-Suppress": "OOF, AutoReply",
		// Filters of people sort by it.
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

// content is what is kept of a mail that was sent: what a person read.
func (l *letter) content() string { return "Subject: " + l.Subject + "\n\n" + l.Text }
