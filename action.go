package fermata

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// CanonicalAction returns the bytes of an action as they are stored, hashed,
// shown and sent: JSON without white space between its tokens, with <, > and &
// as they are, in the order in which the asker wrote it. A JSON encoder may
// write these characters as escapes; the canonical bytes, and so the hash, are
// the same.
func CanonicalAction(action []byte) json.RawMessage {
	var compact bytes.Buffer
	if json.Compact(&compact, action) != nil {
		// Not JSON: refused when it is asked; the bytes stand for themselves.
		return slices.Clone(action)
	}
	return unescapeHTML(compact.Bytes())
}

// HashAction returns the hash by which an answer names the action it saw: the
// SHA-256 of its canonical bytes in hex.
func HashAction(action []byte) string { return hashBytes(CanonicalAction(action)) }

// ActionHashes returns every hash by which an action is known: that of its
// canonical bytes first. Earlier versions stored and hashed actions with <, >
// and & escaped; the hash of that form is the second.
func ActionHashes(action []byte) []string {
	canonical := CanonicalAction(action)
	var escaped bytes.Buffer
	json.HTMLEscape(&escaped, canonical)
	return []string{hashBytes(canonical), hashBytes(escaped.Bytes())}
}

// HasHash reports whether the hash is one of the action's.
func HasHash(action []byte, hash string) bool { return slices.Contains(ActionHashes(action), hash) }

func hashBytes(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// htmlEscapes are the escapes that encoders write for the characters of HTML.
var htmlEscapes = map[string]byte{`\u003c`: '<', `\u003e`: '>', `\u0026`: '&'}

// unescapeHTML writes the characters of HTML as they are. It leaves every other
// escape: a backslash that is escaped itself begins none.
func unescapeHTML(data []byte) []byte {
	const length = len(`\u0026`)
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' || i+1 == len(data) {
			out = append(out, data[i])
			continue
		}
		if i+length <= len(data) {
			if c, ok := htmlEscapes[strings.ToLower(string(data[i:i+length]))]; ok {
				out = append(out, c)
				i += length - 1
				continue
			}
		}
		out = append(out, data[i], data[i+1])
		i++
	}
	return out
}

// ExactJSON writes v as JSON in which <, > and & stand as they are: the bytes
// of an action within it do not change.
func ExactJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// foldKey is the one spelling of keys that differ in case alone, also in scripts where a
// letter has more than two forms: s, S and ſ are one, and so are k, K and the sign for kelvin.
func foldKey(key string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, key)
}

// repeatedKey finds a key that stands twice in one object of a JSON document:
// a reader who sees both cannot tell which one a program takes. Keys that
// differ in case alone count, since many programs take either.
func repeatedKey(data []byte) (string, bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	// One entry for every object or list that is open; a list has no keys.
	var open []map[string]bool
	key := false
	for {
		token, err := dec.Token()
		if err != nil {
			return "", false
		}
		inObject := len(open) > 0 && open[len(open)-1] != nil
		if name, isText := token.(string); isText && inObject && key {
			folded := foldKey(name)
			if open[len(open)-1][folded] {
				return name, true
			}
			open[len(open)-1][folded] = true
			key = false
			continue
		}
		switch token {
		case json.Delim('{'):
			open = append(open, map[string]bool{})
		case json.Delim('['):
			open = append(open, nil)
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
		key = len(open) > 0 && open[len(open)-1] != nil
	}
}
