package terminal

import (
	"bytes"
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// WriteJSON writes a document to standard output.
func (c *Console) WriteJSON(v any) error {
	data, err := EncodeJSON(v, "  ")
	if err != nil {
		return err
	}
	_, err = c.Out.Write(data)
	return err
}

// WriteJSONLine writes a document on one line of standard output.
func (c *Console) WriteJSONLine(v any) error {
	data, err := EncodeJSON(v, "")
	if err != nil {
		return err
	}
	_, err = c.Out.Write(data)
	return err
}

// EncodeJSON returns JSON in which no character is hidden. Characters that a terminal would obey or not show are
// escaped, which means the same in JSON.
func EncodeJSON(v any, indent string) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, fermata.Internal("write JSON", err)
	}
	return notice.EscapeHidden(buf.Bytes()), nil
}
