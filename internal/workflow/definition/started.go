package definition

import (
	"bytes"
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// checkStarted checks the name and the inputs that a step gives to another workflow, as far as they are literal. A
// workflow that does not exist is a warning, because it may be stored later.
func (l *loader) checkStarted(t, input *tree, path string) {
	at := input.get("name")
	name := at.text()
	if name == "" || hasTemplate(at) {
		return
	}
	if name == l.w.Name {
		l.addAt(at, path+".name", "go back with goto or repeat, which are counted", "a run of %s cannot start one of the same workflow", name)
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
	given := input.get("inputs")
	doc, compiled, err := schemaOfInputs(inputs)
	if err != nil || given.isUnreadable() || given != nil && hasTemplate(given) {
		return
	}
	if given.mapping() == nil {
		given = &tree{value: &mapping{}, line: t.line, column: t.column}
	}
	f := l.inputChecker(given, []string{path, "inputs"}, doc)
	values, _ := f.value(given).(map[string]any)
	for _, in := range inputs {
		if values[in.Name] == nil && !in.IsNeeded() {
			delete(values, in.Name) // a run treats null as a missing input
		}
	}
	f.check(compiled, values)
}

// schemaOfInputs returns the JSON Schema of the inputs of a workflow, as a document and compiled.
func schemaOfInputs(inputs []Input) (doc any, compiled *jsonschema.Schema, err error) {
	properties, required := map[string]any{}, []string{}
	for _, in := range inputs {
		if in.IsNeeded() {
			required = append(required, in.Name)
		}
		of := map[string]any{"type": in.Type}
		if len(in.Enum) > 0 {
			of["enum"] = in.Enum
		}
		properties[in.Name] = of
	}
	source, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
	if err != nil {
		return nil, nil, err
	}
	if doc, err = jsonschema.UnmarshalJSON(bytes.NewReader(source)); err != nil {
		return nil, nil, err
	}
	compiled, err = CompileSchema(doc)
	return doc, compiled, err
}
