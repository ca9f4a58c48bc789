package email

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A reply in HTML counts only if the person saw the text that is read. A style sheet can hide any part of it, and what a style
// sheet does is not worked out here: only rules that can hide nothing are accepted.

// mayHide reports whether something in the HTML may hide text from the person who wrote it.
func mayHide(n *html.Node) bool {
	if n.Type == html.ElementNode && hides(n) {
		return true
	}
	if n.Type == html.ElementNode && quoted(n) {
		// What is quoted is not read. Its style sheets work on the rest as well.
		return sheetBelow(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if mayHide(c) {
			return true
		}
	}
	return false
}

// hides reports whether the element itself may hide text.
func hides(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Style:
		return !isHarmless(textBelow(n))
	case atom.Link, atom.Details, atom.Dialog, atom.Noscript, atom.Object, atom.Iframe, atom.Select, atom.Textarea, atom.Svg, atom.Math,
		atom.Audio, atom.Video, atom.Canvas, atom.Datalist, atom.Frameset:
		return true
	default:
	}
	for _, a := range n.Attr {
		if a.Key == "color" && moves.MatchString("color:"+squeezed(a.Val)) {
			return true
		}
		if a.Key == "style" && moves.MatchString(squeezed(a.Val)) && !hidden(n) {
			return true
		}
	}
	return false
}

// sheetBelow reports whether a style sheet that may hide something stands in the element.
func sheetBelow(n *html.Node) bool {
	for c := range n.Descendants() {
		if c.DataAtom == atom.Style && !isHarmless(textBelow(c)) || c.DataAtom == atom.Link {
			return true
		}
	}
	return false
}

// moves finds styles of an element that may put its text out of sight.
var moves = regexp.MustCompile(`(^|;)(position|clip|clip-path|transform|text-indent|left|right|top|bottom|filter|mask|zoom|content-visibility|all):` +
	`|(^|;)color:(transparent|rgba\(|hsla\(|white|#fff|rgb\(255,255,255\)|#[0-9a-f]{3}0(;|!|$)|#[0-9a-f]{6}00(;|!|$))` +
	`|(^|;)(height|width|max-width|line-height|font-size|max-height):([01]?(\.[0-9]+)?(px|pt)|(0?\.0[0-9]*|0)[a-z%]*|[0-9](\.[0-9]+)?%)(;|!|$)` +
	`|(^|;)margin[a-z-]*:[^;]*-[0-9.]|/\*|\\`)

// space is a length in a style sheet that moves text only a little.
const space = `([0-9]{1,2}(\.[0-9]+)?(px|pt)?|[0-9](\.[0-9]+)?(em|rem|cm|in))`

var (
	comments = regexp.MustCompile(`(?s)/\*.*?\*/|<!--|-->`)
	rule     = regexp.MustCompile(`^([^{}@]+)\{([^{}]*)\}`)
	// harmless are declarations that hide nothing: little space around text, and how its letters look.
	harmless = regexp.MustCompile(`^(margin|margin-top|margin-bottom|padding|padding-top|padding-bottom) ?: ?` + space + `( ` + space + `)* ?(!important)?$` +
		`|^(font-family|font-weight|font-style|text-decoration|text-align|word-wrap|word-break|overflow-wrap) ?: ?[a-z0-9 ,'"-]+(!important)?$`)
)

// isHarmless reports whether no rule of a style sheet can hide text.
func isHarmless(sheet string) bool {
	rest := strings.TrimSpace(strings.ToLower(comments.ReplaceAllString(sheet, "")))
	for rest != "" {
		found := rule.FindStringSubmatch(rest)
		if found == nil {
			return false
		}
		for declaration := range strings.SplitSeq(found[2], ";") {
			if d := strings.Join(strings.Fields(declaration), " "); d != "" && !harmless.MatchString(d) {
				return false
			}
		}
		rest = strings.TrimSpace(rest[len(found[0]):])
	}
	return true
}

// squeezed returns a style in lower case, without spaces.
func squeezed(style string) string { return strings.ToLower(strings.Join(strings.Fields(style), "")) }

func textBelow(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}
