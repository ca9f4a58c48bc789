package expression

import (
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/expr-lang/expr/vm/runtime"
)

// operand is a value with its source text.
type operand struct {
	value any
	text  string
}

// operate applies a binary operator. whole is the source text of the operation. The errors name the operand that is wrong.
func (m *meter) operate(op, whole string, a, b operand) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			result, err = nil, operandError(op, a, b)
		}
	}()
	switch op {
	case "contains":
		return contains(a, b)
	case "startsWith", "endsWith":
		return hasAffix(op, a, b)
	}
	if a.value == nil || b.value == nil {
		return nil, operandError(op, a, b)
	}
	x, y := number(a.value), number(b.value)
	switch op {
	case "<":
		return runtime.Less(x, y), nil
	case "<=":
		return runtime.LessOrEqual(x, y), nil
	case ">":
		return runtime.More(x, y), nil
	case ">=":
		return runtime.MoreOrEqual(x, y), nil
	case "+":
		if s, ok := x.(string); ok {
			if t, ok := y.(string); ok {
				return s + t, m.spendBytes(len(s) + len(t))
			}
		}
	}
	return calculate(op, whole, operand{x, a.text}, operand{y, b.text})
}

func operandError(op string, a, b operand) error {
	for _, o := range []operand{a, b} {
		switch {
		case o.value == nil && isNullText(o.text):
			return errorf("null has no place beside %s", op)
		case o.value == nil:
			return errorf("%s is null, and %s needs a value", o.text, op).
				WithHint("give a value for that case: (%s ?? …) %s …", o.text, op)
		}
	}
	e := errorf("%s and %s: they cannot be used with %s", a, b, op)
	if isText(a.value) != isText(b.value) {
		e = e.WithHint("turn the text into a number with float(…), or the number into a text with string(…)")
	}
	return e
}

// String says what the operand is. It names the value of a literal once.
func (o operand) String() string {
	if kind := literalKind(o.text, o.value); kind != "" {
		return o.text + " is " + kind
	}
	return o.text + " is " + describe(o.value)
}

func isText(v any) bool { _, ok := v.(string); return ok }

func contains(a, b operand) (any, error) {
	if s, ok := a.value.(string); ok {
		part, err := asText(b.value, b.text)
		return strings.Contains(s, part), err
	}
	if list, err := elements(a.value, a.text); err == nil {
		return runtime.In(b.value, list), nil
	}
	if object, err := object(a.value, a.text); err == nil {
		return runtime.In(b.value, object), nil
	}
	return nil, wrongKind(a.text, a.value, "a text, a list or an object")
}

func hasAffix(op string, a, b operand) (any, error) {
	s, err := asText(a.value, a.text)
	if err != nil {
		return nil, err
	}
	part, err := asText(b.value, b.text)
	if err != nil {
		return nil, err
	}
	if op == "startsWith" {
		return strings.HasPrefix(s, part), nil
	}
	return strings.HasSuffix(s, part), nil
}

// number converts every numeric type to int64 or float64. It returns other
// values unchanged.
func number(v any) any {
	switch v := v.(type) {
	case int64, float64, string, bool, nil, []any, map[string]any, time.Time, time.Duration:
		return v
	case int:
		return int64(v)
	}
	rv := reflect.ValueOf(v)
	switch {
	case rv.CanInt():
		return rv.Int()
	case rv.CanUint() && rv.Uint() <= math.MaxInt64:
		return int64(rv.Uint())
	case rv.CanFloat():
		return rv.Float()
	}
	return v
}
