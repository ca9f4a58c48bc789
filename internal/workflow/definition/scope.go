package definition

import (
	"strings"

	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// scope says which names an expression can use at its place.
type scope struct {
	// step is the index of the step in the file, or -1 outside of steps.
	step int
	// hasItems says that item and index are known.
	hasItems bool
	// onlyRoots lists the only root names that are known, if it is not empty.
	onlyRoots []string
	// hasPendingQuestion says that pendingQuestion is known. hasFailure
	// says that failure is known.
	hasPendingQuestion, hasFailure bool
	// allowsSecrets says that secrets may be used here, unless readers is set. readers is the part of a message that
	// says who reads the value.
	allowsSecrets bool
	readers       string
	// triggerType is the type of the trigger to which the place belongs, or "".
	triggerType string
	// description names the place in messages.
	description string
}

var (
	triggerScope     = scope{step: -1, onlyRoots: []string{"trigger"}, description: "a trigger"}
	concurrencyScope = scope{step: -1, onlyRoots: []string{"inputs", "trigger"}, description: "a concurrency key"}
	injectScope      = scope{step: -1, hasPendingQuestion: true, description: "inject"}
)

// scopeOfTrigger returns the scope of the parts of a trigger.
func scopeOfTrigger(triggerType string) scope {
	s := triggerScope
	s.triggerType = triggerType
	return s
}

// scopeOf returns the scope of a step's parts. If step is nil, it is the scope
// of the workflow's own parts.
func (l *loader) scopeOf(step *int) scope {
	s := scope{step: -1, allowsSecrets: true, description: "a step"}
	if step != nil {
		s.step = *step
		s.hasFailure = l.w.Steps[*step].Phase == OnFailure || l.w.Steps[*step].Phase == Finally
	}
	return s
}

// usage is an expression with its place in the file.
type usage struct {
	*expression.Expression
	at     *tree
	offset int // position of the expression in the text
	path   string
	scope  scope
	// condition says that this is a condition, where secrets are not allowed.
	condition bool
}

// maxExpressions limits the number of expressions in a file.
const maxExpressions = 5000

// value parses a value with its templates.
func (l *loader) value(t *tree, path string, s scope) Value {
	switch v := t.value.(type) {
	case unreadableValue:
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
	if len(l.usages) > maxExpressions || l.isFull() {
		if strings.Contains(text, "{{") && !l.isFull() {
			l.addAt(t, path, "split the workflow", "there are more than %d expressions in the file", maxExpressions)
		}
		return Value{}
	}
	v, faults := expression.Text(text)
	for _, f := range faults {
		l.reportFault(t, path, f)
	}
	for _, e := range v.LocatedExpressions() {
		l.usages = append(l.usages, usage{Expression: e.Expression, at: t, offset: e.Offset, path: path, scope: s})
	}
	if i := strings.Index(text, "${{"); i >= 0 && faults == nil {
		l.warn(l.positionInside(t, len([]rune(text[:i]))), path, "write {{ }} without $", "the $ before {{ stays in the text")
	}
	l.warnCutOff(t, text, path, strings.Contains(text, "{{"))
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
	if strings.HasPrefix(strings.TrimSpace(text), "{{") {
		v, faults := expression.Text(text)
		located := v.LocatedExpressions()
		if len(located) != 1 || !located[0].Whole {
			for _, f := range faults {
				l.reportFault(t, path, f)
			}
			if faults == nil {
				l.addAt(t, path, "write the expression alone, without {{ }}", "a condition is one expression")
			}
			return nil
		}
		text, from = located[0].String(), located[0].Offset
	}
	e, faults := expression.Parse(text)
	for _, f := range faults {
		f.Offset += from
		l.reportFault(t, path, f)
	}
	l.warnCutOff(t, text, path, true)
	if k := e.Kind(); k != expression.Unknown && k != expression.Boolean {
		l.addAt(t, path, "compare it with something", "a condition must be true or false, and this is %s", k)
	}
	if text == "false" {
		l.warn(t, path, "remove the step, or the condition", "the step never runs")
	}
	l.usages = append(l.usages, usage{Expression: e, at: t, offset: from, path: path, scope: s, condition: true})
	return e
}

// warnCutOff warns of a comment right after an expression, because YAML reads "a # b" as "a". It takes a comment after
// two blanks as intended.
func (l *loader) warnCutOff(t *tree, text, path string, isExpression bool) {
	if !isExpression || t.style != plainStyle || t.line > len(l.lines) {
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

func (l *loader) reportFault(t *tree, path string, f expression.Fault) {
	l.addAt(l.positionInside(t, f.Offset), path, f.Hint, "%s", f.Message)
}

// positionInside returns the position of a character of a text. If the text is
// folded or escaped, it may return the position of the whole text.
func (l *loader) positionInside(t *tree, offset int) *tree {
	at := &tree{line: t.line, column: t.column}
	text := []rune(t.text())
	if offset > len(text) {
		offset = len(text)
	}
	before := string(text[:max(offset, 0)])
	if t.style == blockStyle {
		at.line += 1 + strings.Count(before, "\n")
		if at.line <= len(l.lines) {
			line := l.lines[at.line-1]
			at.column = len(line) - len(strings.TrimLeft(line, " ")) + 1
		}
		at.column += len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))
	} else if at.column += offset; t.style == quotedStyle {
		at.column++
	}
	if at.line > len(l.lines) || at.column > len([]rune(l.lines[at.line-1]))+1 {
		return t
	}
	return at
}
