package expression

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/builtin"

	"github.com/fermata-hq/fermata"
)

// arity says how many arguments a function takes, and shows its form.
type arity struct {
	min, max int
	form     string
}

var arities = map[string]arity{
	"len": {1, 1, "len(value)"}, "lower": {1, 1, "lower(text)"}, "upper": {1, 1, "upper(text)"},
	"trim": {1, 1, "trim(text)"}, "split": {2, 2, `split(text, ",")`}, "join": {1, 2, `join(list, ", ")`},
	"replace": {3, 3, "replace(text, old, new)"}, "int": {1, 1, "int(value)"}, "float": {1, 1, "float(value)"},
	"string": {1, 1, "string(value)"}, "toJSON": {1, 1, "toJSON(value)"}, "fromJSON": {1, 1, "fromJSON(text)"},
	"now": {0, 0, "now()"}, "date": {1, 1, `date("2026-11-22")`}, "duration": {1, 1, `duration("36h")`},
	"first": {1, 1, "first(list)"}, "last": {1, 1, "last(list)"}, "keys": {1, 1, "keys(object)"}, "values": {1, 1, "values(object)"},
}

// Functions returns the names of all functions that expressions can call,
// sorted.
func Functions() []string {
	names := []string{"default"}
	for name := range predicates {
		names = append(names, name)
	}
	for name := range arities {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// function is a function of expressions. whole is the source text of its first
// argument, for messages. a are its arguments.
type function func(m *meter, whole string, a []any) (any, error)

// functionTable holds the functions for the compiler. Functions with a $ are inserted
// by the rewriter; expressions call the others.
var functionTable = func() map[string]*builtin.Function {
	t := map[string]*builtin.Function{}
	add := func(name string, result any, f func(m *meter, a []any) (any, error)) {
		t[name] = &builtin.Function{
			Name: name, Types: []reflect.Type{reflect.TypeOf(result)},
			Func: func(a ...any) (any, error) { return f(a[0].(*meter), a[1:]) },
		}
	}
	anything, boolean, list := func(...any) any { return nil }, func(...any) bool { return false }, func(...any) []any { return nil }
	for name, f := range functions {
		add(name, anything, func(m *meter, a []any) (any, error) { return f(m, a[0].(string), a[1:]) })
	}
	add("$get", anything, func(_ *meter, a []any) (any, error) { return member(a[0], a[1], a[2].(string), false) })
	add("$optional", anything, func(_ *meter, a []any) (any, error) { return member(a[0], a[1], a[2].(string), true) })
	add("$present", boolean, func(_ *meter, a []any) (any, error) { return IsPresent(a[0]), nil })
	add("$turn", boolean, func(m *meter, _ []any) (any, error) { return true, m.spendIteration() })
	add("$bool", boolean, func(_ *meter, a []any) (any, error) { return asBool(a[0], a[1].(string)) })
	add("$not", boolean, func(_ *meter, a []any) (any, error) {
		b, err := asBool(a[0], a[1].(string))
		return !b, err
	})
	add("$list", list, func(_ *meter, a []any) (any, error) { return elements(a[0], a[1].(string)) })
	add("$operate", anything, func(m *meter, a []any) (any, error) {
		return m.operate(a[0].(string), a[5].(string), operand{a[1], a[3].(string)}, operand{a[2], a[4].(string)})
	})
	add("$negate", anything, func(_ *meter, a []any) (any, error) {
		return negate(a[0].(string), a[1], a[2].(string), a[3].(string))
	})
	add("$range", list, func(m *meter, a []any) (any, error) {
		return m.rangeOf(operand{a[0], a[2].(string)}, operand{a[1], a[3].(string)})
	})
	add("$whole", anything, func(_ *meter, a []any) (any, error) { return wholeNumber(a[0], a[1].(string)) })
	add("$text", anything, func(_ *meter, a []any) (any, error) {
		if a[0] == nil {
			return nil, nil //nolint:nilnil // null matches nothing
		}
		return asText(a[0], a[1].(string))
	})
	return t
}()

var functions = map[string]function{
	"len":      length,
	"lower":    textFunction(strings.ToLower),
	"upper":    textFunction(strings.ToUpper),
	"trim":     textFunction(strings.TrimSpace),
	"split":    split,
	"join":     join,
	"replace":  replace,
	"int":      toInt,
	"float":    toFloat,
	"string":   func(m *meter, whole string, a []any) (any, error) { return m.text(a[0], whole) },
	"toJSON":   toJSON,
	"fromJSON": fromJSON,
	"now":      now,
	"date":     date,
	"duration": duration,
	"first":    first,
	"last":     lastOf,
	"keys":     keys,
	"values":   values,
}

func errorf(format string, args ...any) *fermata.Error {
	return fermata.Errorf(fermata.CodeInvalidRequest, format, args...)
}

func wrongKind(source string, v any, want string) error {
	switch {
	case v == nil && isNullText(source):
		return errorf("null is no value, and %s is needed", want)
	case v == nil:
		return errorf("%s is null, and %s is needed", source, want).WithHint("give a value for that case: %s ?? …", source)
	}
	return errorf("%s, and %s is needed", operand{v, source}, want)
}

func asBool(v any, source string) (bool, error) {
	b, ok := v.(bool)
	if !ok {
		return false, wrongKind(source, v, "true or false")
	}
	return b, nil
}

func asText(v any, source string) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", wrongKind(source, v, "a text")
	}
	return s, nil
}

