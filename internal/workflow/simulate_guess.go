package workflow

import (
	"context"
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// guesses holds the values that a simulation without a script made up, by step.
type guesses struct {
	tools            map[string]tool.Info
	outputs, replies map[string]any
}

func newGuesses(tools map[string]tool.Info) guesses {
	return guesses{tools, map[string]any{}, map[string]any{}}
}

// madeUpText is used for every text that a person or a tool would write.
const madeUpText = "made up"

// guessInputs makes up the inputs that a run needs to start.
func guessInputs(d *definition.Workflow) map[string]any {
	values := map[string]any{}
	for _, in := range d.Inputs {
		switch {
		case !in.IsNeeded():
		case len(in.Enum) > 0:
			values[in.Name] = in.Enum[0]
		default:
			values[in.Name] = guessValue(map[string]any{"type": in.Type})
		}
	}
	return values
}

// guessOutput makes up the output of a tool for a step.
func (r *simulation) guessOutput(id, name string) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	var output any = map[string]any{}
	step := newCalledStep(r.def, r.known, id, name)
	var decoded map[string]any
	switch {
	case len(step.schema) > 0 && json.Unmarshal(step.schema, &decoded) == nil:
		output = guessValue(decoded)
	case step.kind == commandTool:
		output = map[string]any{"exit_code": 0, "output": madeUpText}
	case step.kind == agentTool:
		output = map[string]any{"summary": madeUpText}
	}
	r.guesses.outputs[id] = output
	if text, isText := output.(string); isText && step.kind != serverTool {
		// In a script, a text is what a command prints or what an agent says. Its output is the JSON in it.
		r.guesses.outputs[id] = string(encodeJSON(text))
	}
	return output
}

// guessValue makes up a value that fits a simple JSON Schema. A schema with patterns or alternatives may refuse it.
func guessValue(schema map[string]any) any {
	if v, ok := schema["const"]; ok {
		return v
	}
	if v, ok := schema["default"]; ok {
		return v
	}
	if list, _ := schema["enum"].([]any); len(list) > 0 {
		return list[0]
	}
	name, _ := schema["type"].(string)
	if list, _ := schema["type"].([]any); len(list) > 0 {
		name, _ = list[0].(string)
	}
	switch name {
	case "array":
		return guessList(schema)
	case "number", "integer":
		low, isLow := schema["minimum"].(float64)
		high, isHigh := schema["maximum"].(float64)
		switch {
		case isHigh && !isLow:
			return high
		case isLow && name == "integer":
			return math.Ceil(low)
		case isLow:
			return low
		}
		return 1
	case "boolean":
		return true
	case "string":
		return guessText(schema)
	case "null":
		return nil
	}
	return guessObject(schema)
}

// guessObject makes up the properties of an object, and the required keys that are not among its properties.
func guessObject(schema map[string]any) map[string]any {
	made := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		if property, ok := property.(map[string]any); ok {
			made[name] = guessValue(property)
		}
	}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		name, _ := name.(string)
		if _, ok := made[name]; !ok && name != "" {
			made[name] = guessValue(schemaOfExtraKey(schema, name))
		}
	}
	return made
}

// schemaOfExtraKey returns the schema of a key that is not in the properties of an object. If the object accepts any
// value for that key, schemaOfExtraKey returns the schema of a text.
func schemaOfExtraKey(schema map[string]any, name string) map[string]any {
	patterns, _ := schema["patternProperties"].(map[string]any)
	for _, pattern := range sortedKeys(patterns) {
		of, isSchema := patterns[pattern].(map[string]any)
		if matches, err := regexp.MatchString(pattern, name); isSchema && err == nil && matches {
			return of
		}
	}
	if of, ok := schema["additionalProperties"].(map[string]any); ok && len(of) > 0 {
		return of
	}
	return map[string]any{"type": "string"}
}

// maxGuessedLength limits the length of lists and texts that are made up.
const maxGuessedLength = 1000

