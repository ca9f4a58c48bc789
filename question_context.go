package fermata

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// QuestionContext helps people answer a question.
type QuestionContext struct {
	// Text is the information that people need, in words. A context that is a
	// bare string sets this field.
	Text  string `json:"text,omitempty" maxLength:"20000" doc:"in words; a context that is a string is this"`
	Step  string `json:"step,omitempty" maxLength:"500"`
	Error string `json:"error,omitempty" maxLength:"20000"`
	// Preview is shown in full: a diff, a command, a table, a JSON document or a text.
	Preview *Preview `json:"preview,omitempty"`

	// Unknown lists the JSON names that no field has. A request with such names
	// is refused. A question from a newer server is read without them.
	Unknown []string `json:"-"`
}

// Preview is content to look at before answering.
type Preview struct {
	Kind string `json:"kind" enum:"diff,command,table,json,text"`
	Text string `json:"text" maxLength:"200000"`
}

// UnmarshalJSON accepts the bare string "x" as a short form of {"text": "x"}.
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

// unknownNames returns the field names of an object that are not among the
// known ones, in alphabetical order. Case counts.
func unknownNames(object []byte, prefix string, known ...string) []string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return nil
	}
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			unknown = append(unknown, prefix+name)
		}
	}
	return unknown
}

// Check returns an error that lists every problem of a context. A client must
// call it before it forwards a request, because unknown names are not
// forwarded.
func (c *QuestionContext) Check() error {
	var ps problems
	if c.check(&ps); len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// check adds the problems of the context as it was asked.
func (c *QuestionContext) check(ps *problems) {
	if c == nil {
		return
	}
	for _, name := range c.Unknown {
		ps.add("context."+firstLine(name, 100), "is no known field; names are exact")
	}
	ps.checkText("context.text", c.Text, 0, 20_000)
	ps.checkText("context.step", c.Step, 0, 500)
	ps.checkText("context.error", c.Error, 0, 20_000)
	if c.Preview != nil {
		ps.checkOneOf("context.preview.kind", c.Preview.Kind, previewKinds)
		ps.checkText("context.preview.text", c.Preview.Text, 0, maxPreview)
	}
}

var previewKinds = []string{"diff", "command", "table", "json", "text"}
