package email

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// A reply in HTML counts only if the person saw the text that Fermata reads.
// This code does not compute the effect of style sheets and elements. It
// accepts only those that can neither hide text nor change how it reads.

// harmlessElements show all of their text, unchanged.
var harmlessElements = map[atom.Atom]bool{
	atom.Html: true, atom.Head: true, atom.Meta: true, atom.Title: true, atom.Body: true, atom.Style: true, atom.Div: true, atom.P: true, atom.Br: true, atom.Span: true, atom.A: true,
	atom.B: true, atom.Strong: true, atom.I: true, atom.Em: true, atom.U: true, atom.Font: true, atom.Ul: true, atom.Ol: true, atom.Li: true, atom.Pre: true, atom.Code: true, atom.Tt: true,
	atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true, atom.Hr: true, atom.Center: true, atom.Small: true, atom.Big: true, atom.Wbr: true, atom.Img: true,
	atom.Table: true, atom.Tbody: true, atom.Thead: true, atom.Tfoot: true, atom.Tr: true, atom.Td: true, atom.Th: true, atom.Colgroup: true, atom.Col: true, atom.Blockquote: true,
}

// harmlessAttributes change only the look of text. [isHarmlessAttribute] checks the values of other attributes, such as
// style and colours.
var harmlessAttributes = map[string]bool{
	"class": true, "id": true, "dir": true, "lang": true, "align": true, "valign": true, "href": true, "target": true, "rel": true, "title": true, "name": true, "size": true,
	"border": true, "cellpadding": true, "cellspacing": true, "role": true, "type": true, "src": true, "alt": true, "nowrap": true, "xmlns": true, "content": true, "charset": true, "http-equiv": true,
	"link": true, "vlink": true, "alink": true, "tabindex": true, "spellcheck": true, "clear": true, "data-smartmail": true, "cite": true,
}

// mayHide reports whether the element itself may hide text from its author, or
// change how the text reads.
func mayHide(n *html.Node) bool {
	if !harmlessElements[n.DataAtom] && n.Data != "o:p" {
		return true
	}
	for _, a := range n.Attr {
		switch {
		case n.DataAtom == atom.Style || n.DataAtom == atom.Img && a.Key != "style" || strings.HasPrefix(a.Key, "xmlns:"):
		case n.DataAtom == atom.Meta && a.Key == "http-equiv" && strings.EqualFold(strings.TrimSpace(a.Val), "refresh"):
			return true
		case n.DataAtom == atom.Meta:
		case !isHarmlessAttribute(a):
			return true
		}
	}
	return false
}

func isHarmlessAttribute(a html.Attribute) bool {
	switch a.Key {
	case "style":
		return isHarmlessStyle(a.Val)
	case "hidden":
		return true // the text that it hides is not read
	case "color", "text":
		return isDark(squeezeStyle(a.Val))
	case "bgcolor":
		return isLight(squeezeStyle(a.Val))
	case "face":
		return !signFont().MatchString(a.Val)
	case "width", "height":
		return length().MatchString(squeezeStyle(a.Val))
	default:
		return harmlessAttributes[a.Key]
	}
}

var length = lazyregexp.New(`^([1-9][0-9]{1,3}(\.[0-9]+)?(px|pt|%)?|auto)$`)

// isHarmlessStyle reports whether the style of an element hides nothing, or
// hides the whole element, so that its text is not read either.
func isHarmlessStyle(style string) bool {
	s := squeezeStyle(style)
	if hidingDeclaration().MatchString(s) && !displayNone().MatchString(s) {
		return false
	}
	seen := map[string]bool{}
	for declaration := range strings.SplitSeq(strings.TrimSuffix(s, ";"), ";") {
		name, value, _ := strings.Cut(declaration, ":")
		value = strings.TrimSuffix(value, "!important")
		if seen[name] && (name == "display" || name == "color" || strings.HasPrefix(name, "background")) || !isHarmlessDeclaration(name, value) {
			return false
		}
		seen[name] = true
	}
	return true
}

