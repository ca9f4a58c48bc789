package fermata

import (
	"bytes"
	"encoding/json"
	"strings"
)

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
			folded := strings.ToLower(name)
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
