package email

import (
	"bytes"
	"net/mail"
	"testing"
	"time"
)

// FuzzHeader reads any header as the header of a reply. A sender is never trusted without a mail server that vouches,
// or without the secret in the mail.
func FuzzHeader(f *testing.F) {
	const server = "mx.example.com"
	vouched := "Authentication-Results: " + server + "; dmarc=pass header.from=example.com\r\n"
	for _, head := range []string{
		vouched + "From: Ada <ada@example.com>\r\nIn-Reply-To: <r.secret@example.com>\r\n\r\n",
		vouched + "From: ada@example.com\r\nTo: fermata+secret@example.com\r\nReferences: <dlv_1.2@example.com> <x@y>\r\n\r\n",
		"From: ada@example.com, eve@evil.test\r\nFrom: eve@evil.test\r\nSubject: =?utf-8?q?automatic_reply?=\r\nReturn-Path: <>\r\n\r\n",
		"Authentication-Results: evil.test; dmarc=pass header.from=example.com\r\nReceived: x\r\n" + vouched + "From: ada@example.com\r\n\r\n",
		"Authentication-Results: " + server + "; spf=none (x; dmarc=pass header.from=example.com\r\n\r\n",
	} {
		f.Add([]byte(head))
	}
	c := &Channel{config: &config{
		authServID: server, from: &mail.Address{Address: "fermata@example.com"}, replyTo: "fermata+" + tokenPlaceholder + "@example.com",
	}}
	f.Fuzz(func(t *testing.T, head []byte) {
		r, err := c.readHeader(head)
		if err != nil {
			return
		}
		_ = r.automaticReason()
		in := c.inbound(r, incomingMail{header: head, at: time.Unix(0, 0)}, splitReply{aboveQuote: "yes"}, nil)
		if in.From.Email == "" {
			return
		}
		if in.Reply == "" || in.From.Email != r.from.Address || !bytes.Contains(bytes.ToLower(head), []byte(server)) {
			t.Errorf("%q is believed: %+v", head, in)
		}
	})
}
