package definition

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// schemaChecker reports where a tree does not fit a schema.
type schemaChecker struct {
	*report
	root *tree
	path []string // path of root in the file
	doc  any      // the schema itself, unless it is one of this package
	// isUnknown reports whether a value is known only when the workflow runs. Such a
	// value is not checked.
	isUnknown func(t *tree) bool
	// kindOf returns the kind of such a value as far as it is known, or [expression.Unknown]. It may be nil.
	kindOf func(t *tree) expression.Kind
}

// check checks a tree against a schema and reports every fault.
func (f *schemaChecker) check(s *jsonschema.Schema, value any) {
	err := s.Validate(value)
	wrong, ok := err.(*jsonschema.ValidationError) //nolint:errorlint // Validate returns nothing else
	if !ok {
		return
	}
	for _, leaf := range f.leaves(wrong) {
		if f.isFull() {
			return
		}
		f.reportLeaf(leaf)
	}
}

// leaves returns the faults that have no deeper cause. For a choice of several
// forms it returns the faults of the form that fits best. It returns none if
// one form may fit when the workflow runs.
func (f *schemaChecker) leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	t, unreadable := f.root.nodeAt(e.InstanceLocation)
	if unreadable || f.isUnknown != nil && f.isUnknown(t) && f.knownKind(t) == expression.Unknown {
		return nil
	}
	if len(e.Causes) == 0 {
		if f.knownKind(t) != expression.Unknown && !isTypeError(e) {
			return nil // only the type of the value is known
		}
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		for _, cause := range e.Causes {
			found := f.leaves(cause)
			if len(found) == 0 {
				return nil
			}
			if all == nil || isDeeper(found, all) {
				all = found
			}
		}
		if len(all) == 1 && isTypeError(all[0]) && len(all[0].InstanceLocation) == len(e.InstanceLocation) {
			return []*jsonschema.ValidationError{e}
		}
		if _, ok := all[0].ErrorKind.(*kind.Required); ok && len(e.Causes) > 1 && len(all[0].InstanceLocation) == len(e.InstanceLocation) && allRequired(e) {
			return []*jsonschema.ValidationError{e}
		}
		return all
	}
	for _, cause := range e.Causes {
		all = append(all, f.leaves(cause)...)
	}
	return all
}

func allRequired(e *jsonschema.ValidationError) bool {
	return !slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool {
		_, ok := c.ErrorKind.(*kind.Required)
		return !ok
	})
}

// isDeeper reports whether the faults a are deeper in the value than b, or fewer. In that case the author probably
// meant the form with the faults a.
func isDeeper(a, b []*jsonschema.ValidationError) bool {
	da, db := len(a[0].InstanceLocation), len(b[0].InstanceLocation)
	if ta, tb := isTypeError(a[0]), isTypeError(b[0]); da == db && ta != tb {
		return tb
	}
	return da > db || da == db && len(a) < len(b)
}

func isTypeError(e *jsonschema.ValidationError) bool {
	_, ok := e.ErrorKind.(*kind.Type)
	return ok
}

func (f *schemaChecker) reportLeaf(e *jsonschema.ValidationError) {
	t, _ := f.root.nodeAt(e.InstanceLocation)
	path := PathOf(slices.Concat(f.path, e.InstanceLocation))
	if k := f.knownKind(t); k != expression.Unknown {
		f.reportKind(t, path, k, e)
		return
	}
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range k.Properties[:min(len(k.Properties), maxProblems+1)] {
			f.reportUnknown(t, path, name, e.SchemaURL)
		}
	case *kind.Required:
		for _, name := range k.Missing {
			f.addAt(t, path, "add "+name, "%s is missing", name)
		}
	case *kind.DependentRequired:
		f.addAt(t.key(k.Prop), path, "add it, or remove "+k.Prop, "%s needs %s beside it", k.Prop, strings.Join(k.Missing, ", "))
	case *kind.PropertyNames:
		f.addAt(t.key(k.Property), path, nameHint, "%q is no name", k.Property)
	case *kind.AnyOf, *kind.OneOf:
		f.reportChoice(t, path, e)
	default:
		message, hint := explain(t, e)
		f.addAt(t, path, hint, "%s", message)
	}
}