// wrongText returns the error for a text that is not what it should say. It names the text of a literal once.
func wrongText(source, s, want string) error {
	if literalKind(source, s) != "" {
		return errorf("%s stands where %s is needed", source, want)
	}
	return errorf("%s is the text %s, and %s is needed", source, quote(s), want)
}

// argument returns an argument that must be a text. name names it in the error.
func argument(v any, name string) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", errorf("%s is %s, and a text is needed", name, describe(v))
	}
	return s, nil
}

func elements(v any, source string) ([]any, error) {
	switch v := v.(type) {
	case []any:
		return v, nil
	case nil:
		return nil, wrongKind(source, v, "a list")
	}
	rv := reflect.ValueOf(v)
	if rv.Kind() != reflect.Slice {
		return nil, wrongKind(source, v, "a list")
	}
	if rv.Len() > maxMemory {
		return nil, errorf("%s has more than %d elements", source, maxMemory)
	}
	list := make([]any, rv.Len())
	for i := range list {
		list[i] = rv.Index(i).Interface()
	}
	return list, nil
}

func object(v any, source string) (map[string]any, error) {
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case map[string]string:
		m := make(map[string]any, len(v))
		for key, value := range v {
			m[key] = value
		}
		return m, nil
	}
	return nil, wrongKind(source, v, "an object")
}

func length(_ *meter, source string, a []any) (any, error) {
	switch v := a[0].(type) {
	case string:
		return int64(len([]rune(v))), nil
	case map[string]any:
		return int64(len(v)), nil
	}
	list, err := elements(a[0], source)
	if err != nil {
		return nil, wrongKind(source, a[0], "a text, a list or an object")
	}
	return int64(len(list)), nil
}

func textFunction(f func(string) string) function {
	return func(m *meter, source string, a []any) (any, error) {
		s, err := asText(a[0], source)
		if err != nil {
			return nil, err
		}
		return f(s), m.spendBytes(len(s))
	}
}

func split(m *meter, source string, a []any) (any, error) {
	s, err := asText(a[0], source)
	if err != nil {
		return nil, err
	}
	by, err := argument(a[1], "the separator")
	if err != nil {
		return nil, err
	}
	if n := strings.Count(s, by); n >= maxMemory {
		return nil, errorf("splitting %s gives more than %d parts", source, maxMemory)
	}
	parts := strings.Split(s, by)
	list := make([]any, len(parts))
	for i, part := range parts {
		list[i] = part
	}
	return list, m.spendBytes(len(s) + 16*len(list))
}

