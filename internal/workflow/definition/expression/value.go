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
	literal struct{ value any }
	whole   struct {
		*Expression
		offset int
	}
	fields []Field
	items  []Value
)

// Field is a value with the key that it stands under.
type Field struct {
	Key   string
	Value Value
}

// Literal returns a value without templates: null, a boolean, a number or a
// text that is taken as it is.
func Literal(v any) Value { return Value{literal{v}} }

// Text reads a text with templates. One that is exactly one {{ }} keeps its
// type, a mixed one is text.
func Text(text string) (Value, []Fault) {
	n, faults := parseText(text)
	if faults != nil {
		return Value{}, faults
	}
	return Value{n.(node)}, nil
}

// ObjectOf returns the object of these fields.
func ObjectOf(f []Field) Value { return Value{fields(f)} }

// ListOf returns the list of these values.
func ListOf(v []Value) Value { return Value{items(v)} }

// Render returns the value with its templates filled in. What they yield is
// data: it is not looked through for templates again. Null within a longer text
// is an error.
func (v Value) Render(env Env) (any, error) { return v.render(env, newMeter(env)) }

// RenderEach returns the fields of an object that can be filled in, each for itself.
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

func (w whole) render(env Env, m *meter) (any, error) { return w.run(env, m) }

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

// locateError says where in a value an error arose.
func locateError(key string, err error) error {
	e, ok := errors.AsType[*fermata.Error](err)
	if !ok {
		return fmt.Errorf("%s: %w", key, err)
	}
	more := *e
	separator := ": "
	if strings.HasPrefix(e.Message, "[") {
		separator = ""
	}
	more.Message = key + separator + e.Message
	return &more
}

// Literal returns the value when no template is in it.
func (v Value) Literal() (any, bool) {
	if !v.IsLiteral() {
		return nil, false
	}
	out, err := v.render(nil, newMeter(nil))
	return out, err == nil
}

// IsLiteral says that no template is in the value.
func (v Value) IsLiteral() bool { return len(v.Expressions()) == 0 }

// Expressions returns the expressions of all templates in the value.
func (v Value) Expressions() []*Expression {
	switch n := v.node.(type) {
	case whole:
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

// Located is an expression with its place in the text that holds it.
type Located struct {
	*Expression
	// Offset counts characters from 0.
	Offset int
	// Whole says that the text is nothing but this template.
	Whole bool
}

// Located returns the templates of one text.
func (v Value) Located() []Located {
	switch n := v.node.(type) {
	case whole:
		return []Located{{n.Expression, n.offset, true}}
	case mixture:
		var list []Located
		for _, p := range n {
			if p.expression != nil {
				list = append(list, Located{Expression: p.expression, Offset: p.offset})
			}
		}
		return list
	}
	return nil
}

// Field returns the value under a key of an object, and false where there is
// none.
func (v Value) Field(key string) (Value, bool) {
	n, _ := v.node.(fields)
	for _, f := range n {
		if f.Key == key {
			return f.Value, true
		}
	}
	return Value{}, false
}
