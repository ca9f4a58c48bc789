package session

import (
	"encoding/json"
	"fmt"

	"github.com/fermata-hq/fermata/internal/strictjson"
)

// Fields holds the parts of a request by their JSON names.
type Fields map[string]json.RawMessage

// ToFields returns the fields of a request.
func ToFields(v any) (Fields, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	return strictjson.Fields(data)
}

// DecodeFields decodes the fields into a request.
func DecodeFields(all Fields, into any) error {
	data, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	return strictjson.Unmarshal(data, into)
}
