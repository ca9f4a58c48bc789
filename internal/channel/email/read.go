package email

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	netmail "net/mail"
	"slices"
	"strings"

	"github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // mails come in every charset
	"github.com/emersion/go-message/mail"
	"github.com/emersion/go-message/textproto"
)

// reply is a mail that arrived.
type reply struct {
	header mail.Header
	replyTarget
	// from is the author. It is empty if the mail does not have exactly one
	// From address.
	from netmail.Address
}

// readHeader reads the headers of a mail.
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
			c.readReplyAddress(&r.replyTarget, fields.Value())
		}
	}
	// The id of the mail that was replied to comes first, then the ids before
	// it, latest first.
	ids := strings.Fields(r.header.Get("References"))
	for _, id := range strings.Fields(r.header.Get("In-Reply-To")) {
		c.readMailID(&r.replyTarget, id)
	}
	for i := len(ids) - 1; i >= 0; i-- {
		c.readMailID(&r.replyTarget, ids[i])
	}
	return r, nil
}

func (c *config) readReplyAddress(n *replyTarget, field string) {
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

// count returns how often a header occurs.
func (r *reply) count(name string) int {
	n := 0
	for fields := r.header.FieldsByKey(name); fields.Next(); {
		n++
	}
	return n
}

// isOurs reports whether the mail names a question of this server.
func (r *reply) isOurs() bool { return r.token != "" || r.delivery != "" }

// id identifies the mail. A mail with the same id counts once.
func (r *reply) id(raw []byte) string {
	if id, err := r.header.MessageID(); err == nil && id != "" {
		return id
	}
	return "sha256:" + digest(string(raw))
}

const (
	// initialReadSize is how many bytes of a mail are read at first. The
	// person's words are mostly at the top. If the mail is longer, maxReadSize
	// bytes are read, which is as much as mail servers accept.
	initialReadSize = 256 << 10
	maxReadSize     = 64 << 20
	// longestPart is how many bytes of a text are read, with its quotations.
	// longestReply is how many are passed on.
	longestPart  = 1 << 20
	longestReply = 64 << 10
	maxPartDepth = 8
)

// These are the doubts about a mail, and their remedies.
const (
	mayHideDoubt  = "the mail is in HTML alone, with a style or an element that may hide a part of the text or change how it reads"
	severalDoubt  = "the mail has more text than the one part that is read"
	longDoubt     = "the mail is too long to be read whole"
	unknownDoubt  = "below the head of a quoted mail stands text that Fermata did not send you"
	plainRemedy   = "reply in plain text"
	oneTextRemedy = "reply with the answer alone, without pictures or files between or below"
	quoteRemedy   = "reply with the answer alone, and delete the mail that your program quotes"
)

// textOf returns the text of a mail, cut at its quotations. The result has a
// doubt if the person may have seen a different text.
func textOf(raw []byte) splitReply {
	e, err := message.Read(bytes.NewReader(raw))
	if e == nil || err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) {
		return splitReply{}
	}
	texts := slices.DeleteFunc(textsOf(e, maxPartDepth), func(t text) bool { return strings.TrimSpace(t.s) == "" && t.doubt == "" })
	if len(texts) == 0 {
		return splitReply{}
	}
	// A file that is shown inside the mail is not what the person wrote.
	first := max(0, slices.IndexFunc(texts, func(t text) bool { return !t.isFile }))
	found := splitQuotations(texts[first].s)
	switch {
	case texts[first].doubt != "":
		found.doubt, found.remedy = texts[first].doubt, plainRemedy
	case len(texts) > 1:
		found.doubt, found.remedy = severalDoubt, oneTextRemedy
	case len(found.aboveQuote)+len(found.afterQuote) > longestReply:
		found.doubt, found.remedy = longDoubt, plainRemedy
	}
	found.aboveQuote, found.afterQuote = found.aboveQuote[:min(len(found.aboveQuote), longestReply)], found.afterQuote[:min(len(found.afterQuote), longestReply)]
	return found
}

// text is one part of a mail that the person sees.
type text struct {
	s       string
	isPlain bool
	// isFile reports whether the part came as a file and is shown inside the
	// mail.
	isFile bool
	doubt  string
}

// textsOf finds all the visible text of a mail. Alternatives have the same
// content, so it takes the plain one. From a mail that was cut off it returns
// the text before the cut.
func textsOf(e *message.Entity, depth int) []text {
	disposition, params, _ := e.Header.ContentDisposition()
	if depth == 0 || strings.EqualFold(disposition, "attachment") {
		return nil
	}
	kind, typed, _ := e.Header.ContentType()
	if parts := e.MultipartReader(); parts != nil {
		return textsOfParts(parts, strings.EqualFold(kind, "multipart/alternative"), depth)
	}
	isFile := params["filename"] != "" || typed["name"] != ""
	switch {
	case kind == "message/rfc822":
		return []text{{isFile: true, doubt: severalDoubt}}
	case kind != "" && !strings.HasPrefix(kind, "text/"):
		return nil
	}
	raw, _ := io.ReadAll(io.LimitReader(e.Body, longestPart+1))
	found := text{isFile: isFile, isPlain: kind != "text/html"}
	if len(raw) > longestPart {
		raw, found.doubt = raw[:longestPart], longDoubt
	}
	if charset := strings.ToLower(typed["charset"]); charset == "utf-7" || charset == "unicode-1-1-utf-7" {
		raw = []byte(decodeUTF7(string(raw)))
	}
	found.s = strings.ToValidUTF8(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\uFFFD")
	switch {
	case !found.isPlain:
		var doubtful bool
		if found.s, doubtful = htmlText(found.s); doubtful && found.doubt == "" {
			found.doubt = mayHideDoubt
		}
	case strings.EqualFold(typed["format"], "flowed"):
		found.s = unflow(found.s, strings.EqualFold(typed["delsp"], "yes"))
	}
	return []text{found}
}

// textsOfParts finds the text of the parts of a mail. Of alternatives it takes
// the first plain one, or else the last.
func textsOfParts(parts message.MultipartReader, alternatives bool, depth int) (all []text) {
	for {
		part, err := parts.NextPart()
		if part == nil || err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) {
			return all
		}
		texts := textsOf(part, depth-1)
		isBlank := func(t text) bool { return strings.TrimSpace(t.s) == "" }
		switch {
		case !alternatives:
			all = append(all, texts...)
		case len(all) > 0 && all[0].isPlain && !isBlank(all[0]):
		case slices.ContainsFunc(texts, func(t text) bool { return !isBlank(t) }):
			all = texts
		}
	}
}

// unflow joins the lines that a mail program broke (format=flowed, RFC 3676).
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
