package acp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

// form is an elicitation as a question. Each property of its schema becomes an item.
type form struct {
	message string
	fields  []field
	items   []fermata.Item
}

// field is one property.
type field struct {
	name string
	property
}

// property is the part of JSON Schema that forms use.
type property struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Format      string   `json:"format"`
	Enum        []string `json:"enum"`
	EnumNames   []string `json:"enumNames"`
	OneOf       []choice `json:"oneOf"`
	Items       *struct {
		Enum  []string `json:"enum"`
		AnyOf []choice `json:"anyOf"`
		OneOf []choice `json:"oneOf"`
	} `json:"items"`
	Default   any      `json:"default"`
	MinLength *int     `json:"minLength"`
	MaxLength *int     `json:"maxLength"`
	Pattern   string   `json:"pattern"`
	Minimum   *float64 `json:"minimum"`
	Maximum   *float64 `json:"maximum"`
	MinItems  *float64 `json:"minItems"`
	MaxItems  *float64 `json:"maxItems"`
}

type choice struct {
	Const       string `json:"const"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// readForm reads the schema. Properties keep their order.
func readForm(e *elicitation) (*form, error) {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(e.Schema, &s); err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	f := &form{message: strings.TrimSpace(e.Message)}
	if err := f.readFields(s.Properties); err != nil {
		return nil, err
	}
	if len(f.fields) == 0 {
		return nil, fmt.Errorf("its form has no fields")
	}
	for n := range f.fields {
		it, err := f.fields[n].item()
		if err != nil {
			return nil, err
		}
		it.Key = fmt.Sprintf("f%d", n+1)
		required := slices.Contains(s.Required, f.fields[n].name)
		it.Required = &required
		f.items = append(f.items, it)
	}
	if len(f.items) == 1 && f.fields[0].Title == "" && f.fields[0].Description == "" && f.message != "" {
		f.items[0].Prompt = f.message
	}
	return f, nil
}

func (f *form) readFields(properties json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(properties))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("its form has no fields")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		p := field{name: name.(string)}
		if err := dec.Decode(&p.property); err != nil {
			return fmt.Errorf("the field %s: %w", p.name, err)
		}
		f.fields = append(f.fields, p)
	}
	return nil
}

// item returns the field as an item of a question.
func (p *field) item() (fermata.Item, error) {
	it := fermata.Item{Prompt: cmp.Or(p.Description, p.Title, p.name), Default: p.Default}
	if p.Description != "" {
		it.Header = p.Title
	}
	it.Options = p.options()
	switch {
	case p.Type == "array":
		it.ResponseType, it.Min, it.Max = fermata.ResponseMultiChoice, p.MinItems, p.MaxItems
	case len(it.Options) > 0:
		it.ResponseType = fermata.ResponseChoice
	case p.Type == "boolean":
		it.ResponseType = fermata.ResponseBoolean
	case p.Type == "number" || p.Type == "integer":
		it.ResponseType, it.Min, it.Max = fermata.ResponseNumber, p.Minimum, p.Maximum
	case p.Type == "string" && p.Format == "date":
		it.ResponseType = fermata.ResponseDate
	case p.Type == "string":
		it.ResponseType, it.MinLength, it.MaxLength, it.Pattern = fermata.ResponseText, p.MinLength, p.MaxLength, p.Pattern
	default:
		return it, fmt.Errorf("the field %s is of the type %q", p.name, p.Type)
	}
	return it, nil
}

// options returns the choices of a field.
func (p *field) options() []fermata.Option {
	values, names, choices := p.Enum, p.EnumNames, p.OneOf
	if p.Items != nil {
		values, choices = p.Items.Enum, slices.Concat(p.Items.AnyOf, p.Items.OneOf)
	}
	var out []fermata.Option
	for n, v := range values {
		o := fermata.Option{Value: v}
		if n < len(names) {
			o.Label = names[n]
		}
		out = append(out, o)
	}
	for _, c := range choices {
		out = append(out, fermata.Option{Value: c.Const, Label: c.Title, Description: c.Description})
	}
	return out
}

// question returns the form as a question.
func (f *form) question() fermata.Ask {
	a := fermata.Ask{Type: fermata.Blocking, Items: f.items}
	first, _, more := strings.Cut(f.message, "\n")
	a.Title = fermata.Truncate(first, fermata.MaxTitle)
	if more || a.Title != first {
		a.Body = f.message
	}
	return a
}

// reply returns the answer in the agent's format. A resolution that is not an answer, such as a timeout, becomes a
// cancel.
func (f *form) reply(r *fermata.Resolution) reply {
	if r == nil || r.Status != fermata.Answered {
		return cancelReply
	}
	out := reply{Action: "accept", Content: map[string]any{}}
	for n := range f.fields {
		v, ok := r.Answers[f.items[n].Key]
		if !ok {
			continue
		}
		if number, isNumber := v.(float64); isNumber && f.fields[n].Type == "integer" {
			v = int64(number)
		}
		out.Content[f.fields[n].name] = v
	}
	return out
}
