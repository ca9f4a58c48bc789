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

// CanonicalAction returns the bytes of an action as Fermata stores, hashes,
// shows and sends them. The bytes are JSON without white space between the
// tokens, with <, > and & unescaped, and with the keys in the asker's order. A
// JSON encoder may write these characters as escapes; the canonical bytes, and
// so the hash, stay the same.
func CanonicalAction(action []byte) json.RawMessage {
	var compact bytes.Buffer
	if json.Compact(&compact, action) != nil {
		// The bytes are not JSON, so they are returned unchanged. [Ask.Open]
		// refuses such an action.
		return slices.Clone(action)
	}
	return unescapeHTML(compact.Bytes())
}

// HashAction returns the hash by which an answer names the action that its
// author saw: the SHA-256 of the canonical bytes, in hex.
func HashAction(action []byte) string { return hashBytes(CanonicalAction(action)) }

// ActionHashes returns every valid hash of an action. The first is the hash of
// its canonical bytes. The second is the hash of the form with <, > and &
// escaped, which earlier versions stored.
func ActionHashes(action []byte) []string {
	canonical := CanonicalAction(action)
	var escaped bytes.Buffer
	json.HTMLEscape(&escaped, canonical)
	return []string{hashBytes(canonical), hashBytes(escaped.Bytes())}
}

// HasHash reports whether hash is one of the hashes of the action.
func HasHash(action []byte, hash string) bool { return slices.Contains(ActionHashes(action), hash) }

func hashBytes(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// htmlEscapes maps the escapes that JSON encoders write for <, > and & to these characters.
var htmlEscapes = map[string]byte{`\u003c`: '<', `\u003e`: '>', `\u0026`: '&'}

// unescapeHTML replaces the escapes of <, > and & by these characters. It
// leaves every other escape alone. The second backslash of an escaped backslash
// begins no escape.
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

// ExactJSON returns v as JSON without escaping <, > and &, so that the bytes of
// an action inside v do not change.
func ExactJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// foldKey returns one spelling for all keys that differ only in case. It also covers letters with more than two
// forms: s, S and ſ become one letter, and so do k, K and the kelvin sign.
func foldKey(key string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, key)
}

// repeatedKey returns a key that appears twice in one object of a JSON
// document. A person who sees both cannot know which one a program uses. Keys
// that differ only in case count as repeated, since many programs ignore the
// case.
func repeatedKey(data []byte) (string, bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	// The stack has one entry for each open object or list. The entry of a list
	// is nil, because a list has no keys.
	var open []map[string]bool
	expectsKey := false
	for {
		token, err := dec.Token()
		if err != nil {
			return "", false
		}
		inObject := len(open) > 0 && open[len(open)-1] != nil
		if name, isText := token.(string); isText && inObject && expectsKey {
			folded := foldKey(name)
			if open[len(open)-1][folded] {
				return name, true
			}
			open[len(open)-1][folded] = true
			expectsKey = false
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
		expectsKey = len(open) > 0 && open[len(open)-1] != nil
	}
}
