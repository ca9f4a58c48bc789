package api

import (
	"errors"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fermata-hq/fermata/internal/strictjson"
)

// decodeMark separates the field from the message in the text of a decodeError,
// because huma passes on only the text.
const decodeMark = "\x1f"

// decodeError says which field of a body is wrong.
type decodeError struct{ field, message string }

func (e *decodeError) Error() string { return e.field + decodeMark + e.message }

// formats accepts only strict JSON. Problems are only written, never read.
var formats = map[string]huma.Format{
	"application/json":         {Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal},
	"application/problem+json": {Marshal: huma.DefaultJSONFormat.Marshal},
}

// unmarshal decodes a body strictly. huma decodes it twice: first without a type, to check its form.
func unmarshal(data []byte, v any) (err error) {
	if document, ok := v.(*any); ok {
		*document, err = strictjson.Outline(data)
	} else {
		err = strictjson.Unmarshal(data, v)
	}
	if fault, ok := errors.AsType[*strictjson.FieldError](err); ok {
		return &decodeError{fault.Field, fault.Message}
	}
	return err
}
