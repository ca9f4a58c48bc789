package expression

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
)

// Value is an input with its templates. The zero value is null.
type Value struct{ node node }

// node is a literal, a whole expression, a mixed text, an object or a list.
type node interface {
	render(env Env, m *meter) (any, error)
}

type (
	literal         struct{ value any }
	wholeExpression struct {
		*Expression
		offset int
	}
	fields []Field
	items  []Value
)

// Field is a value with its key in an object.
type Field struct {
	Key   string
	Value Value
}

// Literal returns a value without templates: null, a boolean, a number or a
// text. Templates in the text are not read.
func Literal(v any) Value { return Value{literal{v}} }

// Text parses a text with templates. If the text is exactly one {{ }}, its
// result keeps the type of the expression. Otherwise the result is a text. A
// value with faults cannot be rendered; it still has its expressions.
func Text(text string) (Value, []Fault) {
	n, faults := parseText(text)
	if n == nil {
		return Value{}, faults
	}
	return Value{n.(node)}, faults
}

// ObjectOf returns an object with these fields.
func ObjectOf(f []Field) Value { return Value{fields(f)} }

// ListOf returns a list of these values.
func ListOf(v []Value) Value { return Value{items(v)} }

// Render returns the value with its templates filled in. The results are data:
// templates in them are not filled in again. null within a longer text is an
// error.
func (v Value) Render(env Env) (any, error) { return v.render(env, newMeter(env)) }

// RenderEach renders each field of an object on its own, and leaves out the
// fields that fail.
func (v Value) RenderEach(env Env) map[string]any {
	n, _ := v.node.(fields)
	out := map[string]any{}
	for _, f := range n {
		if one, err := f.Value.Render(env); err == nil {
			out[f.Key] = one
		}
	}
	return out
}

func (v Value) render(env Env, m *meter) (any, error) {
	if v.node == nil {
		return nil, nil //nolint:nilnil // null is a value
	}
	return v.node.render(env, m)
}

func (l literal) render(Env, *meter) (any, error) { return l.value, nil }

func (w wholeExpression) render(env Env, m *meter) (any, error) { return w.run(env, m) }

func (f fields) render(env Env, m *meter) (any, error) {
	o := make(map[string]any, len(f))
	for _, field := range f {
		v, err := field.Value.render(env, m)
		if err != nil {
			return nil, locateError(field.Key, err)
		}
		o[field.Key] = v
	}
	return o, nil
}

func (l items) render(env Env, m *meter) (any, error) {
	list := make([]any, len(l))
	for i, item := range l {
		var err error
		if list[i], err = item.render(env, m); err != nil {
			return nil, locateError(fmt.Sprintf("[%d]", i), err)
		}
	}
	return list, nil
}

// locateError adds the key to an error, so that it says where in the value it
// happened.
func locateError(key string, err error) error {
	e, ok := errors.AsType[*fermata.Error](err)
	if !ok {
		return fmt.Errorf("%s: %w", key, err)
	}
	wrapped := *e
	separator := ": "
	if strings.HasPrefix(e.Message, "[") {
		separator = ""
	}
	wrapped.Message = key + separator + e.Message
	return &wrapped
}

// Literal returns the value and true if the value contains no template.
func (v Value) Literal() (any, bool) {
	if !v.IsLiteral() {
		return nil, false
	}
	out, err := v.render(nil, newMeter(nil))
	return out, err == nil
}

// IsLiteral reports whether the value contains no template.
func (v Value) IsLiteral() bool { return len(v.Expressions()) == 0 }

// Expressions returns the expressions of all templates in the value.
func (v Value) Expressions() []*Expression {
	switch n := v.node.(type) {
	case wholeExpression:
		return []*Expression{n.Expression}
	case mixture:
		var list []*Expression
		for _, p := range n {
			if p.expression != nil {
				list = append(list, p.expression)
			}
		}
		return list
	case fields:
		var list []*Expression
		for _, f := range n {
			list = append(list, f.Value.Expressions()...)
		}
		return list
	case items:
		var list []*Expression
		for _, item := range n {
			list = append(list, item.Expressions()...)
		}
		return list
	}
	return nil
}

// LocatedExpression is an expression with its position in the text that contains it.
type LocatedExpression struct {
	*Expression
	// Offset is the position of the expression in the text, in characters from
	// 0.
	Offset int
	// Whole says that the text consists of this template alone.
	Whole bool
}

// LocatedExpressions returns the templates of a text with their positions.
func (v Value) LocatedExpressions() []LocatedExpression {
	switch n := v.node.(type) {
	case wholeExpression:
		return []LocatedExpression{{n.Expression, n.offset, true}}
	case mixture:
		var list []LocatedExpression
		for _, p := range n {
			if p.expression != nil {
				list = append(list, LocatedExpression{Expression: p.expression, Offset: p.offset})
			}
		}
		return list
	}
	return nil
}

// Field returns the value of a key of an object, and false if the object does
// not have the key.
func (v Value) Field(key string) (Value, bool) {
	n, _ := v.node.(fields)
	for _, f := range n {
		if f.Key == key {
			return f.Value, true
		}
	}
	return Value{}, false
}

// Item returns an item of a list, and false if the list does not have it.
func (v Value) Item(i int) (Value, bool) {
	n, _ := v.node.(items)
	if i < 0 || i >= len(n) {
		return Value{}, false
	}
	return n[i], true
}
