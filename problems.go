package fermata

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// problems collects the problems of a request.
type problems []Problem

func (ps *problems) add(field, format string, args ...any) {
	*ps = append(*ps, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

// addError adds an error of the field, with its hint.
func (ps *problems) addError(field string, err error) {
	message := err.Error()
	if e, ok := errors.AsType[*Error](err); ok && e.Hint != "" {
		message += ": " + e.Hint
	}
	ps.add(field, "%s", message)
}

// addWithin adds the problems of a part of the request.
func (ps *problems) addWithin(field string, part problems) {
	for _, p := range part {
		*ps = append(*ps, Problem{Field: field + "." + p.Field, Message: p.Message})
	}
}

// checkText checks the encoding of a text and its length in characters. Every stored
// text must pass this check. PostgreSQL does not accept NUL, and a query that
// looks into JSON with a NUL fails for the whole list.
func (ps *problems) checkText(field, s string, minLength, maxLength int) {
	switch n := utf8.RuneCountInString(s); {
	case !utf8.ValidString(s):
		ps.add(field, "is not valid UTF-8")
	case strings.ContainsRune(s, 0):
		ps.add(field, "contains a NUL character")
	case minLength > 0 && strings.TrimSpace(s) == "":
		ps.add(field, "must not be empty")
	case n < minLength:
		ps.add(field, "has %d characters, needs at least %d", n, minLength)
	case n > maxLength:
		ps.add(field, "has %d characters, may have at most %d", n, maxLength)
	}
}

// checkName checks a short name that appears in filters and addresses.
func (ps *problems) checkName(field, s string) {
	for _, r := range s {
		ok := r == '-' || r == '_' || r == '.' || r == '/' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !ok {
			ps.add(field, "may have letters, digits and - _ . / only")
			return
		}
	}
	if len(s) > 64 {
		ps.add(field, "has %d characters, may have at most 64", len(s))
	}
}

func (ps *problems) checkNames(field string, names []string) {
	for i, name := range names {
		ps.checkName(fmt.Sprintf("%s[%d]", field, i), name)
	}
}

func (ps *problems) checkLabels(labels []string) {
	if len(labels) > MaxLabels {
		ps.add("labels", "has %d labels, may have at most %d", len(labels), MaxLabels)
	}
	for i, label := range labels {
		ps.checkText(fmt.Sprintf("labels[%d]", i), label, 1, 64)
	}
}

func (ps *problems) checkOneOf(field, s string, allowed []string) {
	if s == "" {
		return
	}
	for _, a := range allowed {
		if s == a {
			return
		}
	}
	ps.add(field, "is %q, must be one of %s", s, strings.Join(allowed, ", "))
}

func (ps *problems) checkRange(field string, n, minimum, maximum int) {
	if n < minimum || n > maximum {
		ps.add(field, "is %d, must be between %d and %d", n, minimum, maximum)
	}
}

func (ps *problems) checkMetadata(m map[string]string) {
	if len(m) > MaxMetadata {
		ps.add("metadata", "has %d entries, may have at most %d", len(m), MaxMetadata)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		ps.checkText("metadata", key, 1, 100)
		ps.checkText("metadata."+key, m[key], 0, 4000)
	}
}

func (ps *problems) checkAssignees(field string, names []string) {
	if len(names) > MaxAssignees {
		ps.add(field, "has %d names, may have at most %d", len(names), MaxAssignees)
	}
	for i, name := range names {
		ps.checkText(fmt.Sprintf("%s[%d]", field, i), name, 1, 100)
	}
}
