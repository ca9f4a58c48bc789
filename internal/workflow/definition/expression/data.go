package expression

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// maxDepth limits how deep values may nest.
const maxDepth = 100

// DecodeJSON decodes one JSON value. Whole numbers that fit become int64, all
// other numbers float64. It refuses a number beyond the range of float64.
func DecodeJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errorf("there is more after the value")
	}
	return convertNumbers(v)
}

// convertNumbers converts the numbers that the decoder left as text.
func convertNumbers(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		f, err := v.Float64()
		if err != nil {
			return nil, errorf("the number %s is too large", v)
		}
		return f, nil
	case []any:
		for i := range v {
			if v[i], err = convertNumbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range v {
			if v[key], err = convertNumbers(v[key]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// IsPresent reports whether v counts as present for || and &&. null, false, "",
// and an empty list or object do not.
func IsPresent(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	if rv := reflect.ValueOf(v); rv.Kind() == reflect.Slice || rv.Kind() == reflect.Map {
		return rv.Len() > 0
	}
	return true
}

// member returns a part of a value by its key or index. source is the source
// text of the access. If optional is true, a missing part is null.
func member(from, key any, source string, optional bool) (any, error) {
	base := strings.TrimSuffix(source, "."+fmt.Sprint(key))
	if base == source {
		base = "what is before it"
	}
	if from == nil {
		if optional {
			return nil, nil //nolint:nilnil // null is a value
		}
		return nil, errorf("%s: %s is null", source, base).WithHint("give a value for that case: %s ?? …", source)
	}
	switch k := number(key).(type) {
	case string:
		return field(from, k, source, optional)
	case int64:
		return element(from, k, source, optional)
	}
	return nil, errorf("%s: %s names no part of a value", source, describe(key))
}

func field(from any, key, source string, optional bool) (any, error) {
	if ask, ok := from.(func(string) (string, error)); ok { // secrets are read through a function
		v, err := ask(key)
		if err != nil {
			return nil, err
		}
		return v, nil
	}
	m, err := object(from, source)
	if err != nil {
		return nil, errorf("%s: there is %s, which has no %s", source, describe(from), quote(key))
	}
	v, ok := m[key]
	if !ok && !optional {
		e := errorf("%s: there is no %s", source, quote(key))
		if near := Nearest(key, sortedKeys(m)); near != "" {
			return nil, e.WithHint("did you mean %s?", near)
		}
		return nil, e.WithHint("give a value for that case: %s ?? …", source)
	}
	return v, nil
}

func element(from any, i int64, source string, optional bool) (any, error) {
	list, err := elements(from, source)
	if err != nil {
		return nil, errorf("%s: there is %s, which has no elements", source, describe(from))
	}
	at := i
	if at < 0 {
		at += int64(len(list))
	}
	if at < 0 || at >= int64(len(list)) {
		if optional {
			return nil, nil //nolint:nilnil // null is a value
		}
		return nil, errorf("%s: the list has %d elements", source, len(list))
	}
	return list[at], nil
}

// plainValue copies a value into the types of JSON.
func (m *meter) plainValue(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errorf("the value is nested more than %d deep", maxDepth)
	}
	switch v := number(v).(type) {
	case nil, bool, int64, string:
		return v, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errorf("the result is no number").WithHint("is something divided by 0?")
		}
		return v, nil
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano), nil
	case time.Duration:
		return v.String(), nil
	case []any:
		return m.plainList(v, depth)
	case map[string]any:
		return m.plainObject(v, depth)
	case map[string]string:
		o, _ := object(v, "")
		return m.plainObject(o, depth)
	case func(string) (string, error):
		return nil, errorf("a secret is used by its name").WithHint("write secrets.NAME")
	default:
		return convertForeign(v)
	}
}

func (m *meter) plainList(v []any, depth int) (any, error) {
	list := make([]any, len(v))
	for i := range v {
		var err error
		if list[i], err = m.plainValue(v[i], depth+1); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (m *meter) plainObject(v map[string]any, depth int) (any, error) {
	o := make(map[string]any, len(v))
	for key := range v {
		var err error
		if o[key], err = m.plainValue(v[key], depth+1); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// convertForeign converts a value of another type through JSON.
func convertForeign(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, errorf("%T is no value", v)
	}
	return DecodeJSON(data)
}

// text returns v as it appears in a text. It returns an error for null.
func (m *meter) text(v any, source string) (string, error) {
	v, err := m.plainValue(v, 0)
	if err != nil {
		return "", err
	}
	if v == nil {
		return "", wrongKind(source, nil, "a text")
	}
	if s, ok := ScalarText(v); ok {
		return s, nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return "", errorf("%s cannot be written as text", source)
	}
	return string(data), nil
}

// ScalarText returns a text, a boolean or a number as it appears in a text. It reports false for any other value.
func ScalarText(v any) (text string, ok bool) {
	switch v := number(v).(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		if math.Abs(v) < 1e15 {
			return strconv.FormatFloat(v, 'f', -1, 64), true
		}
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}

// describe returns the text by which a message names a value: its kind, and the
// beginning of the value.
func describe(v any) string {
	switch v := number(v).(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return "the number " + strconv.FormatInt(v, 10)
	case float64:
		return "the number " + strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return "the text " + quote(v)
	case time.Time:
		return "a time"
	case time.Duration:
		return "a duration"
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	case map[string]any, map[string]string:
		return "an object"
	}
	return "something else"
}

// literalKind returns the kind of a value whose source text is its literal, such as 5 or "a", and else "".
func literalKind(source string, v any) string {
	text, isScalar := ScalarText(v)
	if _, isText := v.(string); isText && source == shortenSource(strconv.Quote(text)) {
		return "a text"
	} else if isText || !isScalar {
		return ""
	}
	switch v := number(v).(type) {
	case int64:
		if source == text {
			return "a number"
		}
	case float64:
		if read, err := strconv.ParseFloat(source, 64); err == nil && read == v {
			return "a number"
		}
	}
	return ""
}

// isNullText reports whether a source text is null itself.
func isNullText(source string) bool { return source == "null" || source == "nil" }

func quote(s string) string {
	if r := []rune(s); len(r) > 40 {
		s = string(r[:39]) + "…"
	}
	return strconv.Quote(s)
}
