// Package strictjson reads the JSON of a request. Every name must be one that the
// request has, in exactly this spelling, and may stand once: a misspelt field that
// is passed over is one that a person believes to have sent. The API reads bodies
// with it and the command line reads files with it, so that both refuse the same.
package strictjson

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fermata-hq/fermata"
)

// FieldError says what is wrong with a document, and at which field. It never holds the
// value, which may be a secret.
type FieldError struct{ Field, Message string }

// Error returns the field and what is wrong with it.
func (f *FieldError) Error() string {
	if f.Field == "" {
		return f.Message
	}
	return f.Field + ": " + f.Message
}

// strict refuses names that no field has. The library refuses names given twice,
// invalid UTF-8 and data behind the end.
var strict = json.JoinOptions(
	json.RejectUnknownMembers(true),
	json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(unmarshalOption), json.UnmarshalFromFunc(unmarshalContext))),
)

// Unmarshal reads a document strictly. The error is a [*FieldError].
func Unmarshal(data []byte, into any) error {
	if err := json.Unmarshal(data, into, strict); err != nil {
		return explain(err)
	}
	return nil
}

// Fields returns the fields of an object by their names, without those that are
// null: null is how clients write a field that they leave out.
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

// Envelope reads an object of a program that may add fields at any time: unknown ones are passed over. A name that stands twice anywhere, and
// one that differs from a field of the object only by case, are refused, because another reader could take the one for the other.
func Envelope(data []byte, into any) error {
	if err := exactNames(data, reflect.TypeOf(into).Elem()); err != nil {
		return err
	}
	// Tools may return texts that are not valid UTF-8.
	if err := json.Unmarshal(data, into, jsontext.AllowInvalidUTF8(true)); err != nil {
		return explain(err)
	}
	return nil
}

// exactNames refuses names of an object that differ from those of the fields of a struct only by case.
func exactNames(data []byte, of reflect.Type) error {
	var values map[string]jsontext.Value
	if err := json.Unmarshal(data, &values, jsontext.AllowInvalidUTF8(true)); err != nil {
		return explain(err)
	}
	for _, f := range reflect.VisibleFields(of) {
		known, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		for name := range values {
			if name != known && strings.EqualFold(name, known) {
				return &FieldError{known, "stands in another spelling; names are exact"}
			}
		}
		if inner := values[known]; f.Type.Kind() == reflect.Struct && inner.Kind() == '{' {
			if err := exactNames(inner, f.Type); err != nil {
				return err
			}
		}
	}
	return nil
}

// option is an option without the method that reads its bare form.
type option fermata.Option

// unmarshalOption reads an option: a bare string or an object.
func unmarshalOption(dec *jsontext.Decoder, o *fermata.Option) error {
	if dec.PeekKind() == '"' {
		*o = fermata.Option{}
		return json.UnmarshalDecode(dec, &o.Value)
	}
	return json.UnmarshalDecode(dec, (*option)(o), json.RejectUnknownMembers(true))
}

// questionContext is a context without the method that reads its bare form.
type questionContext fermata.QuestionContext

// unmarshalContext reads a context: a bare string or an object.
func unmarshalContext(dec *jsontext.Decoder, c *fermata.QuestionContext) error {
	*c = fermata.QuestionContext{}
	if dec.PeekKind() == '"' {
		return json.UnmarshalDecode(dec, &c.Text)
	}
	return json.UnmarshalDecode(dec, (*questionContext)(c), json.RejectUnknownMembers(true))
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
	at := field(semantic.JSONPointer)
	if inner, ok := errors.AsType[*FieldError](err); ok {
		// A type that reads itself says what is wrong within it.
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
		return &FieldError{at, fmt.Sprintf("is a JSON %s, which does not fit here", semantic.JSONKind)}
	default:
		return &FieldError{at, "does not fit here"}
	}
}

// meantField returns the field that differs from an unknown one in its spelling alone, as questionId and isDefault do from
// question_id and default; "" where there is none.
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
		if name != "" && name != "-" && letters(name) == letters(given) {
			return name
		}
	}
	return ""
}

// letters returns what two spellings of a name have in common.
func letters(name string) string {
	return strings.TrimPrefix(strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name)), "is")
}

func explainSyntax(err *jsontext.SyntacticError) *FieldError {
	at := field(err.JSONPointer)
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

// longestField is about how much of a path is written: a hostile body nests
// thousands of levels deep.
const longestField = 200

// field writes a JSON pointer as the paths of the rules: items[0].title.
func field(p jsontext.Pointer) string {
	var sb strings.Builder
	for token := range p.Tokens() {
		if sb.Len() > longestField {
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

// Request reads a part of a request strictly. What is wrong with a field is a problem
// of the request; under is the path of the part, empty for the whole.
func Request(data []byte, under string, into any) error {
	err := Unmarshal(data, into)
	fault, ok := errors.AsType[*FieldError](err)
	if !ok {
		return err
	}
	path := strings.Trim(under+"."+fault.Field, ".")
	return fermata.Invalid(fermata.Problem{Field: path, Message: fault.Message})
}

// Settings is [Request] for the settings of a channel. A name in another spelling is no
// setting: the channel would not read it, and nobody would keep it secret.
func Settings(data []byte, into any) error { return Request(data, "settings", into) }
