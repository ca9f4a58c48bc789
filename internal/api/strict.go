package api

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fermata-hq/fermata"
)

// decodeMark parts the field from the message in the text of a decodeError:
// huma passes on the text alone.
const decodeMark = "\x1f"

// decodeError says which field of a body is not what it should be.
type decodeError struct{ field, message string }

func (e *decodeError) Error() string { return e.field + decodeMark + e.message }

// formats is strict JSON and nothing else; problems are only written.
var formats = map[string]huma.Format{
	"application/json":         {Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal},
	"application/problem+json": {Marshal: huma.DefaultJSONFormat.Marshal},
}

// strict refuses names that no field has. Names given twice, invalid UTF-8 and
// data behind the end are refused by the library.
var strict = json.JoinOptions(
	json.RejectUnknownMembers(true),
	json.WithUnmarshalers(json.UnmarshalFromFunc(unmarshalOption)),
)

// unmarshal decodes a body strictly.
func unmarshal(data []byte, v any) error {
	err := json.Unmarshal(data, v, strict)
	if err == nil {
		return nil
	}
	return explain(err)
}

// unmarshalOption reads an option: a bare string or an object.
func unmarshalOption(dec *jsontext.Decoder, o *fermata.Option) error {
	if dec.PeekKind() == '"' {
		*o = fermata.Option{}
		return json.UnmarshalDecode(dec, &o.Value)
	}
	return json.UnmarshalDecode(dec, (*optionObject)(o), json.RejectUnknownMembers(true))
}

// explain says what is wrong without the value, which may be a secret.
func explain(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return explainSyntax(syntax)
	}
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return &decodeError{"", "is not what is expected here"}
	}
	at := field(semantic.JSONPointer)
	switch {
	case errors.Is(err, json.ErrUnknownName):
		return &decodeError{at, "is no known field; names are exact"}
	case semantic.GoType != nil:
		return &decodeError{at, fmt.Sprintf("is a JSON %s, which does not fit here", semantic.JSONKind)}
	default:
		return &decodeError{at, "does not fit here"}
	}
}

func explainSyntax(err *jsontext.SyntacticError) error {
	at := field(err.JSONPointer)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return &decodeError{at, "stands twice"}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &decodeError{at, "the JSON ends too early"}
	case strings.Contains(err.Err.Error(), "UTF-8"):
		return &decodeError{at, "is not valid UTF-8"}
	default:
		return &decodeError{at, fmt.Sprintf("is not valid JSON at byte %d", err.ByteOffset)}
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