const nameHint = "letters, digits and _, beginning with a letter"

// reportUnknown reports a key that the schema does not have.
func (f *schemaChecker) reportUnknown(t *tree, path, name, schema string) {
	known := propertiesOf(f.doc, schema)
	if path != "" {
		path += "."
	}
	hint := "remove it"
	if ours := foreignNames[name]; ours != "" && slices.Contains(known, ours) {
		hint = fmt.Sprintf("did you mean %s?", ours)
	} else if near := expression.Nearest(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	} else if len(known) > 0 && len(known) < 20 {
		hint = "there are " + strings.Join(known, ", ")
	}
	f.addAt(t.key(name), path+name, hint, "there is no field %s here", name)
}

// foreignNames maps field names of other automation tools to ours.
var foreignNames = map[string]string{"if": "condition", "when": "condition", "with": "input", "uses": "tool", "name": "id", "retries": "retry", "on": "triggers", "cron": "schedule"}

// reportChoice reports a value that fits none of several forms.
func (f *schemaChecker) reportChoice(t *tree, path string, e *jsonschema.ValidationError) {
	var needs []string
	for _, cause := range e.Causes {
		if k, ok := cause.ErrorKind.(*kind.Required); ok {
			needs = append(needs, strings.Join(k.Missing, " and "))
		}
	}
	if len(needs) > 0 {
		f.addAt(t, path, "add one of them", "%s is missing", strings.Join(needs, " or "))
		return
	}
	if k, ok := e.ErrorKind.(*kind.OneOf); ok && len(k.Subschemas) > 0 {
		f.addAt(t, path, "keep one", "several forms are given that exclude each other")
		return
	}
	f.addAt(t, path, "fermata workflow schema prints what may stand here", "%s has no place here", kindOf(t))
}

// explain returns what is wrong with a value, and a hint.
func explain(t *tree, e *jsonschema.ValidationError) (message, hint string) {
	if strings.HasSuffix(e.SchemaURL, "/duration") {
		return explainDuration(t)
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		message, hint := explainType(t, k)
		if strings.HasSuffix(e.SchemaURL, "/foreach") {
			hint = `write a list, such as [a, b], or a template that gives one, such as "{{ 1..3 }}"`
		}
		return message, hint
	case *kind.Enum:
		return explainChoice(t, k.Want)
	case *kind.Const:
		if strings.Contains(e.SchemaURL, "/on_failure/") {
			return "must be a list of steps or none, and is " + kindOf(t), "write the steps below it, as below steps, or on_failure: none"
		}
		hint = "leave it out where it does not hold"
		if k.Want == true && isYes(t.text()) {
			hint = "write true"
		}
		return fmt.Sprintf("must be %v, and is %s", k.Want, kindOf(t)), hint
	case *kind.Pattern:
		return fmt.Sprintf("%q does not fit here", k.Got), patternHint(e.SchemaURL)
	case *kind.MinLength:
		return "must not be empty", "give a value, or remove the line"
	case *kind.MaxLength:
		return fmt.Sprintf("is longer than %d characters", k.Want), "shorten it"
	case *kind.MinItems:
		return fmt.Sprintf("has %d, and needs at least %d", k.Got, k.Want), "add what is missing, or remove the line"
	case *kind.MaxItems:
		return fmt.Sprintf("has %d, and may have at most %d", k.Got, k.Want), ""
	case *kind.MinProperties:
		return "must not be empty", ""
	case *kind.MaxProperties:
		return fmt.Sprintf("has %d, and may have at most %d", k.Got, k.Want), ""
	case *kind.Minimum:
		return "must be at least " + decimalOf(k.Want), ""
	case *kind.Maximum:
		return "must be at most " + decimalOf(k.Want), ""
	case *kind.ExclusiveMinimum:
		return "must be more than " + decimalOf(k.Want), ""
	}
	return e.ErrorKind.LocalizedString(english), ""
}

