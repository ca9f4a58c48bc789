package definition

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// converter turns the parser's nodes into trees. It accepts the part of YAML
// that every parser reads in the same way, and refuses the rest.
type converter struct {
	*report
	tooDeep bool
}

func (c *converter) tree(n ast.Node, depth int) *tree {
	t := c.newTree(n)
	if depth > maxDepth {
		if !c.tooDeep {
			c.addAt(t, "", "", "the file nests more than %d deep", maxDepth)
		}
		c.tooDeep = true
		t.value = unreadableValue{}
		return t
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		c.mapping(t, n.Values, depth)
	case *ast.MappingValueNode:
		c.mapping(t, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		c.sequence(t, n, depth)
	case *ast.StringNode:
		c.text(t, n)
	case *ast.LiteralNode:
		t.value, t.style = n.Value.Value, blockStyle
	case *ast.NullNode:
		t.value = nil
	case *ast.BoolNode:
		t.value = n.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		c.number(t, n.GetToken())
	default:
		c.reportHidden(t, n)
	}
	return t
}

func (c *converter) newTree(n ast.Node) *tree {
	t := &tree{line: 1, column: 1}
	tk := n.GetToken()
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			tk = n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		tk = n.Key.GetToken()
	case *ast.LiteralNode:
		tk = n.Start
	}
	if tk != nil && tk.Position != nil {
		t.line, t.column = tk.Position.Line, max(1, tk.Position.Column)
	}
	return t
}

func (c *converter) mapping(t *tree, values []*ast.MappingValueNode, depth int) {
	m := &mapping{}
	lines := make(map[string]int, len(values))
	for _, v := range values {
		key, ok := c.key(v.Key)
		value := c.tree(v.Value, depth+1)
		if !ok {
			continue
		}
		if value.value == nil && value.line == 1 && key.line > 1 { // an empty value has no position
			value.line, value.column = key.line, key.column
		}
		if first, ok := lines[key.text()]; ok {
			c.addAt(key, "", fmt.Sprintf("it is there already on line %d: keep one", first), "%s is there twice", key.text())
			continue
		}
		lines[key.text()] = key.line
		m.keys = append(m.keys, key)
		m.values = append(m.values, value)
	}
	t.value = m
}

func (c *converter) key(n ast.MapKeyNode) (*tree, bool) {
	t := c.newTree(n)
	switch n := n.(type) {
	case *ast.StringNode:
		if t.value = n.Value; c.isDisputed(n) {
			c.addAt(t, "", fmt.Sprintf("write %q", n.Value), "a key must be a text")
			return t, false
		}
		return t, true
	case *ast.MergeKeyNode:
		c.addAt(t, "", "write out the values that it would merge", "<< is not supported: a reader does not see what it merges")
	case *ast.MappingKeyNode:
		c.addAt(t, "", "write key: value", "? before a key is not supported")
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		c.addAt(t, "", fmt.Sprintf("write %q", n.GetToken().Value), "a key must be a text")
	default:
		c.reportHidden(t, n)
	}
	return t, false
}

func (c *converter) sequence(t *tree, n *ast.SequenceNode, depth int) {
	list := make([]*tree, 0, len(n.Values))
	for i, v := range n.Values {
		item := c.tree(v, depth+1)
		if item.value == nil && item.line == 1 && i < len(n.Entries) && n.Entries[i].Start != nil {
			item.line = n.Entries[i].Start.Position.Line
		}
		list = append(list, item)
	}
	t.value = list
}

// looksLikeNumber matches texts that some YAML parsers read as a number.
var looksLikeNumber = lazyregexp.New(`^[-+]?(0[0-9_]+|0[oxb][0-9A-Fa-f_]+)$`)

// disputed matches texts that are numbers to some YAML parsers: with an exponent, in other bases, of base 60, and infinite.
var disputed = lazyregexp.New(`^[-+]?(\.?[0-9][0-9_.]*[eE][-+]?[0-9][0-9_]*|0[OXB][0-9A-Fa-f_]+|[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|\.(inf|Inf|INF))$`)

// MustQuote reports whether a text without quotes is a number to some YAML parsers.
func MustQuote(text string) bool {
	return looksLikeNumber().MatchString(text) || disputed().MatchString(text)
}

// isDisputed reports whether an unquoted text is a number to some parsers. A definition that was accepted before keeps its
// texts.
func (c *converter) isDisputed(n *ast.StringNode) bool {
	isQuoted := n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
	return !isQuoted && !c.wasChecked && disputed().MatchString(n.Value)
}

