package email

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// htmlText returns the text of an HTML mail. quoteLine replaces an element that the mail program marks as quoted.
// originLine begins a quoted mail whose end is not marked. The result doubtful reports whether the person may not have
// seen all of the text, or may have seen it differently.
func htmlText(s string) (text string, doubtful bool) {
	doc, err := html.Parse(strings.NewReader(s))
	if err != nil {
		return "", false
	}
	w := htmlWriter{}
	w.writeNode(doc)
	return w.b.String(), w.doubtful || hasHidingStyleSheet(doc)
}

type htmlWriter struct {
	b strings.Builder
	// doubtful reports whether an element above the quoted mail may hide or alter text.
	doubtful bool
	// original reports whether all that follows belongs to a quoted mail.
	original bool
	// all makes the writer include text that is hidden or quoted.
	all bool
}

// These lines replace elements by which mail programs mark text that the person
// did not write.
const (
	quoteLine     = "> …"
	originLine    = "-----Original Message-----"
	ruleLine      = "________________"
	signatureLine = "-- "
)

func (w *htmlWriter) writeNode(n *html.Node) {
	if n.Type == html.TextNode {
		w.writeText(n.Data)
		return
	}
	if n.Type == html.ElementNode && !w.all {
		w.doubtful = w.doubtful || !w.original && !isQuote(n) && mayHide(n)
		if isHidden(n) || w.replaceElement(n) {
			return
		}
	}
	switch n.DataAtom {
	case atom.Head, atom.Script, atom.Style, atom.Template:
		return
	case atom.Br:
		w.b.WriteString("\n")
	case atom.Img:
		// Many mail programs show this text in place of the picture.
		for _, a := range n.Attr {
			if a.Key == "alt" && a.Val != "" {
				w.writeText(" " + a.Val + " ")
			}
		}
	default:
	}
	block := blocks[n.DataAtom]
	if block {
		w.endLine()
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.writeNode(c)
	}
	if block {
		w.endLine()
	}
}

// replaceElement writes the line that replaces an element. done reports whether the caller must skip what is inside the
// element.
func (w *htmlWriter) replaceElement(n *html.Node) (done bool) {
	switch {
	case isQuote(n):
		w.writeLine(quoteLine)
		return true
	case n.DataAtom == atom.Hr:
		w.writeLine(ruleLine)
		return true
	case hasName(n, "gmail_signature", "moz-signature", "signature"):
		w.writeLine(signatureLine)
	case hasName(n, "moz-cite-prefix", "gmail_attr"):
		// This element introduces the next quotation.
		return true
	case hasName(n, "gmail_quote", "protonmail_quote", "tutanota_quote", "yahoo_quoted"):
		return w.writeContainer(n)
	case hasName(n, "appendonsend", "divrplyfwdmsg", "mail-editor-reference-message-container"):
		w.writeLine(originLine)
		w.original = true
	}
	return false
}

// writeContainer writes an element that holds an introduction and a quotation. It leaves out the introduction. It
// writes the text after the quotation, which is the person's. If the element contains no quotation, everything from its
// beginning on counts as a quoted mail.
func (w *htmlWriter) writeContainer(n *html.Node) (done bool) {
	if !hasQuote(n) {
		w.writeLine(originLine)
		w.original = true
		return false
	}
	c := n.FirstChild
	for c != nil && !hasQuote(c) {
		c = c.NextSibling
	}
	for ; c != nil; c = c.NextSibling {
		w.writeNode(c)
	}
	return true
}

// hasQuote reports whether an element is a quotation or contains one.
func hasQuote(n *html.Node) bool {
	if isQuote(n) {
		return true
	}
	for c := range n.Descendants() {
		if isQuote(c) {
			return true
		}
	}
	return false
}

func isQuote(n *html.Node) bool { return n.Type == html.ElementNode && n.DataAtom == atom.Blockquote }

// hasName reports whether a class or the id of an element is one of the names.
func hasName(n *html.Node, names ...string) bool {
	for _, a := range n.Attr {
		if a.Key != "class" && a.Key != "id" {
			continue
		}
		for have := range strings.FieldsSeq(strings.ToLower(a.Val)) {
			for _, name := range names {
				if have == name {
					return true
				}
			}
		}
	}
	return false
}

func (w *htmlWriter) writeLine(s string) {
	if w.all {
		return
	}
	w.endLine()
	w.b.WriteString(s + "\n")
}

// writeText writes text as a browser does: any run of white space becomes one space.
func (w *htmlWriter) writeText(s string) {
	words := strings.Join(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\r\n", r) }), " ")
	soFar := w.b.String()
	inLine := soFar != "" && !strings.HasSuffix(soFar, "\n") && !strings.HasSuffix(soFar, " ")
	if inLine && strings.ContainsAny(s[:min(1, len(s))], " \t\r\n") {
		w.b.WriteString(" ")
	}
	if words == "" {
		return
	}
	w.b.WriteString(words)
	if strings.ContainsAny(s[len(s)-1:], " \t\r\n") {
		w.b.WriteString(" ")
	}
}

func (w *htmlWriter) endLine() {
	if s := w.b.String(); s != "" && !strings.HasSuffix(s, "\n") {
		w.b.WriteString("\n")
	}
}

var blocks = map[atom.Atom]bool{
	atom.P: true, atom.Div: true, atom.Li: true, atom.Ul: true, atom.Ol: true, atom.Table: true, atom.Tr: true, atom.Pre: true,
	atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.Section: true, atom.Article: true, atom.Header: true, atom.Footer: true,
	atom.H5: true, atom.H6: true, atom.Center: true, atom.Td: true, atom.Th: true,
}

// hidingStyle matches styles that make an element invisible. Mails hide previews,
// and text for filters, in such elements.
var hidingStyle = lazyregexp.New(`(^|;)(display:none|visibility:hidden|mso-hide:all|opacity:0(\.0*)?|font-size:0[a-z%]*|max-height:0[a-z%]*)(!important)?(;|$)`)

// isHidden reports whether an element is invisible to a person.
func isHidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "style":
			if hidingStyle().MatchString(squeezeStyle(a.Val)) {
				return true
			}
		}
	}
	return false
}
