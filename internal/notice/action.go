package notice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
)

// ActionPart is a part of an action as people read it.
type ActionPart struct {
	// Head is a word of Fermata's own above the part.
	Head string
	// Text is the part, with nothing hidden in it.
	Text string
	// Command reports whether the text is a command as a shell reads it; any
	// other part is JSON.
	Command bool
}

// Heads of the parts of an action.
const (
	headRuns = "What will run"
	headRest = "with"
)

// commandNames are the fields that hold a command line, argumentNames those
// whose fields are looked through for one.
var (
	commandNames  = []string{"command", "cmd"}
	argumentNames = []string{"input", "arguments"}
)

// ActionParts lays an action out for people, all of it: a command as it was
// typed and below it every other field, one a line; any other action as
// indented JSON.
func ActionParts(action []byte) []ActionPart {
	if command, rest, ok := splitCommand(action); ok {
		parts := []ActionPart{{Head: headRuns, Text: Exact(command), Command: true}}
		if rest != "" {
			parts = append(parts, ActionPart{Head: headRest, Text: Exact(rest)})
		}
		return parts
	}
	return []ActionPart{{Head: headRuns, Text: Exact(indent(action))}}
}

// indent lays JSON out. Indenting moves space between values only, never what
// is in them.
func indent(action []byte) string {
	var indented bytes.Buffer
	if json.Indent(&indented, action, "", "  ") == nil {
		return indented.String()
	}
	return string(action)
}

// field is a field of a JSON object, its name and value as they are written.
type field struct{ name, value json.RawMessage }

// splitCommand returns the command of an action, and the other fields as
// lines. An action that is a text is a command. It returns false for an action without exactly one command.
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
		if isObject && slices.Contains(argumentNames, f.text()) {
			for _, in := range inner {
				if in.isCommand(&command) {
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
		if f.isCommand(&command) {
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

// text is the name of the field.
func (f field) text() string {
	var s string
	_ = json.Unmarshal(f.name, &s) // it was written from a text
	return s
}

// isCommand reports whether the field holds a command, and puts it into the
// variable. A list of words stands as a shell would be given it.
func (f field) isCommand(into *string) bool {
	if !slices.Contains(commandNames, f.text()) {
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
		words[i] = QuoteWord(word)
	}
	*into = strings.Join(words, " ")
	return true
}

// plainWord is a word that a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// QuoteWord writes a word so that a shell takes it as one.
func QuoteWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Action lays what will run out, all of it, with nothing hidden. Where it has
// more than so many characters there are no parts, and it says so instead: the
// message may then not offer to decide.
func Action(q *fermata.Question, most int) (parts []ActionPart, tooLong string) {
	parts = ActionParts(q.Action)
	n := 0
	for _, part := range parts {
		n += utf8.RuneCountInString(part.Text)
	}
	if n > most {
		return nil, fmt.Sprintf("too long to show here (%d characters); open the question to see all of it", n)
	}
	return parts, ""
}
