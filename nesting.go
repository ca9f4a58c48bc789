package fermata

import (
	"encoding/json"
	"strings"
)

// MaxNesting is how deep a JSON document of an asker or a worker may nest.
// Readers stop at a depth of their own – Go's at 10,000, within whatever stands
// around the document – and a list that holds one too deep is read by none.
const MaxNesting = 200

// nesting returns how deep the objects and lists of a JSON document nest.
func nesting(data []byte) int {
	depth, deepest, inText := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// json checks a document that is stored as it came, and reports whether it is
// fine. An absent one is.
func (ps *problems) json(field string, raw json.RawMessage) bool {
	switch {
	case len(raw) == 0:
		return true
	case nesting(raw) > MaxNesting:
		ps.add(field, "nests deeper than %d levels", MaxNesting)
		return false
	case !json.Valid(raw):
		ps.add(field, "is not valid JSON")
		return false
	}
	return true
}

// action checks what will run when people approve it.
func (ps *problems) action(raw json.RawMessage) bool {
	if !ps.json("action", raw) {
		return false
	}
	if key, found := repeatedKey(raw); found {
		ps.add("action", "has the key %q twice in one object", key)
		return false
	}
	if hasEmptyCommand(raw) {
		ps.add("action", "has an empty command: say what will run")
		return false
	}
	return true
}

// hasEmptyCommand reports whether an action names a command and says none.
func hasEmptyCommand(action []byte) bool {
	var a struct {
		Command json.RawMessage `json:"command"`
	}
	if json.Unmarshal(action, &a) != nil || a.Command == nil {
		return false
	}
	var text string
	if json.Unmarshal(a.Command, &text) == nil {
		return strings.TrimSpace(text) == ""
	}
	var words []string
	return json.Unmarshal(a.Command, &words) == nil && len(words) == 0
}
