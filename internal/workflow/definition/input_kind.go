package definition

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// inputChecker returns a checker for the input of a tool or of a workflow. It knows the kinds of some templates.
func (l *loader) inputChecker(root *tree, path []string, doc any) *schemaChecker {
	f := &schemaChecker{report: l.report, root: root, path: path, doc: doc, isUnknown: hasTemplate}
	if !l.known.WasChecked {
		f.kindOf = l.kindOfTemplate
	}
	return f
}

// inputKinds maps the types of inputs of a workflow to the kinds of expressions.
var inputKinds = map[string]expression.Kind{
	"string": expression.String, "number": expression.Number, "boolean": expression.Boolean, "object": expression.Object, "array": expression.List,
}

// kindOfTemplate returns the kind of a value that is one template, as far as it is known: a constant, the result of an
// operation, or an input of the workflow that is never null.
func (l *loader) kindOfTemplate(t *tree) expression.Kind {
	if !hasTemplate(t) {
		return expression.Unknown
	}
	v, faults := expression.Text(t.text())
	located := v.LocatedExpressions()
	if faults != nil || len(located) != 1 || !located[0].Whole {
		return expression.Unknown
	}
	e := located[0]
	refs := e.Refs()
	if len(refs) != 1 || refs[0].Root != "inputs" || len(refs[0].Path) != 1 || e.String() != "inputs."+refs[0].Path[0] {
		return e.Kind()
	}
	in := l.inputNamed(refs[0].Path[0])
	if in == nil || !in.Required && in.Default == nil {
		return expression.Unknown
	}
	return inputKinds[in.Type]
}

// knownKind returns the kind of a template as far as it is known.
func (f *schemaChecker) knownKind(t *tree) expression.Kind {
	if f.kindOf == nil {
		return expression.Unknown
	}
	return f.kindOf(t)
}

// samples are values of each kind. Only their type counts.
var samples = map[expression.Kind]any{
	expression.Null: nil, expression.Boolean: true, expression.Number: int64(1), expression.String: "…", expression.List: []any{}, expression.Object: map[string]any{},
}

// value returns a value of the file as decoded JSON, with a sample for each template of a known kind.
func (f *schemaChecker) value(t *tree) any {
	switch v := t.value.(type) {
	case *mapping:
		o := make(map[string]any, len(v.keys))
		for i, k := range v.keys {
			o[k.text()] = f.value(v.values[i])
		}
		return o
	case []*tree:
		list := make([]any, len(v))
		for i := range v {
			list[i] = f.value(v[i])
		}
		return list
	}
	if k := f.knownKind(t); k != expression.Unknown {
		return samples[k]
	}
	return t.plainValue()
}

// reportKind reports a template whose result has a type that does not fit.
func (f *schemaChecker) reportKind(t *tree, path string, k expression.Kind, e *jsonschema.ValidationError) {
	inner := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(t.text()), "{{"), "}}"))
	want, hint := wantedTypes(e), ""
	if form := textForms[k]; form != "" && slices.Contains(want, typeNames["string"]) {
		hint = "make it a text: " + fmt.Sprintf(form, inner)
	}
	f.addAt(t, path, hint, "must be %s, and %s is %s", joinWords(want), inner, kindNames[k])
}

// textForms show how to make a text of a value of each kind.
var textForms = map[expression.Kind]string{
	expression.Object: `"{{ toJSON(%s) }}"`, expression.List: `"{{ toJSON(%s) }}"`, expression.Number: `"{{ string(%s) }}"`, expression.Boolean: `"{{ string(%s) }}"`,
}

// wantedTypes names the types that a value may have.
func wantedTypes(e *jsonschema.ValidationError) []string {
	var names []string
	if k, ok := e.ErrorKind.(*kind.Type); ok {
		for _, name := range k.Want {
			names = append(names, typeNames[name])
		}
	}
	for _, cause := range e.Causes {
		names = append(names, wantedTypes(cause)...)
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(typeOrder(a), typeOrder(b)) })
	return names
}

// typeOrder returns the place of a type in a message: true or false comes last, because of its own "or".
func typeOrder(name string) int {
	return slices.Index([]string{typeNames["string"], typeNames["number"], typeNames["integer"], typeNames["array"], typeNames["object"], typeNames["null"], typeNames["boolean"]}, name)
}

// joinWords writes a list as a part of a sentence.
func joinWords(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// kindNames names the kinds in messages.
var kindNames = map[expression.Kind]string{
	expression.Null: "null", expression.Boolean: "true or false", expression.Number: "a number", expression.String: "a text", expression.List: "a list", expression.Object: "an object",
}
