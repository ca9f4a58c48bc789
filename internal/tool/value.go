package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata"
)

// MaxOutput is the largest output of a call, in bytes.
const MaxOutput = 1 << 20

// DecodeInput decodes an input into a struct. An unknown field or a value of another
// type is a failure that a retry cannot fix.
func DecodeInput(input map[string]any, into any) error {
	data, err := json.Marshal(input)
	if err != nil {
		return Permanent(fermata.Errorf(fermata.CodeInvalidRequest, "the input is no JSON: %w", err))
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return Permanent(fermata.Errorf(fermata.CodeInvalidRequest, "the input is not valid: %s", strings.TrimPrefix(err.Error(), "json: ")))
	}
	return nil
}

// Decode decodes one JSON value into the types of expressions. Whole numbers
// that fit become int, so that no digit of an id is lost. Others become
// float64. A number that both would change is a [LostNumberError].
func Decode(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON value")
	}
	return ConvertNumbers(value)
}

// LostNumberError is the error for a JSON number that no numeric type holds as it is.
type LostNumberError struct{ Literal string }

// Error says which number it is.
func (e *LostNumberError) Error() string { return fermata.LostNumberError("it", e.Literal).Message }

// ConvertNumbers replaces every [json.Number] in a value as [Decode] does. It changes
// lists and maps in place.
func ConvertNumbers(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i := range v {
			if v[i], err = ConvertNumbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			if v[k], err = ConvertNumbers(v[k]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

func number(n json.Number) (any, error) {
	if i, err := strconv.Atoi(n.String()); err == nil {
		return i, nil
	}
	if !fermata.HoldsNumber(n.String()) {
		return nil, &LostNumberError{n.String()}
	}
	return n.Float64()
}