func join(m *meter, source string, a []any) (any, error) {
	list, err := elements(a[0], source)
	if err != nil {
		return nil, err
	}
	by := ""
	if len(a) > 1 {
		if by, err = argument(a[1], "the separator"); err != nil {
			return nil, err
		}
	}
	var b strings.Builder
	for i, v := range list {
		if v == nil {
			return nil, errorf("an element of %s is null, and a text is needed", source).
				WithHint("leave out what is null: filter(%s, # != null)", source)
		}
		s, err := m.text(v, "an element of "+source)
		if err != nil {
			return nil, err
		}
		if err := m.spendBytes(len(s) + len(by)); err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteString(by)
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

func replace(m *meter, source string, a []any) (any, error) {
	s, err := asText(a[0], source)
	if err != nil {
		return nil, err
	}
	from, err := argument(a[1], "what is replaced")
	if err != nil {
		return nil, err
	}
	to, err := argument(a[2], "the replacement")
	if err != nil {
		return nil, err
	}
	if from == "" {
		return nil, errorf("an empty text cannot be replaced")
	}
	if err := m.spendBytes(len(s) + strings.Count(s, from)*len(to)); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(s, from, to), nil
}

func toInt(_ *meter, source string, a []any) (any, error) {
	switch v := number(a[0]).(type) {
	case int64:
		return v, nil
	case float64:
		return truncate(v, source)
	}
	if s, ok := a[0].(string); ok {
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		switch {
		case err == nil:
			return n, nil
		case errors.Is(err, strconv.ErrRange):
			return nil, errorf("%s is too large for a whole number", source)
		}
		return nil, wrongText(source, s, "a whole number")
	}
	return nil, wrongKind(source, a[0], "a number")
}

func toFloat(_ *meter, source string, a []any) (any, error) {
	switch v := number(a[0]).(type) {
	case int64:
		return float64(v), nil
	case float64:
		return v, nil
	}
	if s, ok := a[0].(string); ok {
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		switch {
		case err == nil && !math.IsInf(f, 0) && !math.IsNaN(f):
			return f, nil
		case errors.Is(err, strconv.ErrRange):
			return nil, errorf("%s is too large for a number", source)
		}
		return nil, wrongText(source, s, "a number")
	}
	return nil, wrongKind(source, a[0], "a number")
}

func toJSON(m *meter, source string, a []any) (any, error) {
	v, err := m.plainValue(a[0], 0)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, errorf("%s cannot be written as JSON", source)
	}
	return string(data), m.spendBytes(len(data))
}

func fromJSON(m *meter, source string, a []any) (any, error) {
	s, err := asText(a[0], source)
	if err != nil {
		return nil, err
	}
	if err := m.spendBytes(len(s)); err != nil {
		return nil, err
	}
	if lost := fermata.FindLostNumber([]byte(s)); lost != "" {
		return nil, errorf("%s has the number %s, which is too large or has too many digits to be kept as it is", source, lost)
	}
	v, err := DecodeJSON([]byte(s))
	if err != nil {
		return nil, errorf("%s is no JSON: %v", source, err)
	}
	return v, nil
}

func now(m *meter, _ string, _ []any) (any, error) {
	if m.now.IsZero() {
		m.now = time.Now()
	}
	return m.now.UTC(), nil
}

func date(_ *meter, source string, a []any) (any, error) {
	if t, ok := a[0].(time.Time); ok {
		return t, nil
	}
	s, err := asText(a[0], source)
	if err != nil {
		return nil, err
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	const hint = "write 2026-11-22 or 2026-11-22T09:30:00Z"
	if literalKind(source, s) != "" {
		return nil, errorf("%s is no date", source).WithHint(hint)
	}
	return nil, errorf("%s is %s, which is no date", source, quote(s)).WithHint(hint)
}

func duration(_ *meter, source string, a []any) (any, error) {
	if d, ok := a[0].(time.Duration); ok {
		return d, nil
	}
	s, err := asText(a[0], source)
	if err != nil {
		return nil, err
	}
	return fermata.Timeout(s).Duration()
}

func first(_ *meter, source string, a []any) (any, error) {
	list, err := elements(a[0], source)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

func lastOf(_ *meter, source string, a []any) (any, error) {
	list, err := elements(a[0], source)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[len(list)-1], nil
}

func keys(_ *meter, source string, a []any) (any, error) {
	m, err := object(a[0], source)
	if err != nil {
		return nil, err
	}
	list := make([]any, 0, len(m))
	for _, key := range sortedKeys(m) {
		list = append(list, key)
	}
	return list, nil
}

func values(_ *meter, source string, a []any) (any, error) {
	m, err := object(a[0], source)
	if err != nil {
		return nil, err
	}
	list := make([]any, 0, len(m))
	for _, key := range sortedKeys(m) {
		list = append(list, m[key])
	}
	return list, nil
}

func sortedKeys(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.SortFunc(names, cmp.Compare[string])
	return names
}