// displayNone matches the one declaration that hides an element so that no style of an element inside it can show it
// again.
var displayNone = lazyregexp.New(`(^|;)display:none(!important)?(;|$)`)

var (
	harmlessProperty = lazyregexp.New(`^(margin|padding|border|font|mso-(?:[a-gi-z]|h[a-hj-z])|-webkit-(?:text-size-adjust|tap|nbsp|line-break|font)|-ms-text-size)[a-z-]*$|^(line-height|text-align|word-wrap|word-break|overflow-wrap|white-space|vertical-align|caret-color|` +
		`letter-spacing|word-spacing|orphans|widows|width|height|min-width|min-height|max-width|tab-interval|page|list-style[a-z-]*|text-decoration-color|text-decoration-thickness|text-decoration-style|text-size-adjust|line-break|hyphens)$`)
	// signFont matches fonts that draw symbols in place of letters.
	signFont = lazyregexp.New(`(?i)dings|symbol|barcode`)
	// largeLength matches a length that may move text out of sight. tinySize
	// matches a font size or line height at which text cannot be read.
	largeLength  = lazyregexp.New(`[0-9]{3,}`)
	tinySize     = lazyregexp.New(`(^|[^0-9.#])([0-6]?(\.[0-9]+)?(px|pt)|0?\.[0-7][0-9]*(em|rem|/|$)|0(/|$)|[1-6]?[0-9](\.[0-9]+)?%|0?\.[0-9]+(cm|mm|in|ex|ch|vw|vh))`)
	smallSpacing = lazyregexp.New(`^(0|normal|auto|-?[0-9.]{1,4}(px|pt|em))$`)
)

// isHarmlessDeclaration reports whether one declaration of a style changes only
// the look of text.
func isHarmlessDeclaration(name, value string) bool {
	switch name {
	case "":
		return value == ""
	case "color":
		return isDark(value)
	case "background", "background-color":
		return isLight(value)
	case "display":
		return value == "none" || value == "block" || value == "inline" || value == "inline-block"
	case "text-decoration", "text-decoration-line":
		return value == "none" || strings.HasPrefix(value, "underline") || value == "initial" || value == "inherit"
	case "text-indent", "letter-spacing", "word-spacing":
		return smallSpacing().MatchString(value) && !strings.HasPrefix(value, "-")
	case "text-transform", "float", "font-variant-caps", "direction", "text-shadow":
		return value == "none" || value == "normal" || value == "ltr" || value == "start"
	case "font", "font-size", "line-height":
		return !tinySize().MatchString(value) && !signFont().MatchString(value)
	case "font-family":
		return !signFont().MatchString(value)
	case "vertical-align", "margin", "margin-left", "margin-right", "margin-top", "margin-bottom", "padding", "padding-left", "padding-right", "padding-top", "padding-bottom":
		return !largeLength().MatchString(value)
	default:
		return harmlessProperty().MatchString(name) && !strings.Contains(value, "url(") && !strings.Contains(value, "var(") && !strings.Contains(value, "calc(")
	}
}

// hasHidingStyleSheet reports whether the mail contains a style sheet that may hide text.
// A style sheet applies to the whole mail from every position in it.
func hasHidingStyleSheet(doc *html.Node) bool {
	for c := range doc.Descendants() {
		if c.DataAtom == atom.Style && !isHarmlessSheet(textBelow(c)) || c.DataAtom == atom.Link {
			return true
		}
	}
	return false
}

// colours are the colour names that mail programs write, with their lightness.
var colours = map[string]int{
	"black": 0, "windowtext": 0, "inherit": -1, "initial": -1, "unset": -1, "currentcolor": -1, "auto": -1, "none": -1, "transparent": -2, "white": 255, "window": 255, "navy": 15, "blue": 29, "darkblue": 16, "green": 75,
	"darkgreen": 59, "red": 76, "darkred": 42, "maroon": 38, "purple": 52, "teal": 90, "gray": 128, "grey": 128, "dimgray": 105, "dimgrey": 105,
}

