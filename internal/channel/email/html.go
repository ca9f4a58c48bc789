package email

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// htmlText returns the text of an HTML mail down to the first quotation. Doubtful says that the person may not have seen
// all of it.
func htmlText(s string) (text string, doubtful bool) {
	doc, err := html.Parse(strings.NewReader(s))
	if err != nil {
		return "", false
	}
	w := htmlWriter{}
	w.node(doc)
	return w.b.String(), mayHide(doc)
}

type htmlWriter struct {
	b    strings.Builder
	over bool
}

func (w *htmlWriter) node(n *html.Node) {
	if w.over {
		return
	}
	switch n.Type {
	case html.TextNode:
		w.text(n.Data)
		return
	case html.ElementNode:
		if hidden(n) {
			return
		}
		if quoted(n) {
			w.over = true
			return
		}
	default:
	}
	switch n.DataAtom {
	case atom.Head, atom.Script, atom.Style, atom.Template:
		return
	case atom.Br:
		w.b.WriteString("\n")
	default:
	}
	block := blocks[n.DataAtom]
	if block {
		w.newline()
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c)
	}
	if block {
		w.newline()
	}
}

// text writes text as a browser does: all space is one space.
func (w *htmlWriter) text(s string) {
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

func (w *htmlWriter) newline() {
	if s := w.b.String(); s != "" && !strings.HasSuffix(s, "\n") {
		w.b.WriteString("\n")
	}
}

var blocks = map[atom.Atom]bool{
	atom.P: true, atom.Div: true, atom.Li: true, atom.Ul: true, atom.Ol: true, atom.Table: true, atom.Tr: true, atom.Pre: true,
	atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.Section: true, atom.Article: true, atom.Header: true, atom.Footer: true,
}

// unseen finds styles under which nothing is seen: mails hide previews, and
// text for filters, in such elements.
var unseen = regexp.MustCompile(`(^|;)(display:none|visibility:hidden|mso-hide:all|opacity:0(\.0*)?|font-size:0[a-z%]*|max-height:0[a-z%]*)(!important)?(;|$)`)

// hidden reports whether a person does not see an element.
func hidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "style":
			if unseen.MatchString(squeezed(a.Val)) {
				return true
			}
		}
	}
	return false
}

// quoted reports whether a quoted mail or a signature begins with an element,
// as the usual mail programs mark them.
func quoted(n *html.Node) bool {
	if n.DataAtom == atom.Blockquote || n.DataAtom == atom.Hr {
		return true
	}
	for _, a := range n.Attr {
		if a.Key != "class" && a.Key != "id" {
			continue
		}
		for name := range strings.FieldsSeq(strings.ToLower(a.Val)) {
			switch name {
			case "gmail_quote", "gmail_attr", "gmail_signature", "yahoo_quoted", "moz-cite-prefix", "moz-signature", "appendonsend",
				"divrplyfwdmsg", "mail-editor-reference-message-container", "protonmail_quote", "tutanota_quote", "signature":
				return true
			}
		}
	}
	return false
}
