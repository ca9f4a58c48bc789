package fermata

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// QuestionContext helps people answer.
type QuestionContext struct {
	// Text says in words what people need to know. A context that is a bare
	// string is this.
	Text  string `json:"text,omitempty" maxLength:"20000" doc:"in words; a context that is a string is this"`
	Step  string `json:"step,omitempty" maxLength:"500"`
	Error string `json:"error,omitempty" maxLength:"20000"`
	// Preview is shown whole: a diff, a command, a table or a JSON document.
	Preview *Preview `json:"preview,omitempty"`

	// Unknown are the names in the JSON that no field has. A request that has
	// some is refused; a question from a newer server is read without them.
	Unknown []string `json:"-"`
}

// Preview is something to look at before answering.
type Preview struct {
	Kind string `json:"kind" enum:"diff,command,table,json,text"`
	Text string `json:"text" maxLength:"200000"`
}

// UnmarshalJSON accepts the bare string "x" for {"text": "x"}.
func (c *QuestionContext) UnmarshalJSON(data []byte) error {
	*c = QuestionContext{}
	if bytes.HasPrefix(data, []byte{'"'}) {
		return json.Unmarshal(data, &c.Text)
	}
	type plain QuestionContext
	if err := json.Unmarshal(data, (*plain)(c)); err != nil {
		return err
	}
	c.Unknown = unknownNames(data, "", "text", "step", "error", "preview")
	var inside struct {
		Preview json.RawMessage `json:"preview"`
	}
	if err := json.Unmarshal(data, &inside); err != nil {
		return err
	}
	c.Unknown = append(c.Unknown, unknownNames(inside.Preview, "preview.", "kind", "text")...)
	return nil
}

// unknownNames returns the names of an object's fields, in the order of the
// alphabet, that are not among those that are known. Case counts.
func unknownNames(object []byte, at string, known ...string) []string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return nil
	}
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			unknown = append(unknown, at+name)
		}
	}
	return unknown
}

// Check reports what is wrong with a context. Who passes a request on asks it
// first: names that are not known are not passed on.
func (c *QuestionContext) Check() error {
	var ps problems
	if c.check(&ps); len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// check reports what is wrong with the context as it was asked.
func (c *QuestionContext) check(ps *problems) {
	if c == nil {
		return
	}
	for _, name := range c.Unknown {
		ps.add("context."+firstLine(name, 100), "is no known field; names are exact")
	}
	ps.text("context.text", c.Text, 0, 20_000)
	ps.text("context.step", c.Step, 0, 500)
	ps.text("context.error", c.Error, 0, 20_000)
	if c.Preview != nil {
		ps.oneOf("context.preview.kind", c.Preview.Kind, previewKinds)
		ps.text("context.preview.text", c.Preview.Text, 0, maxPreview)
	}
}

var previewKinds = []string{"diff", "command", "table", "json", "text"}
