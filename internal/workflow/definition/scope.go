package definition

import (
	"strings"

	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// scope says which names an expression can use at its place.
type scope struct {
	// step is the index of the step in the file, or -1 outside of steps.
	step int
	// items says that item and index are known.
	items bool
	// narrow lists the only root names that are known, if it is not empty.
	narrow []string
	// pending says that pendingQuestion is known. failure says that failure is
	// known.
	pending, failure bool
	// secrets says that secrets may be used. If readers is not empty, they may
	// not: it says who reads the value.
	secrets bool
	readers string
	// place is the name of the place in messages.
	place string
}

var (
	triggerScope     = scope{step: -1, narrow: []string{"trigger"}, place: "a trigger"}
	concurrencyScope = scope{step: -1, narrow: []string{"inputs", "trigger"}, place: "a concurrency key"}
	injectScope      = scope{step: -1, pending: true, place: "inject"}
)

// scopeOf returns the scope of a step's parts. If step is nil, it is the scope
// of the workflow's own parts.
func (l *loader) scopeOf(step *int) scope {
	s := scope{step: -1, secrets: true, place: "a step"}
	if step != nil {
		s.step = *step
		s.failure = l.w.Steps[*step].Phase == OnFailure || l.w.Steps[*step].Phase == Finally
	}
	return s
}

// use is an expression with its place in the file.
type use struct {
	*expression.Expression
	at    *tree
	from  int // position of the expression in the text
	path  string
	scope scope
	// condition says that this is a condition, where secrets are not allowed.
	condition bool
}

// maxExpressions limits the number of expressions in a file.
const maxExpressions = 5000

// value parses a value with its templates.
func (l *loader) value(t *tree, path string, s scope) Value {
	switch v := t.value.(type) {
	case unreadable:
		return Value{}
	case *mapping:
		fields := make([]expression.Field, 0, len(v.keys))
		for i, key := range v.keys {
			if strings.Contains(key.text(), "{{") {
				l.addAt(key, path, "make the object in an expression: {{ {(name): value} }}", "templates in keys are not filled in")
			}
			fields = append(fields, expression.Field{Key: key.text(), Value: l.value(v.values[i], path+"."+key.text(), s)})
		}
		return expression.ObjectOf(fields)
	case []*tree:
		items := make([]Value, 0, len(v))
		for i, item := range v {
			items = append(items, l.value(item, path+PathOf([]string{itoa(i)}), s))
		}
		return expression.ListOf(items)
	case string:
		return l.text(t, v, path, s)
	}
	return expression.Literal(t.value)
}

func (l *loader) text(t *tree, text, path string, s scope) Value {
	if len(l.uses) > maxExpressions || l.full() {
		if strings.Contains(text, "{{") && !l.full() {
			l.addAt(t, path, "split the workflow", "there are more than %d expressions in the file", maxExpressions)
		}
		return Value{}
	}
	v, faults := expression.Text(text)
	for _, f := range faults {
		l.fault(t, path, f)
	}
	for _, e := range v.Located() {
		l.uses = append(l.uses, use{Expression: e.Expression, at: t, from: e.Offset, path: path, scope: s})
	}
	if i := strings.Index(text, "${{"); i >= 0 && faults == nil {
		l.warn(l.placeInside(t, len([]rune(text[:i]))), path, "write {{ }} without $", "the $ before {{ stays in the text")
	}
	l.cutOff(t, text, path, strings.Contains(text, "{{"))
	return v
}

// condition parses an expression that must be a boolean. It may be written
// within {{ }}.
func (l *loader) condition(t *tree, path string, s scope) *Expression {
	text, from := t.text(), 0
	switch v := t.value.(type) {
	case bool:
		text = map[bool]string{true: "true", false: "false"}[v]
	case string:
	default:
		return nil
	}
	before := len(l.problems)
	if strings.HasPrefix(strings.TrimSpace(text), "{{") {
		v, faults := expression.Text(text)
		for _, f := range faults {
			l.fault(t, path, f)
		}
		located := v.Located()
		if faults == nil && (len(located) != 1 || !located[0].Whole) {
			l.addAt(t, path, "write the expression alone, without {{ }}", "a condition is one expression")
		}
		if len(l.problems) > before {
			return nil
		}
		text, from = located[0].String(), located[0].Offset
	}
	e, faults := expression.Parse(text)
	for _, f := range faults {
		f.Offset += from
		l.fault(t, path, f)
	}
	l.cutOff(t, text, path, true)
	if e == nil {
		return nil
	}
	if k := e.Kind(); k != expression.Unknown && k != expression.Boolean {
		l.addAt(t, path, "compare it with something", "a condition must be true or false, and this is %s", k)
	}
	if text == "false" {
		l.warn(t, path, "remove the step, or the condition", "the step never runs")
	}
	l.uses = append(l.uses, use{Expression: e, at: t, from: from, path: path, scope: s, condition: true})
	return e
}

// cutOff warns of a comment right after an expression: "a # b" ends at the
// blank. A comment after two blanks is taken as intended.
func (l *loader) cutOff(t *tree, text, path string, expression bool) {
	if !expression || t.style != plain || t.line > len(l.lines) {
		return
	}
	line := []rune(l.lines[t.line-1])
	end := t.column - 1 + len([]rune(text))
	if end+2 > len(line) || strings.ContainsRune(text, '\n') || string(line[end:end+2]) != " #" {
		return
	}
	l.add(Problem{
		Line: t.line, Column: end + 2, Path: path, Warning: true, Message: "the expression ends here: # begins a comment",
		Hint: "quote it if the rest belongs to it; set a comment apart by two blanks",
	})
}

func (l *loader) fault(t *tree, path string, f expression.Fault) {
	l.addAt(l.placeInside(t, f.Offset), path, f.Hint, "%s", f.Message)
}

// placeInside returns the position of a character of a text. If the text is
// folded or escaped, it may return the position of the whole text.
func (l *loader) placeInside(t *tree, offset int) *tree {
	at := &tree{line: t.line, column: t.column}
	text := []rune(t.text())
	if offset > len(text) {
		offset = len(text)
	}
	before := string(text[:max(offset, 0)])
	if t.style == block {
		at.line += 1 + strings.Count(before, "\n")
		if at.line <= len(l.lines) {
			line := l.lines[at.line-1]
			at.column = len(line) - len(strings.TrimLeft(line, " ")) + 1
		}
		at.column += len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))
	} else if at.column += offset; t.style == quoted {
		at.column++
	}
	if at.line > len(l.lines) || at.column > len([]rune(l.lines[at.line-1]))+1 {
		return t
	}
	return at
}