var (
	hexColour = lazyregexp.New(`^#([0-9a-f]{3}|[0-9a-f]{6})$`)
	rgbColour = lazyregexp.New(`^rgb\(([0-9]{1,3}),([0-9]{1,3}),([0-9]{1,3})\)$`)
)

// lightness returns the lightness of a colour, from 0 to 255. It is negative if the colour is inherited or transparent.
// known is false if the colour cannot be read.
func lightness(colour string) (light int, known bool) {
	if light, known = colours[colour]; known {
		return light, true
	}
	var parts [3]int
	if m := rgbColour().FindStringSubmatch(colour); m != nil {
		for i := range parts {
			parts[i], _ = strconv.Atoi(m[i+1])
		}
	} else if m := hexColour().FindStringSubmatch(colour); m != nil {
		digits := m[1]
		if len(digits) == 3 {
			digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
		}
		for i := range parts {
			n, _ := strconv.ParseUint(digits[2*i:2*i+2], 16, 8)
			parts[i] = int(n)
		}
	} else {
		return 0, false
	}
	return (299*parts[0] + 587*parts[1] + 114*parts[2]) / 1000, true
}

// lightestText and darkestPaper limit the lightness of text and of its background. Their difference keeps the text
// readable.
const (
	lightestText = 150
	darkestPaper = 200
)

func isDark(colour string) bool {
	light, known := lightness(colour)
	return known && light <= lightestText && light != colours["transparent"]
}

func isLight(colour string) bool {
	light, known := lightness(colour)
	return known && (light < 0 || light >= darkestPaper)
}

// hidingDeclaration matches styles that may put the text of an element out of sight.
var hidingDeclaration = lazyregexp.New(`(^|;)(position|clip|clip-path|transform|text-indent|left|right|top|bottom|filter|mask|zoom|content-visibility|all):` +
	`|(^|;)color:(transparent|rgba\(|hsla\(|white|#fff|rgb\(255,255,255\)|#[0-9a-f]{3}0(;|!|$)|#[0-9a-f]{6}00(;|!|$))` +
	`|(^|;)(height|width|max-width|line-height|font-size|max-height):([01]?(\.[0-9]+)?(px|pt)|(0?\.0[0-9]*|0)[a-z%]*|[0-9](\.[0-9]+)?%)(;|!|$)` +
	`|(^|;)margin[a-z-]*:[^;]*-[0-9.]|/\*|\\`)

// smallLength matches a length in a style sheet that moves text only a little.
const smallLength = `([0-9]{1,2}(\.[0-9]+)?(px|pt)?|[0-9](\.[0-9]+)?(em|rem|cm|in))`

var (
	comments = lazyregexp.New(`(?s)/\*.*?\*/|<!--|-->`)
	rule     = lazyregexp.New(`^([^{}@]+)\{([^{}]*)\}`)
	// harmlessDeclaration matches declarations that hide nothing: little space around
	// text, and the look of its letters.
	harmlessDeclaration = lazyregexp.New(`^(margin|margin-top|margin-bottom|padding|padding-top|padding-bottom) ?: ?` + smallLength + `( ` + smallLength + `)* ?(!important)?$` +
		`|^(font-family|font-weight|font-style|text-decoration|text-align|word-wrap|word-break|overflow-wrap) ?: ?[a-z0-9 ,'"-]+(!important)?$`)
)

// isHarmlessSheet reports whether no rule of a style sheet can hide text.
func isHarmlessSheet(sheet string) bool {
	rest := strings.TrimSpace(strings.ToLower(comments().ReplaceAllString(sheet, "")))
	for rest != "" {
		found := rule().FindStringSubmatch(rest)
		if found == nil {
			return false
		}
		for declaration := range strings.SplitSeq(found[2], ";") {
			if d := strings.Join(strings.Fields(declaration), " "); d != "" && !harmlessDeclaration().MatchString(d) {
				return false
			}
		}
		rest = strings.TrimSpace(rest[len(found[0]):])
	}
	return true
}

// squeezeStyle returns a style in lower case, without white space.
func squeezeStyle(style string) string {
	return strings.ToLower(strings.Join(strings.Fields(style), ""))
}

func textBelow(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}
