package notice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
)

// ActionPart is one part of an action, laid out for people to read.
type ActionPart struct {
	// Head is the heading above the part. Fermata wrote it, not the agent.
	Head string
	// Text is the content of the part. Hidden characters are made visible.
	Text string
	// Command reports whether Text is a shell command. Any other part is JSON.
	Command bool
}

// These are the headings of the parts of an action.
const (
	headRuns = "What will run"
	headRest = "with"
)

// commandNames are the fields that hold a command line. argumentNames are the
// fields whose own fields are searched for a command line.
var (
	commandNames  = []string{"command", "cmd"}
	argumentNames = []string{"input", "arguments"}
)

// ActionParts lays out the whole action for people. A command is shown as it
// was typed, and every other field follows, one on a line. Any other action is
// shown as indented JSON.
func ActionParts(action []byte) []ActionPart {
	if command, rest, ok := splitCommand(action); ok {
		parts := []ActionPart{{Head: headRuns, Text: CleanStrictly(command), Command: true}}
		if rest != "" {
			parts = append(parts, ActionPart{Head: headRest, Text: CleanStrictly(rest)})
		}
		return parts
	}
	return []ActionPart{{Head: headRuns, Text: CleanStrictly(indent(action))}}
}

// indent indents JSON. Indentation moves white space between values only, so it
// never changes a value.
func indent(action []byte) string {
	var indented bytes.Buffer
	if json.Indent(&indented, action, "", "  ") == nil {
		return indented.String()
	}
	return string(action)
}

// field is one field of a JSON object. Its name and value keep the spelling of
// the object.
type field struct{ name, value json.RawMessage }

// splitCommand returns the command of an action, and its other fields as lines.
// An action that is a plain JSON string is a command. ok is false if the action
// does not have exactly one command.
func splitCommand(action []byte) (command, rest string, ok bool) {
	if json.Unmarshal(action, &command) == nil && command != "" {
		return command, "", true
	}
	fields, isObject := fieldsOf(action)
	if !isObject {
		return "", "", false
	}
	var lines []string
	found := 0
	for _, f := range fields {
		inner, isObject := fieldsOf(f.value)
		if isObject && slices.Contains(argumentNames, f.decodedName()) {
			for _, in := range inner {
				if in.readCommand(&command) {
					found++
				} else {
					lines = append(lines, fmt.Sprintf("%s: {%s: %s}", f.name, in.name, in.value))
				}
			}
			if len(inner) == 0 {
				lines = append(lines, fmt.Sprintf("%s: {}", f.name))
			}
			continue
		}
		if f.readCommand(&command) {
			found++
		} else {
			lines = append(lines, fmt.Sprintf("%s: %s", f.name, f.value))
		}
	}
	return command, strings.Join(lines, "\n"), found == 1
}

// fieldsOf returns the fields of a JSON object in their order, without white
// space between their tokens.
func fieldsOf(data []byte) ([]field, bool) {
	var compact bytes.Buffer
	if json.Compact(&compact, data) != nil {
		return nil, false
	}
	dec := json.NewDecoder(&compact)
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return nil, false
	}
	var fields []field
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var f field
		if f.name, err = fermata.ExactJSON(name); err != nil || dec.Decode(&f.value) != nil {
			return nil, false
		}
		fields = append(fields, f)
	}
	return fields, true
}

// decodedName returns the name of the field.
func (f field) decodedName() string {
	var s string
	_ = json.Unmarshal(f.name, &s) // the decoder has already accepted it as a string
	return s
}

// readCommand reports whether the field holds a command, and stores the command
// in into. A list of words is joined and quoted as for a shell.
func (f field) readCommand(into *string) bool {
	if !slices.Contains(commandNames, f.decodedName()) {
		return false
	}
	var line string
	if json.Unmarshal(f.value, &line) == nil && line != "" {
		*into = line
		return true
	}
	var words []string
	if json.Unmarshal(f.value, &words) != nil || len(words) == 0 || slices.Contains(words, "") && len(words) == 1 {
		return false
	}
	for i, word := range words {
		words[i] = fermata.QuoteShellWord(word)
	}
	*into = strings.Join(words, " ")
	return true
}

// BoundedActionParts lays out all of the action of q, with hidden characters made visible.
// If the parts have more than maxChars characters together, it returns no parts,
// and tooLong says so. A message without the parts must not offer to decide.
func BoundedActionParts(q *fermata.Question, maxChars int) (parts []ActionPart, tooLong string) {
	parts = ActionParts(q.Action)
	n := 0
	for _, part := range parts {
		n += utf8.RuneCountInString(part.Text)
	}
	if n > maxChars {
		return nil, fmt.Sprintf("too long to show here (%d characters); open the question to see all of it", n)
	}
	return parts, ""
}
