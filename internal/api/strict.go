package api

import (
	"errors"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fermata-hq/fermata/internal/strictjson"
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

// unmarshal decodes a body strictly.
func unmarshal(data []byte, v any) error {
	err := strictjson.Unmarshal(data, v)
	if fault, ok := errors.AsType[*strictjson.FieldError](err); ok {
		return &decodeError{fault.Field, fault.Message}
	}
	return err
}
