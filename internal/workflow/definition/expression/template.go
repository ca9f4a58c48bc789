package expression

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// segment is a part of a text with templates: literal text, or one template.
type segment struct {
	literal    string
	expression string // the text inside a template
	offset     int    // position of the expression in the text, in characters
	template   bool
}

// maxTemplates limits the number of templates in one text.
const maxTemplates = 100

// segments splits a text at its {{ }}. If a {{ is not closed, the fault has its
// offset.
func segments(text string) ([]segment, *Fault) {
	var list []segment
	rest, done := text, 0 // done counts the characters before rest
	for templates := 0; ; templates++ {
		literal, after, found := strings.Cut(rest, "{{")
		if literal != "" || !found && len(list) == 0 {
			list = append(list, segment{literal: literal})
		}
		if !found {
			return list, nil
		}
		start := done + runeCount(literal) + len("{{")
		if templates == maxTemplates {
			return nil, &Fault{Offset: start - len("{{"), Message: fmt.Sprintf("there are more than %d templates in one text", maxTemplates), Hint: "split it over several steps"}
		}
		end := closingIndex(after)
		if end < 0 {
			return nil, &Fault{
				Offset: start - len("{{"), Message: "{{ is not closed",
				Hint: `close it with }}; for a {{ in the text write {{ "{{" }}`,
			}
		}
		inner := after[:end]
		trimmed := strings.TrimLeft(inner, " \t\r\n")
		list = append(list, segment{
			expression: strings.TrimSpace(inner), template: true,
			offset: start + runeCount(inner) - runeCount(trimmed),
		})
		rest, done = after[end+len("}}"):], start+runeCount(inner)+len("}}")
	}
}

func runeCount(s string) int { return utf8.RuneCountInString(s) }

// closingIndex returns the index of the }} that ends an expression, or -1. It skips
// a }} in a string, and braces that close objects.
func closingIndex(s string) int {
	var quote byte
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case c == '}' && i+1 < len(s) && s[i+1] == '}':
			return i
		}
	}
	return -1
}

// parseText parses a text with templates. It returns a literal if there are no
// templates, the expression alone if the text is one template, and a mixture
// otherwise. A value with faults cannot be rendered; it still has all its
// expressions.
func parseText(text string) (any, []Fault) {
	list, fault := segments(text)
	if fault != nil {
		return nil, []Fault{*fault}
	}
	if len(list) == 1 && !list[0].template {
		return literal{text}, nil
	}
	var faults []Fault
	mixed := mixture{}
	for _, s := range list {
		if !s.template {
			mixed = append(mixed, part{text: s.literal})
			continue
		}
		e, wrong := Parse(s.expression)
		for _, f := range wrong {
			f.Offset += s.offset
			faults = append(faults, f)
		}
		mixed = append(mixed, part{expression: e, offset: s.offset})
	}
	if single, ok := singleExpression(mixed); ok {
		return single, faults
	}
	return mixed, faults
}

// singleExpression returns the expression of a text that consists of one {{ }}
// and blanks.
func singleExpression(m mixture) (wholeExpression, bool) {
	var found *part
	for i := range m {
		switch {
		case m[i].expression == nil && strings.TrimSpace(m[i].text) == "":
		case m[i].expression != nil && found == nil:
			found = &m[i]
		default:
			return wholeExpression{}, false
		}
	}
	if found == nil {
		return wholeExpression{}, false
	}
	return wholeExpression{found.expression, found.offset}, true
}

// part is a piece of a mixture: text, or an expression.
type part struct {
	text       string
	expression *Expression
	offset     int
}

type mixture []part

func (x mixture) render(env Env, m *meter) (any, error) {
	var b strings.Builder
	for _, p := range x {
		s := p.text
		if p.expression != nil {
			v, err := p.expression.run(env, m)
			if err != nil {
				return nil, err
			}
			if v == nil {
				return nil, errorf("%s is null, and null has no place in a text", p.expression).
					WithHint(`give a value for that case: {{ %s ?? "none" }}`, p.expression)
			}
			if s, err = m.text(v, p.expression.text); err != nil {
				return nil, err
			}
		}
		if err := m.spendBytes(len(s)); err != nil {
			return nil, err
		}
		b.WriteString(s)
	}
	return b.String(), nil
}
