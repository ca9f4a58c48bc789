package email

import (
	"bytes"
	"io"
	"net/mail"
	"regexp"
	"strings"
	"time"

	"github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // mails come in every charset
)

// Mail is a mail in a mailbox.
type Mail struct {
	Raw    []byte
	Header mail.Header
	// Plain and HTML are its two parts.
	Plain, HTML string
	Seen        bool
	At          time.Time
}

func readMail(raw []byte) (*Mail, error) {
	m := &Mail{Raw: raw}
	parsed, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	m.Header = parsed.Header
	e, err := message.Read(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return m, e.Walk(func(_ []int, part *message.Entity, err error) error {
		if err != nil || part.MultipartReader() != nil {
			return err
		}
		text, err := io.ReadAll(part.Body)
		switch kind, _, _ := part.Header.ContentType(); kind {
		case "text/plain", "":
			m.Plain += strings.ReplaceAll(string(text), "\r\n", "\n")
		case "text/html":
			m.HTML += string(text)
		}
		return err
	})
}

var links = regexp.MustCompile(`<a [^>]*href="([^"]*)"[^>]*>([^<]*)</a>`)

// Links returns the labels and the addresses of the links in the mail.
func (m *Mail) Links() (words, addresses []string) {
	for _, found := range links.FindAllStringSubmatch(m.HTML, -1) {
		words, addresses = append(words, found[2]), append(addresses, strings.ReplaceAll(found[1], "&amp;", "&"))
	}
	return words, addresses
}

// ID returns the id of the mail.
func (m *Mail) ID() string { return m.Header.Get("Message-Id") }

// Subject returns the decoded subject.
func (m *Mail) Subject() string {
	h := message.HeaderFromMap(map[string][]string{"Subject": {m.Header.Get("Subject")}})
	text, _ := h.Text("Subject")
	return text
}