func (c *converter) text(t *tree, n *ast.StringNode) {
	switch n.Token.Type {
	case token.SingleQuoteType, token.DoubleQuoteType:
		t.style = quotedStyle
	default:
		switch {
		case looksLikeNumber().MatchString(n.Value):
			c.reportOctal(t, n.Value)
			return
		case c.isDisputed(n):
			c.reportDisputed(t, n.Value)
			return
		}
	}
	t.value = n.Value
	if n.Value == placeholder {
		t.value = unreadableValue{}
	}
}

func (c *converter) reportOctal(t *tree, text string) {
	t.value = unreadableValue{}
	c.addAt(t, "", fmt.Sprintf("write %s for the number, or %q for the text", decimal(text), text), "not every program reads %s as the same number", text)
}

func decimal(text string) string {
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign = "-"
	}
	plain := strings.TrimLeft(strings.ReplaceAll(text, "_", ""), "-+0")
	if _, err := strconv.Atoi(plain); err != nil || plain == "" {
		if n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 0, 64); err == nil {
			return strconv.FormatInt(n, 10)
		}
		return "it in decimal digits"
	}
	return sign + plain
}

var (
	whole    = lazyregexp.New(`^-?(0|[1-9][0-9]*)$`)
	fraction = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
)

// number accepts the numbers of JSON.
func (c *converter) number(t *tree, tk *token.Token) {
	text := strings.TrimSpace(tk.Value)
	switch {
	case whole().MatchString(text):
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			c.addAt(t, "", fmt.Sprintf("quote it if it is a text: %q", text), "the number is too large")
			t.value = unreadableValue{}
			return
		}
		t.value = n
	case fraction().MatchString(text):
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			c.addAt(t, "", "", "the number is too large")
			t.value = unreadableValue{}
			return
		}
		t.value = f
		if strings.HasSuffix(text, "0") && !strings.ContainsAny(text, "eE") {
			c.warn(t, "", fmt.Sprintf("quote it if it is a version or another text: %q", text), "%s reads as the number %s", text, strconv.FormatFloat(f, 'f', -1, 64))
		}
	case looksLikeNumber().MatchString(text):
		c.reportOctal(t, text)
	default:
		c.reportDisputed(t, text)
	}
}

// reportDisputed reports a number that not every parser reads as the same number.
func (c *converter) reportDisputed(t *tree, text string) {
	t.value = unreadableValue{}
	hint := fmt.Sprintf("write the number in decimal digits, or quote the text: %q", text)
	if f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64); err == nil && strings.ContainsAny(text, "eE") {
		hint = fmt.Sprintf("write %s for the number, or %q for the text", FormatNumber(f), text)
	}
	c.addAt(t, "", hint, "not every program reads %s as the same number", text)
}

// FormatNumber returns a number as every YAML parser reads it.
func FormatNumber(f float64) string {
	if size := math.Abs(f); size == 0 || size >= 1e-6 && size < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	if !strings.Contains(digits, ".") {
		digits += ".0"
	}
	return digits + "e" + exponent
}

// reportHidden reports a node that is valid YAML but hides its meaning.
func (c *converter) reportHidden(t *tree, n ast.Node) {
	t.value = unreadableValue{}
	switch n := n.(type) {
	case *ast.TagNode:
		c.reportTag(t, n)
	case *ast.AnchorNode:
		c.addAt(t, "", "remove the &; what is used twice is written twice. A text that begins with & is quoted", "anchors are not supported")
	case *ast.AliasNode:
		c.addAt(t, "", "write the value out; a text that begins with * is quoted", "* refers to an anchor, and anchors are not supported")
	case *ast.DirectiveNode:
		c.addAt(t, "", "remove the line that begins with %", "directives have no meaning here")
	default:
		c.addAt(t, "", "", "a %s has no place here", strings.ToLower(n.Type().String()))
	}
}

// reportTag reports a YAML tag. It explains the mistake behind "condition: !done",
// which YAML reads as a tag without a value, so that the condition would be
// lost.
func (c *converter) reportTag(t *tree, n *ast.TagNode) {
	rest := ""
	if t.line <= len(c.lines) {
		if r := []rune(c.lines[t.line-1]); t.column <= len(r) {
			rest = strings.TrimSpace(string(r[t.column-1:]))
		}
	}
	c.addAt(t, "", tagHint(n.Start.Value, rest), "! begins a tag in YAML: %s would be dropped", n.Start.Value)
}

// tagHint returns the hint how to write a value that a tag would drop.
func tagHint(tag, value string) string {
	hint := "quote it: " + quoteValue(value)
	if value != "" && !strings.HasPrefix(tag, "!!") {
		hint += ", or write not " + strings.TrimPrefix(value, "!")
	}
	return hint
}
