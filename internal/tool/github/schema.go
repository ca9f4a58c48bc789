package github

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/fermata-hq/fermata/internal/tool"
)

// fields are the properties of an object in a schema.
type fields map[string]any

var (
	textSchema         = map[string]any{"type": "string"}
	nonEmptyTextSchema = map[string]any{"type": "string", "minLength": 1}
	textsSchema        = map[string]any{"type": "array", "items": map[string]any{"type": "string", "minLength": 1}}
	flagSchema         = map[string]any{"type": "boolean"}
	numberSchema       = map[string]any{"type": "integer"}

	repoFields     = fields{"repo": withDescription(nonEmptyTextSchema, "owner/repo; otherwise that of the event, or the channel's.")}
	issueRefFields = mergeFields(repoFields, fields{"issue": map[string]any{
		"type":        []string{"integer", "string"},
		"description": "Number, owner/repo#number or address of an issue or pull request; otherwise the run's input issue, or that of the event.",
	}})
)

func withDescription(schema map[string]any, words string) map[string]any {
	all := maps.Clone(schema)
	all["description"] = words
	return all
}

func mergeFields(some, more fields) fields {
	all := maps.Clone(some)
	maps.Copy(all, more)
	return all
}

// inputSchema returns the schema of an input. Fields that are not in required are
// optional.
func inputSchema(f fields, required ...string) json.RawMessage {
	return objectSchema(f, false, required)
}

// outputSchema returns the schema of an output, which has all the fields.
func outputSchema(f fields) json.RawMessage {
	return objectSchema(f, true, slices.Sorted(maps.Keys(f)))
}

func objectSchema(f fields, more bool, required []string) json.RawMessage {
	schema := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": f, "additionalProperties": more,
	}
	if len(required) > 0 {
		schema["required"] = required
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		panic(err) // the values above can always be encoded
	}
	return raw
}

// newInfo returns the description of a tool.
func newInfo(name, description string, input, output json.RawMessage) tool.Info {
	return tool.Info{Name: name, Description: description, Input: input, Output: output, Idempotent: true}
}
