package definition

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// placeholder replaces a value that cannot be parsed, so that the rest of the file can be parsed.
const placeholder = "\u2060unreadable\u2060"

// maxRepairs limits how often the file is parsed again. maxReread limits how many bytes are parsed again in total.
const (
	maxRepairs = 20
	maxReread  = 512 << 10
)

// read parses the file into a tree. It reports text that is no YAML, or not the part of YAML that workflows may use.
// The tree is nil if the rest of the file cannot be checked.
func (r *report) read(source []byte) (root *tree) {
	defer func() {
		if recover() != nil { // a fault of the library must not end the server
			r.add(Problem{Line: 1, Column: 1, Message: "the file cannot be read as YAML"})
			root = nil
		}
	}()
	source = bytes.ReplaceAll(bytes.TrimPrefix(source, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	r.lines = strings.Split(string(source), "\n")
	if len(source) > MaxSource {
		r.lines = nil
		r.add(Problem{Line: 1, Column: 1, Message: fmt.Sprintf("the file is longer than %d KiB", MaxSource>>10), Hint: "split it into several workflows"})
		return nil
	}
	if !r.checkReadable(source) {
		return nil
	}
	for repairs := 0; ; repairs++ {
		text := strings.Join(r.lines, "\n")
		tokens := lexer.Tokenize(text)
		if repairs == 0 && !r.checkBounds(tokens) {
			return nil
		}
		if repairs == 0 && r.repairTags(tokens) {
			continue
		}
		file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
		if err == nil {
			return r.document(file)
		}
		line, ok := r.reportSyntaxError(text, err)
		if !ok || repairs == maxRepairs || (repairs+1)*len(text) > maxReread || !r.repair(line) {
			return nil
		}
	}
}

// CheckYAML checks the YAML of any file as strictly as that of a definition. It returns the problems: the file is no
// YAML, or uses YAML that hides its meaning. Warnings are left out.
func CheckYAML(source []byte) []Problem {
	r := &report{}
	r.read(source)
	return slices.DeleteFunc(r.problems, func(p Problem) bool { return p.Warning })
}

// checkReadable refuses a file that is no text.
func (r *report) checkReadable(source []byte) bool {
	line, column := 1, 1
	for i := 0; i < len(source); {
		c, size := utf8.DecodeRune(source[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			r.add(Problem{Line: line, Column: column, Message: "the file is not UTF-8", Hint: "save it as UTF-8"})
			return false
		case c < ' ' && c != '\n' && c != '\t', c == 0x7f, c >= 0x80 && c <= 0x9f && c != 0x85:
			r.add(Problem{Line: line, Column: column, Message: fmt.Sprintf("the character %U has no place in a file", c), Hint: "remove it"})
			return false
		}
		if column++; c == '\n' {
			line, column = line+1, 1
		}
		i += size
	}
	return true
}

// maxFields limits the number of keys in a file, because the parser's time grows faster than their number.
const maxFields = 10_000

// checkBounds refuses a file with too many keys, or with nesting so deep that parsing it would overflow the stack.
func (r *report) checkBounds(tokens token.Tokens) bool {
	flow, run, line, fields := 0, 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, run = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.TagType, token.AnchorType:
			run++
		case token.MappingValueType:
			if fields++; fields > maxFields {
				r.add(Problem{Line: t.Position.Line, Column: t.Position.Column, Message: fmt.Sprintf("the file has more than %d fields", maxFields), Hint: "split it into several workflows"})
				return false
			}
			continue
		default:
			continue
		}
		if flow > maxDepth || run > maxDepth {
			r.add(Problem{Line: t.Position.Line, Column: t.Position.Column, Message: fmt.Sprintf("the file nests more than %d deep", maxDepth)})
			return false
		}
	}
	return true
}

// repairTags reports values that begin with !, which YAML would drop as tags, and replaces them with the placeholder.
// Otherwise the parser would take the text after the tag as the value. repairTags returns whether it replaced any
// value.
func (r *report) repairTags(tokens token.Tokens) bool {
	found := false
	for _, t := range tokens {
		if t.Type != token.TagType {
			continue
		}
		at := t.Position.Line - 1
		m := entry().FindStringSubmatch(r.lines[at])
		if m == nil || !strings.HasPrefix(m[2], "!") || utf8.RuneCountInString(m[1]) != t.Position.Column-1 {
			continue
		}
		value := strings.TrimSpace(m[2])
		r.add(Problem{
			Line: t.Position.Line, Column: t.Position.Column, Message: fmt.Sprintf("! begins a tag in YAML: %s would be dropped", t.Value),
			Hint: tagHint(t.Value, value),
		})
		found = r.repair(t.Position.Line) || found
	}
	return found
}

// reportSyntaxError reports an error of the parser, and returns the line that caused it. It returns false if the line
// is not known, or was reported already.
func (r *report) reportSyntaxError(text string, err error) (int, bool) {
	wrong, ok := errors.AsType[*yaml.SyntaxError](err)
	if !ok || wrong.Token == nil || wrong.Token.Position == nil {
		r.add(Problem{Line: 1, Column: 1, Message: "the file cannot be read as YAML: " + strings.TrimSpace(err.Error())})
		return 0, false
	}
	line, column := wrong.Token.Position.Line, max(1, wrong.Token.Position.Column)
	message, hint := wrong.Message, ""
	if opened := unclosedBefore(text, wrong.Token); opened != nil {
		line, column = opened.Position.Line, opened.Position.Column
		message, hint = "a quote is not closed on this line", "close it, or write the text as a block: key: |"
	}
	line = min(max(line, 1), len(r.lines))
	if _, again := r.originalLines[line-1]; again {
		return 0, false // the problem of this line was reported already
	}
	if m, h, at := explainMistake(r.lines[line-1]); h != "" {
		message, hint, column = m, h, at
	}
	if hint == "" {
		hint = hintFor(message)
	}
	r.add(Problem{Line: line, Column: column, Message: message, Hint: hint})
	return line, true
}

// unclosedBefore returns the quoted text right before the token if it spans several lines and ends on the line of the
// token. Most likely, a quote was not closed.
func unclosedBefore(text string, wrong *token.Token) *token.Token {
	if wrong.Type == token.InvalidType {
		return nil
	}
	var before *token.Token
	for _, t := range lexer.Tokenize(text) {
		p, w := t.Position, wrong.Position
		if p.Line > w.Line || p.Line == w.Line && p.Column >= w.Column {
			break
		}
		if t.Type == token.DoubleQuoteType || t.Type == token.SingleQuoteType {
			before = t
		}
	}
	if before == nil || !strings.Contains(strings.TrimSpace(before.Origin), "\n") {
		return nil
	}
	return before
}

var entry = lazyregexp.New(`^(\s*(?:- +)*(?:[A-Za-z_][\w.-]*|"[^"]*"|'[^']*') *: +|\s*(?:- +)+)(\S.*)$`)

// bareTemplate matches an unquoted template at the beginning of a value in an object or a list.
var bareTemplate = lazyregexp.New(`[:,[]\s*{{`)

// bareStar matches an unquoted cron line that begins with * in an object or a list.
var bareStar = lazyregexp.New(`[:,[]\s*(\*[/ ][^,}\]]*[^,}\]\s])`)

// openQuote returns the index of the first quote of an object or list that is not closed, or -1.
func openQuote(value string) int {
	for at := 0; at < len(value); at++ {
		quote := value[at]
		begins := at > 0 && strings.ContainsRune("{[,: ", rune(value[at-1]))
		if quote != '"' && quote != '\'' || !begins {
			continue
		}
		if isQuoteOpen(value[at:], quote) {
			return at
		}
		for at++; value[at] != quote; at++ {
			if value[at] == '\\' && quote == '"' {
				at++
			}
		}
	}
	return -1
}

// explainMistake explains frequent mistakes in workflow files, by the line that has the mistake.
func explainMistake(line string) (message, hint string, column int) {
	m := entry().FindStringSubmatch(line)
	if m == nil {
		return "", "", 0
	}
	value := strings.TrimSpace(m[2])
	column = utf8.RuneCountInString(m[1]) + 1
	inside := strings.ContainsAny(value[:1], "{[")
	switch {
	case strings.HasPrefix(value, "!"):
		return "a value that begins with ! must be quoted: ! begins a tag in YAML", fmt.Sprintf("write %s", quoteValue(value)), column
	case inside && bareTemplate().MatchString(value) && !strings.HasPrefix(value, "{{"):
		at := bareTemplate().FindStringIndex(value)[1] - len("{{")
		return "a template must be quoted: { begins an object in YAML", `write "{{ … }}"`, column + utf8.RuneCountInString(value[:at])
	case strings.HasPrefix(value, "{{"):
		return "a template must be quoted: { begins an object in YAML", fmt.Sprintf("write %s", quoteValue(value)), column
	case inside && openQuote(value) >= 0:
		return "a quote is not closed on this line", "close it", column + utf8.RuneCountInString(value[:openQuote(value)])
	case inside && bareStar().MatchString(value):
		at := bareStar().FindStringSubmatchIndex(value)
		return "a value that begins with * must be quoted", fmt.Sprintf("write %s", quoteValue(value[at[2]:at[3]])), column + utf8.RuneCountInString(value[:at[2]])
	case inside:
		return "", "", 0
	case strings.HasPrefix(value, "*/"), strings.HasPrefix(value, "* "):
		return "a value that begins with * must be quoted", fmt.Sprintf("write %s", quoteValue(value)), column
	case strings.HasPrefix(value, `"`) && isQuoteOpen(value, '"'), strings.HasPrefix(value, "'") && isQuoteOpen(value, '\''):
		return "a quote is not closed on this line", "close it, or write the text as a block: key: |", column
	case strings.HasPrefix(value, `"`), strings.HasPrefix(value, "'"):
		return "there is more after the closing quote", fmt.Sprintf("quote all of it: %s", quoteValue(value)), column
	case strings.Contains(value, " ? ") && strings.Contains(value, " : "):
		return `": " within a value must be quoted`, fmt.Sprintf("write %s", quoteValue(value)), column
	case strings.Contains(value, ": "):
		return `": " within a value must be quoted`, fmt.Sprintf("write %s, or put what follows on a line of its own", quoteValue(value)), column
	case strings.ContainsAny(value[:1], "@`%"):
		return fmt.Sprintf("a value that begins with %s must be quoted", value[:1]), fmt.Sprintf("write %s", quoteValue(value)), column
	}
	return "", "", 0
}

// isQuoteOpen reports whether value begins with a quote that is not closed.
func isQuoteOpen(value string, quote byte) bool {
	for i := 1; i < len(value); i++ {
		switch {
		case value[i] == '\\' && quote == '"':
			i++
		case value[i] == quote:
			return false
		}
	}
	return true
}

// quoteValue returns a value in the quotes that it needs.
func quoteValue(value string) string {
	if r := []rune(value); len(r) > 60 {
		value = string(r[:59]) + "…"
	}
	if !strings.ContainsAny(value, `"\`) {
		return `"` + value + `"`
	}
	return "'" + strings.ReplaceAll(value, "'", "''") + "'"
}

func hintFor(message string) string {
	switch {
	case strings.Contains(message, "tab"), strings.Contains(message, `'\t'`), strings.Contains(message, "\t"):
		return "indent with blanks, not with tabs"
	case strings.Contains(message, "end character"):
		return "close the quote, or write the text as a block: key: |"
	case strings.Contains(message, "mapping value is not allowed"):
		return `check the indentation, and quote a text with ": " in it`
	case strings.Contains(message, "must be specified"), strings.Contains(message, "not found"):
		return "close the bracket"
	}
	return "check the indentation and the quotes around here"
}

// repair replaces the value of a line with the placeholder, once for each line.
func (r *report) repair(line int) bool {
	at := line - 1
	m := entry().FindStringSubmatch(r.lines[at])
	if m == nil || strings.Contains(m[2], placeholder) {
		return false
	}
	if r.originalLines == nil {
		r.originalLines = map[int]string{}
	}
	r.originalLines[at] = r.lines[at]
	r.lines[at] = m[1] + `"` + placeholder + `"`
	return true
}

// restore puts the replaced lines back, for the excerpts.
func (r *report) restore() {
	for at, line := range r.originalLines {
		r.lines[at] = line
	}
	for i := range r.problems {
		r.problems[i].Excerpt = r.excerpt(r.problems[i].Line, r.problems[i].Column)
	}
}

// document returns the tree of the only document in the file.
func (r *report) document(file *ast.File) *tree {
	var body ast.Node
	for _, d := range file.Docs {
		if d.Body == nil {
			continue
		}
		switch d.Body.(type) {
		case *ast.CommentGroupNode:
			continue
		case *ast.DirectiveNode:
			r.refuseNode(d.Body, "directives have no meaning here", "remove the line that begins with %")
			continue
		}
		if body != nil {
			r.refuseNode(d.Body, "there is a second document in the file", "write one workflow per file; remove ---")
			return nil
		}
		body = d.Body
	}
	if body == nil {
		r.add(Problem{Line: 1, Column: 1, Message: "the file is empty", Hint: "begin with name: and steps:"})
		return nil
	}
	c := &converter{report: r}
	return c.tree(body, 0)
}

func (r *report) refuseNode(n ast.Node, message, hint string) {
	p := n.GetToken().Position
	r.add(Problem{Line: p.Line, Column: p.Column, Message: message, Hint: hint})
}
