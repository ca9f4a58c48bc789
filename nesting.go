package fermata

import (
	"encoding/json"
	"strings"
)

// MaxNesting is the maximum nesting depth of a JSON document from an asker or a
// worker. JSON readers have a depth limit of their own, 10,000 in Go, which
// includes everything around the document. One document that is too deep would
// make a whole list unreadable.
const MaxNesting = 200

// nestingDepth returns the greatest nesting depth of objects and lists in a JSON document.
func nestingDepth(data []byte) int {
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

// checkJSON checks a document that is stored unchanged, and reports whether it is
// valid. An absent document is valid.
func (ps *problems) checkJSON(field string, raw json.RawMessage) bool {
	switch {
	case len(raw) == 0:
		return true
	case nestingDepth(raw) > MaxNesting:
		ps.add(field, "nests deeper than %d levels", MaxNesting)
		return false
	case !json.Valid(raw):
		ps.add(field, "is not valid JSON")
		return false
	}
	return true
}

// checkAction checks an action that runs after people approve it, and reports
// whether it is valid.
func (ps *problems) checkAction(raw json.RawMessage) bool {
	if !ps.checkJSON("action", raw) {
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

// hasEmptyCommand reports whether an action has a command that is empty.
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