// explainDuration returns what is wrong with a duration, and a hint.
func explainDuration(t *tree) (message, hint string) {
	hint = `write a text with a unit: "90s", "30m", "24h" or "3d"`
	if n, ok := t.value.(int64); ok {
		return fmt.Sprintf("%d is no duration: the unit is missing", n), hint
	}
	if d, err := time.ParseDuration(strings.ReplaceAll(t.text(), "d", "h")); err == nil && d <= 0 {
		return fmt.Sprintf("the duration must be more than 0, and is %s", t.text()), "write a longer one, or remove the line"
	}
	return kindOf(t) + " is no duration", hint
}

func decimalOf(r *big.Rat) string { return r.RatString() }

func explainType(t *tree, k *kind.Type) (message, hint string) {
	want := make([]string, len(k.Want))
	for i, name := range k.Want {
		want[i] = typeNames[name]
	}
	slices.SortStableFunc(want, func(a, b string) int { return cmp.Compare(typeOrder(a), typeOrder(b)) })
	message = fmt.Sprintf("must be %s, and is %s", joinWords(want), kindOf(t))
	firstType := k.Want[0]
	switch v := t.value.(type) {
	case string:
		switch {
		case firstType == "boolean" && isYes(v):
			hint = "write true"
		case firstType == "boolean" && slices.Contains([]string{"no", "off", "n"}, strings.ToLower(v)):
			hint = "write false"
		case firstType == "array":
			hint = "put it in brackets: [" + v + "]"
		case (firstType == "number" || firstType == "integer") && t.style == quotedStyle:
			hint = "remove the quotes"
		}
	case int64, float64, bool:
		if firstType == "string" {
			hint = fmt.Sprintf("quote it: %q", fmt.Sprint(v))
		}
	case nil:
		hint = "give a value, or remove the line"
	}
	return message, hint
}

// isYes reports whether a text is a word that other formats read as true.
func isYes(text string) bool {
	return slices.Contains([]string{"yes", "on", "y", "true"}, strings.ToLower(text))
}

// foreignChoices maps values of other formats to ours.
var foreignChoices = map[string]string{
	"integer": "number", "int": "number", "float": "number", "double": "number", "text": "string", "str": "string", "bool": "boolean",
	"list": "array", "map": "object", "dict": "object",
}

func explainChoice(t *tree, want []any) (message, hint string) {
	names := make([]string, len(want))
	for i, v := range want {
		names[i] = fmt.Sprint(v)
	}
	if ours := foreignChoices[t.text()]; ours != "" && slices.Contains(names, ours) {
		hint = "write " + ours
	} else if near := expression.Nearest(t.text(), names); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return fmt.Sprintf("must be one of %s, and is %s", strings.Join(names, ", "), kindOf(t)), hint
}

var typeNames = map[string]string{
	"string": "a text", "number": "a number", "integer": "a whole number", "boolean": "true or false",
	"object": "an object", "array": "a list", "null": "null",
}

// kindOf describes a value of the file for a message.
func kindOf(t *tree) string {
	switch v := t.value.(type) {
	case nil:
		return "empty"
	case bool, int64, float64:
		return fmt.Sprint(v)
	case string:
		if r := []rune(v); len(r) > 40 {
			v = string(r[:39]) + "…"
		}
		return fmt.Sprintf("the text %q", v)
	case []*tree:
		return "a list"
	}
	return "an object"
}

func patternHint(url string) string {
	switch {
	case strings.HasSuffix(url, "/slug"):
		return "lower-case letters, digits, - and _"
	case strings.HasSuffix(url, "/stepid"):
		return "lower-case letters, digits and _, beginning with a letter"
	case strings.HasSuffix(url, "/name"):
		return nameHint
	case strings.HasSuffix(url, "/repo"):
		return "write owner/name"
	case strings.HasSuffix(url, "/tool"):
		return "write the name of a tool, or server.tool"
	}
	return ""
}
