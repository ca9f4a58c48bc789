package email

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	netmail "net/mail"
	"strings"

	"github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // mails come in every charset
	"github.com/emersion/go-message/mail"
	"github.com/emersion/go-message/textproto"
)

// reply is a mail that came in.
type reply struct {
	header mail.Header
	named
	// from is the one who wrote it; empty where that is not one address.
	from netmail.Address
}

// readHeader reads what the headers of a mail say.
func (c *config) readHeader(raw []byte) (*reply, error) {
	h, err := textproto.ReadHeader(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	r := &reply{header: mail.Header{Header: message.Header{Header: h}}}
	if from, err := r.header.AddressList("From"); err == nil && len(from) == 1 && r.count("From") == 1 {
		r.from = netmail.Address{Name: from[0].Name, Address: strings.ToLower(from[0].Address)}
	}
	for _, name := range []string{"To", "Cc", "Delivered-To", "X-Original-To", "Envelope-To"} {
		for fields := r.header.FieldsByKey(name); fields.Next(); {
			c.nameByAddress(&r.named, fields.Value())
		}
	}
	// The mail that is replied to comes first, then the latest before it.
	ids := strings.Fields(r.header.Get("References"))
	for _, id := range strings.Fields(r.header.Get("In-Reply-To")) {
		c.name(&r.named, id)
	}
	for i := len(ids) - 1; i >= 0; i-- {
		c.name(&r.named, ids[i])
	}
	return r, nil
}

func (c *config) nameByAddress(n *named, field string) {
	list, err := netmail.ParseAddressList(field)
	if err != nil {
		list = []*netmail.Address{{Address: strings.Trim(field, "<> \t")}}
	}
	for _, a := range list {
		if t := c.tokenOf(a.Address); t != "" && n.token == "" {
			n.token = t
		}
	}
}

// count says how often a header stands there.
func (r *reply) count(name string) int {
	n := 0
	for fields := r.header.FieldsByKey(name); fields.Next(); {
		n++
	}
	return n
}

// ours reports whether the mail names a question of ours.
func (r *reply) ours() bool { return r.token != "" || r.delivery != "" }

// id names the mail: the same one counts once.
func (r *reply) id(raw []byte) string {
	if id, err := r.header.MessageID(); err == nil && id != "" {
		return id
	}
	return "sha256:" + digest(string(raw))
}

const (
	// mostRead is how many bytes of a mail are read at first: what a person
	// writes stands at its top, mostly. Where a file stands above it, so many
	// bytes are read as mail servers take of a mail.
	mostRead  = 256 << 10
	largeRead = 64 << 20
	// longestReply is how many bytes of text are handed on.
	longestReply = 64 << 10
	deepest      = 8
)

// textOf returns what the person wrote in a mail, without what it quotes and
// without a signature. Doubtful says that the text is from HTML that may hide
// some of it.
func textOf(raw []byte) (text string, doubtful bool) {
	e, err := message.Read(bytes.NewReader(raw))
	if e == nil || err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) {
		return "", false
	}
	plain, html := findText(e, deepest)
	if strings.TrimSpace(plain) == "" {
		plain, doubtful = htmlText(html)
	}
	return written(plain), doubtful
}

// findText finds the first plain and the first HTML text that are no
// attachments. A mail that was cut off still gives what stands before the cut.
func findText(e *message.Entity, depth int) (plain, html string) {
	if depth == 0 {
		return "", ""
	}
	if attached(e) {
		return "", ""
	}
	if parts := e.MultipartReader(); parts != nil {
		for plain == "" {
			part, err := parts.NextPart()
			if part == nil || err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) {
				break
			}
			p, h := findText(part, depth-1)
			if plain == "" {
				plain = p
			}
			if html == "" {
				html = h
			}
		}
		return plain, html
	}
	kind, params, _ := e.Header.ContentType()
	if kind != "" && kind != "text/plain" && kind != "text/html" {
		return "", ""
	}
	text, _ := io.ReadAll(io.LimitReader(e.Body, longestReply))
	if charset := strings.ToLower(params["charset"]); charset == "utf-7" || charset == "unicode-1-1-utf-7" {
		text = []byte(decodeUTF7(string(text)))
	}
	s := strings.ToValidUTF8(strings.ReplaceAll(string(text), "\r\n", "\n"), "\uFFFD")
	switch {
	case kind == "text/html":
		return "", s
	case strings.EqualFold(params["format"], "flowed"):
		return unflow(s, strings.EqualFold(params["delsp"], "yes")), ""
	default:
		return s, ""
	}
}

// attached reports whether a part is a file that came with the mail: what says
// so, and what has a name, wherever it stands.
func attached(e *message.Entity) bool {
	disposition, params, _ := e.Header.ContentDisposition()
	_, typed, _ := e.Header.ContentType()
	return strings.EqualFold(disposition, "attachment") || params["filename"] != "" || typed["name"] != ""
}

// unflow joins the lines that a mail program broke (RFC 3676).
func unflow(s string, delsp bool) string {
	var b strings.Builder
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		quoted := strings.HasPrefix(line, ">")
		if !quoted {
			line = strings.TrimPrefix(line, " ")
		}
		soft := strings.HasSuffix(line, " ") && line != "-- " && !quoted &&
			i+1 < len(lines) && lines[i+1] != "" && lines[i+1] != "-- " && !strings.HasPrefix(lines[i+1], ">")
		switch {
		case soft && delsp:
			b.WriteString(strings.TrimSuffix(line, " "))
		case soft:
			b.WriteString(line)
		default:
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
