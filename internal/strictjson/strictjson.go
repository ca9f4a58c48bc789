// Package strictjson reads the JSON of a request. Every name must be a field of the request, in exactly this
// spelling, and may occur only once. Otherwise a person would believe that a misspelt field was sent. The API reads
// bodies with it and the command line reads files with it, so that both refuse the same.
package strictjson

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fermata-hq/fermata"
)

// FieldError is a problem of a document, and the path of the field. It never contains the value, which may be a
// secret.
type FieldError struct{ Field, Message string }

// Error returns the field and the problem.
func (f *FieldError) Error() string {
	if f.Field == "" {
		return f.Message
	}
	return f.Field + ": " + f.Message
}

// strictOptions refuses names that no field has. The library itself refuses duplicate
// names, invalid UTF-8 and data after the end.
var strictOptions = json.JoinOptions(
	json.RejectUnknownMembers(true),
	json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(unmarshalOption), json.UnmarshalFromFunc(unmarshalContext), json.UnmarshalFromFunc(unmarshalNumber))),
)

// Unmarshal reads a document strictly. The error is a [*FieldError].
func Unmarshal(data []byte, into any) error {
	if err := json.Unmarshal(data, into, strictOptions); err != nil {
		return explain(err)
	}
	return nil
}

// Outline reads a document of any form strictly, for a check of its form. It rounds the numbers, also those that
// [Unmarshal] refuses: a field that keeps its exact bytes, such as an action, may have any number.
func Outline(data []byte) (any, error) {
	var document any
	rounding := json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, v *any) error {
		if dec.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		raw, err := dec.ReadValue()
		if err != nil {
			return err
		}
		f, _ := strconv.ParseFloat(string(raw), 64) // out of range, the largest number will do
		*v = min(max(f, -math.MaxFloat64), math.MaxFloat64)
		return nil
	}))
	if err := json.Unmarshal(data, &document, rounding); err != nil {
		return nil, explain(err)
	}
	return document, nil
}

// Fields returns the fields of an object by their names, without those that are
// null. Clients write null for a field that they leave out.
func Fields(data []byte) (map[string]stdjson.RawMessage, error) {
	var values map[string]jsontext.Value
	if err := json.Unmarshal(data, &values); err != nil {
		return nil, explain(err)
	}
	fields := make(map[string]stdjson.RawMessage, len(values))
	for name, v := range values {
		if v = bytes.TrimSpace(v); string(v) != "null" {
			fields[name] = stdjson.RawMessage(v)
		}
	}
	return fields, nil
}

// UnmarshalEnvelope reads an object of a program that may add fields at any time, so it ignores unknown fields. It refuses
// duplicate names at any depth, and a name that differs from a field only by case, because another reader could take
// one for the other.
func UnmarshalEnvelope(data []byte, into any) error {
	if err := checkExactNames(data, reflect.TypeOf(into).Elem()); err != nil {
		return err
	}
	// Tools may return texts with invalid UTF-8.
	if err := json.Unmarshal(data, into, jsontext.AllowInvalidUTF8(true)); err != nil {
		return explain(err)
	}
	return nil
}

// checkExactNames refuses names in an object that differ from a field of the struct only by case.
func checkExactNames(data []byte, typ reflect.Type) error {
	var values map[string]jsontext.Value
	if err := json.Unmarshal(data, &values, jsontext.AllowInvalidUTF8(true)); err != nil {
		return explain(err)
	}
	for _, f := range reflect.VisibleFields(typ) {
		known, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		for name := range values {
			if name != known && strings.EqualFold(name, known) {
				return &FieldError{known, "stands in another spelling; names are exact"}
			}
		}
		if inner := values[known]; f.Type.Kind() == reflect.Struct && inner.Kind() == '{' {
			if err := checkExactNames(inner, f.Type); err != nil {
				return err
			}
		}
	}
	return nil
}

// option is [fermata.Option] without the method that reads its short form.
type option fermata.Option

// unmarshalOption reads an option, which is a string or an object.
func unmarshalOption(dec *jsontext.Decoder, o *fermata.Option) error {
	if dec.PeekKind() == '"' {
		*o = fermata.Option{}
		return json.UnmarshalDecode(dec, &o.Value)
	}
	return json.UnmarshalDecode(dec, (*option)(o), json.RejectUnknownMembers(true))
}

// questionContext is [fermata.QuestionContext] without the method that reads its short form.
type questionContext fermata.QuestionContext

// unmarshalContext reads a context, which is a string or an object.
func unmarshalContext(dec *jsontext.Decoder, c *fermata.QuestionContext) error {
	*c = fermata.QuestionContext{}
	if dec.PeekKind() == '"' {
		return json.UnmarshalDecode(dec, &c.Text)
	}
	return json.UnmarshalDecode(dec, (*questionContext)(c), json.RejectUnknownMembers(true))
}

