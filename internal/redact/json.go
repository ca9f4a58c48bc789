package redact

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSON returns the document with the secrets in its texts redacted, and reports
// whether there were any. A document without secrets comes back unchanged, byte
// for byte. JSON looks for secrets in each text alone and in the whole
// document: many values are secrets only beside a key such as password.
func JSON(doc json.RawMessage) (json.RawMessage, bool) {
	if len(doc) == 0 {
		return doc, false
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		clean, changed := Text(string(doc))
		if !changed {
			return doc, false
		}
		out, err := json.Marshal(clean)
		if err != nil {
			return nil, true
		}
		return out, true
	}
	known := map[string]string{}
	for _, f := range find(string(doc)) {
		known[string(doc[f.from:f.to])] = f.String()
	}
	w := walker{known: known}
	v = w.walk(v)
	if !w.changed && len(known) == 0 {
		return doc, false
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, true
	}
	clean := bytes.TrimSpace(out.Bytes())
	for secret := range known {
		if bytes.Contains(clean, []byte(secret)) {
			// The secret spans several texts, or is not in a text, so redact
			// everything.
			return json.RawMessage(`"[redacted]"`), true
		}
	}
	return clean, true
}

// walker redacts every text of a document.
type walker struct {
	known   map[string]string
	changed bool
}

func (w *walker) walk(v any) any {
	switch v := v.(type) {
	case string:
		return w.text(v)
	case []any:
		for i := range v {
			v[i] = w.walk(v[i])
		}
		return v
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, under := range v {
			out[w.text(key)] = w.walk(under)
		}
		return out
	default:
		return v
	}
}

func (w *walker) text(s string) string {
	clean, changed := Text(s)
	for secret, mark := range w.known {
		if strings.Contains(clean, secret) {
			clean, changed = strings.ReplaceAll(clean, secret, mark), true
		}
	}
	w.changed = w.changed || changed
	return clean
}
