package definition

import (
	"bytes"
	_ "embed" // for the schemas
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed workflow.schema.json
var workflowSchema []byte

//go:embed tools.schema.json
var toolSchemas []byte

// Schema returns the JSON Schema of a definition, for editors. [Load] checks
// with the same schema.
func Schema() json.RawMessage { return slices.Clone(json.RawMessage(workflowSchema)) }

// ToolInput returns the JSON Schema of the input of a tool that every engine
// has: post_question, request_approval, agent, shell, wait or workflow. It
// returns nil for any other tool.
func ToolInput(name string) json.RawMessage {
	if !slices.Contains(engineTools, name) {
		return nil
	}
	all, _ := ownDocuments()["tools.json"].(map[string]any)
	defs, _ := all["$defs"].(map[string]any)
	schema, _ := defs[name].(map[string]any)
	whole := maps.Clone(schema)
	whole["$schema"] = all["$schema"]
	if needed := collectDefinitions(schema, defs, map[string]any{}); len(needed) > 0 {
		whole["$defs"] = needed
	}
	doc, err := json.Marshal(whole)
	if err != nil {
		return nil
	}
	return doc
}

// collectDefinitions adds the definitions that a part of a schema refers to, directly or indirectly, to found. It
// returns found.
func collectDefinitions(part any, defs, found map[string]any) map[string]any {
	switch v := part.(type) {
	case []any:
		for _, one := range v {
			collectDefinitions(one, defs, found)
		}
	case map[string]any:
		ref, _ := v["$ref"].(string)
		if name, ok := strings.CutPrefix(ref, "#/$defs/"); ok && found[name] == nil {
			found[name] = defs[name]
			collectDefinitions(defs[name], defs, found)
		}
		for _, one := range v {
			collectDefinitions(one, defs, found)
		}
	}
	return found
}

// engineTools are the tools that every engine has.
var engineTools = []string{postQuestion, requestApproval, "agent", "shell", "wait", workflowTool}

const (
	postQuestion    = "post_question"
	requestApproval = "request_approval"
	workflowTool    = "workflow"
)

// ownSchemas compiles the schemas of this package once.
var ownSchemas = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	all := map[string]*jsonschema.Schema{}
	c := jsonschema.NewCompiler()
	for url, source := range map[string][]byte{"workflow.json": workflowSchema, "tools.json": toolSchemas} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(source))
		if err != nil {
			return nil, err
		}
		if err := c.AddResource(url, doc); err != nil {
			return nil, err
		}
	}
	var err error
	if all[""], err = c.Compile("workflow.json"); err != nil {
		return nil, err
	}
	for _, name := range engineTools {
		if all[name], err = c.Compile("tools.json#/$defs/" + name); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// ownSchema returns a compiled schema of this package. For "" it is the schema
// of the file, else that of the tool with the name, or nil if there is none.
func ownSchema(name string) *jsonschema.Schema {
	all, err := ownSchemas()
	if err != nil {
		panic(fmt.Sprintf("the schemas of this package: %v", err)) // a test makes sure that they compile
	}
	return all[name]
}

// CompileSchema compiles the schema of a tool or of an output. The schema must
// contain everything that it refers to: nothing is read from files or the
// network.
func CompileSchema(schema any) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(refusingLoader{})
	if err := c.AddResource("schema.json", schema); err != nil {
		return nil, err
	}
	return c.Compile("schema.json")
}

type refusingLoader struct{}

// Load implements [jsonschema.URLLoader].
func (refusingLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not read: put it into the schema itself", url)
}