// unmarshalNumber reads a number into a value of any type: as a float64, or as an int64 if a float64 would change it. It
// refuses a number that both would change.
func unmarshalNumber(dec *jsontext.Decoder, v *any) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	literal := string(raw)
	if !fermata.HoldsNumber(literal) {
		return &FieldError{"", "is a number that is too large or has too many digits to be kept as it is: write it as a text, in quotes"}
	}
	if fermata.FloatHoldsNumber(literal) {
		*v, err = strconv.ParseFloat(literal, 64)
		return err
	}
	*v, err = strconv.ParseInt(literal, 10, 64)
	return err
}

func explain(err error) *FieldError {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return explainSyntax(syntax)
	}
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return &FieldError{"", "is not what is expected here"}
	}
	at := fieldPath(semantic.JSONPointer)
	if inner, ok := errors.AsType[*FieldError](err); ok {
		// A type with its own UnmarshalJSON reports the problem inside it.
		return &FieldError{strings.Trim(at+"."+inner.Field, "."), inner.Message}
	}
	switch {
	case errors.Is(err, json.ErrUnknownName):
		message := "is no known field; names are exact"
		if meant := meantField(semantic); meant != "" {
			message += ": write " + meant
		}
		return &FieldError{at, message}
	case semantic.GoType != nil:
		return &FieldError{at, fmt.Sprintf("is a JSON %s, which does not fit here", kindName(semantic.JSONKind))}
	default:
		return &FieldError{at, "does not fit here"}
	}
}

// kindName returns the name of a kind of JSON values. The library names an object and a list by their first character.
func kindName(k jsontext.Kind) string {
	if name := map[jsontext.Kind]string{jsontext.KindBeginObject: "object", jsontext.KindBeginArray: "list"}[k]; name != "" {
		return name
	}
	return k.String()
}

// meantField returns the field that differs from an unknown one only in spelling, as question_id and default do from
// questionId and isDefault. It returns "" if there is none.
func meantField(err *json.SemanticError) string {
	if err.GoType == nil || err.GoType.Kind() != reflect.Struct {
		return ""
	}
	var given string
	for token := range err.JSONPointer.Tokens() {
		given = token
	}
	for _, f := range reflect.VisibleFields(err.GoType) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" && normalizeName(name) == normalizeName(given) {
			return name
		}
	}
	return ""
}

// normalizeName returns the letters that all spellings of a name share.
func normalizeName(name string) string {
	return strings.TrimPrefix(strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name)), "is")
}

func explainSyntax(err *jsontext.SyntacticError) *FieldError {
	at := fieldPath(err.JSONPointer)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return &FieldError{at, "stands twice"}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &FieldError{at, "the JSON ends too early"}
	case strings.Contains(err.Err.Error(), "UTF-8"):
		return &FieldError{at, "is not valid UTF-8"}
	default:
		return &FieldError{at, fmt.Sprintf("is not valid JSON at byte %d", err.ByteOffset)}
	}
}

// maxFieldBytes is about how many bytes of a path are written, because a hostile
// body may nest thousands of levels deep.
const maxFieldBytes = 200

// fieldPath returns a JSON pointer in the form that the rules use: items[0].title.
func fieldPath(p jsontext.Pointer) string {
	var sb strings.Builder
	for token := range p.Tokens() {
		if sb.Len() > maxFieldBytes {
			return sb.String() + "…"
		}
		if _, err := strconv.Atoi(token); err == nil && sb.Len() > 0 {
			sb.WriteString("[" + token + "]")
			continue
		}
		if sb.Len() > 0 {
			sb.WriteByte('.')
		}
		sb.WriteString(token)
	}
	return sb.String()
}

// UnmarshalRequest reads a part of a request strictly. The error is a problem of the request, at the field. parentPath
// is the path of the part, or empty for the whole request.
func UnmarshalRequest(data []byte, parentPath string, into any) error {
	err := Unmarshal(data, into)
	fault, ok := errors.AsType[*FieldError](err)
	if !ok {
		return err
	}
	path := strings.Trim(parentPath+"."+fault.Field, ".")
	return fermata.Invalid(fermata.Problem{Field: path, Message: fault.Message})
}

// UnmarshalSettings is [UnmarshalRequest] for the settings of a channel. It refuses a misspelt name: the channel would not read that
// setting, and the server would not keep it secret.
func UnmarshalSettings(data []byte, into any) error { return UnmarshalRequest(data, "settings", into) }