func guessList(schema map[string]any) []any {
	least, _ := schema["minItems"].(float64)
	of, _ := schema["items"].(map[string]any)
	made := []any{}
	for range min(int(least), maxGuessedLength) {
		made = append(made, guessValue(of))
	}
	return made
}

func guessText(schema map[string]any) string {
	least, _ := schema["minLength"].(float64)
	text := lengthenText(int(least))
	if most, ok := schema["maxLength"].(float64); ok && int(most) < len(text) {
		return text[:max(int(most), 0)]
	}
	return text
}

// lengthenText returns a text of at least the given length, up to maxGuessedLength.
func lengthenText(least int) string {
	text := madeUpText
	if missing := min(least, maxGuessedLength) - len(text); missing > 0 {
		text += strings.Repeat("x", missing)
	}
	return text
}

// guessReply makes up a person's answer to a question: its default, or the first value that it accepts.
func (r *simulation) guessReply(ctx context.Context, step string, q *fermata.Question) Reply {
	now, err := r.db.Now(ctx)
	if err != nil {
		now = time.Unix(0, 0)
	}
	if len(q.Items) == 1 {
		answer := guessAnswer(&q.Items[0], now)
		// In a script, a list means one reply after the other. So a list as an answer needs the long form.
		r.guesses.replies[step] = map[string]any{"answer": answer}
		return Reply{Answer: answer}
	}
	answers := map[string]any{}
	for i := range q.Items {
		answers[q.Items[i].Key] = guessAnswer(&q.Items[i], now)
	}
	r.guesses.replies[step] = map[string]any{"answers": answers}
	return Reply{Answers: answers}
}

func guessAnswer(it *fermata.Item, now time.Time) any {
	if it.Default != nil {
		return it.Default
	}
	switch it.ResponseType {
	case fermata.ResponseApproval:
		return fermata.Approve
	case fermata.ResponseBoolean:
		return true
	case fermata.ResponseDate:
		return now.Format(time.DateOnly)
	case fermata.ResponseNumber:
		switch {
		case it.Min != nil:
			return *it.Min
		case it.Max != nil:
			return *it.Max
		}
		return 1
	case fermata.ResponseMultiChoice:
		made := []any{}
		for _, o := range it.Options[:max(1, minLength(it))] {
			made = append(made, o.Value)
		}
		return made
	case fermata.ResponseChoice:
		return it.Options[0].Value
	case fermata.ResponseText:
	}
	return lengthenText(minLength(it))
}

func minLength(it *fermata.Item) int {
	if it.MinLength == nil {
		return 0
	}
	return *it.MinLength
}

// writeScript returns the values that were made up, as a script.
func (r *simulation) writeScript() (string, error) {
	var script yaml.MapSlice
	add := func(name string, values map[string]any) {
		if len(values) > 0 {
			script = append(script, yaml.MapItem{Key: name, Value: toScriptValue(values)})
		}
	}
	add("inputs", r.script.Inputs)
	tools := map[string]any{}
	for step, output := range r.guesses.outputs {
		tools[step] = map[string]any{"output": output}
	}
	add("tools", tools)
	add("answers", r.guesses.replies)
	add("expect", map[string]any{"state": string(fermata.TaskDone)})
	text, err := yaml.Marshal(script)
	return string(text), err
}

// scriptScalar is a number or a text as it stands in a script.
type scriptScalar string

// MarshalYAML returns the scalar as it is.
func (s scriptScalar) MarshalYAML() ([]byte, error) { return []byte(s), nil }

// toScriptValue returns a value whose numbers and texts are read back as they are.
func toScriptValue(v any) any {
	switch v := v.(type) {
	case float64:
		return scriptScalar(definition.FormatNumber(v))
	case string:
		if definition.MustQuote(v) {
			return scriptScalar(strconv.Quote(v))
		}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = toScriptValue(v[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for key, one := range v {
			object[key] = toScriptValue(one)
		}
		return object
	}
	return v
}
