package definition

import (
	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// started checks a step that starts another workflow, as far as its name and inputs are literal. The other workflow may be stored later,
// so a missing one is a warning.
func (l *loader) started(t, input *tree, path string) {
	at := input.get("name")
	name := at.text()
	if name == "" || open(at) {
		return
	}
	if name == l.w.Name {
		l.at(at, path+".name", "go back with goto or repeat, which are counted", "a run of %s cannot start one of the same workflow", name)
		return
	}
	if l.known.InputsOf == nil {
		return
	}
	inputs, names, err := l.known.InputsOf(l.w.Project, name)
	if err != nil {
		return
	}
	if names != nil {
		hint := "store it before this one runs: a step starts workflows of its own project"
		if near := expression.Nearest(name, names); near != "" {
			hint = "did you mean " + near + "?"
		}
		l.warn(at, path+".name", hint, "there is no workflow %s in this project yet", name)
		return
	}
	doc := schemaOfInputs(inputs)
	compiled, err := CompileSchema(doc)
	given := input.get("inputs")
	if err != nil || given.unreadable() || given != nil && open(given) {
		return
	}
	if given.mapping() == nil {
		given = &tree{value: &mapping{}, line: t.line, column: t.column}
	}
	f := &fit{report: l.report, root: given, path: []string{path, "inputs"}, doc: doc, open: open}
	f.fits(compiled, given.plainValue())
}

// schemaOfInputs is the JSON Schema of what a workflow takes.
func schemaOfInputs(inputs []Input) map[string]any {
	properties, required := map[string]any{}, []any{}
	for _, in := range inputs {
		of := map[string]any{"type": []any{in.Type, "null"}}
		if in.Required && in.Default == nil {
			of["type"] = in.Type
			required = append(required, in.Name)
		}
		if len(in.Enum) > 0 {
			of["enum"] = in.Enum
		}
		properties[in.Name] = of
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}
