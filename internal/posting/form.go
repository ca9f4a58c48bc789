package posting

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// Form is a question in any form that agents write: the fields of
// [fermata.Ask], the input of AskUserQuestion, or one of its questions alone.
type Form struct {
	fermata.Ask

	Options     []Choice       `json:"options"`
	Header      string         `json:"header"`
	MultiSelect bool           `json:"multiSelect"`
	Questions   []UserQuestion `json:"questions"`
}

// UserQuestion is one question of AskUserQuestion.
type UserQuestion struct {
	Question    string   `json:"question"`
	Header      string   `json:"header"`
	Options     []Choice `json:"options"`
	MultiSelect bool     `json:"multiSelect"`
	Other       *bool    `json:"other"`
}

// Choice is an option as agents write it: a text, or an object with a label, a
// value, or both.
type Choice struct {
	Value       string `json:"value"`
	Label       string `json:"label"`
	Description string `json:"description"`
	Preview     string `json:"preview"`
	Recommended bool   `json:"recommended"`
	Danger      bool   `json:"danger"`
}

// UnmarshalJSON accepts the text "x" for {"label": "x"}. It refuses unknown fields, because a misspelt field such as
// danger would be ignored otherwise.
func (c *Choice) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*c = Choice{}
		return json.Unmarshal(data, &c.Label)
	}
	type plain Choice
	return strictjson.Unmarshal(data, (*plain)(c))
}

func (c Choice) option() fermata.Option {
	o := fermata.Option{
		Value: c.Value, Label: c.Label, Description: c.Description, Recommended: c.Recommended, Danger: c.Danger,
	}
	if o.Value == "" || o.Value == o.Label {
		o.Value, o.Label = c.Label, ""
	}
	return o
}

// Request converts the form to the request to ask the question. The error lists every problem of the form. The request
// is empty if the form has too many questions, or has fields that contradict them.
func (in *Form) Request() (fermata.Ask, error) {
	a := in.Ask
	a.Questions = nil
	contextErr := a.Context.Check()
	if len(in.Questions) > 0 {
		if len(a.Items) > 0 || a.Question != "" || len(in.Options) > 0 || in.Header != "" || in.MultiSelect {
			return fermata.Ask{}, fermata.Invalid(fermata.Problem{Field: "questions", Message: "cannot stand beside question, options, items, header or multiSelect"})
		}
		if len(in.Questions) > fermata.MaxItems {
			return fermata.Ask{}, fermata.Invalid(fermata.Problem{Field: "questions", Message: "are too many"})
		}
		var previews strings.Builder
		for _, uq := range in.Questions {
			a.Items = append(a.Items, uq.item(a.Other))
			writePreviews(&previews, uq.Options)
		}
		a.Body += previews.String()
		return a, contextErr
	}
	namesErr := in.applyNames(&a)
	for _, c := range in.Options {
		a.Options = append(a.Options, c.option())
	}
	var previews strings.Builder
	writePreviews(&previews, in.Options)
	a.Body += previews.String()
	a.Default = typedDefault(a.Default, a.ResponseType)
	return a, fermata.JoinRefusals(contextErr, namesErr)
}

// applyNames applies the fields for which AskUserQuestion has other names.
func (in *Form) applyNames(a *fermata.Ask) error {
	var refusals []error
	if in.Header != "" {
		if a.Title != "" && a.Title != in.Header {
			refusals = append(refusals, fermata.Invalid(fermata.Problem{Field: "header", Message: "is another name of title, which says something else"}))
		}
		a.Title = in.Header
	}
	if in.MultiSelect {
		if a.ResponseType != "" && a.ResponseType != fermata.ResponseMultiChoice {
			refusals = append(refusals, fermata.Invalid(fermata.Problem{Field: "multiSelect", Message: "contradicts response_type " + string(a.ResponseType)}))
		}
		a.ResponseType = fermata.ResponseMultiChoice
	}
	return fermata.JoinRefusals(refusals...)
}

// item returns the question as an item. As with AskUserQuestion, the person can
// write another answer, unless the question or the call says otherwise.
func (uq UserQuestion) item(other *bool) fermata.Item {
	it := fermata.Item{Prompt: uq.Question, Header: uq.Header, Other: cmp.Or(uq.Other, other, new(true))}
	for _, c := range uq.Options {
		it.Options = append(it.Options, c.option())
	}
	switch {
	case len(it.Options) == 0:
		it.ResponseType = fermata.ResponseText
	case uq.MultiSelect:
		it.ResponseType = fermata.ResponseMultiChoice
	default:
		it.ResponseType = fermata.ResponseChoice
	}
	return it
}

// writePreviews writes the previews of options, for the end of the question's body.
func writePreviews(sb *strings.Builder, options []Choice) {
	for _, c := range options {
		if c.Preview == "" {
			continue
		}
		name := c.Label
		if name == "" {
			name = c.Value
		}
		fence := "```"
		for strings.Contains(c.Preview, fence) {
			fence += "`"
		}
		sb.WriteString("\n\n**" + strings.Join(strings.Fields(name), " ") + "**\n\n" + fence + "\n" + c.Preview + "\n" + fence)
	}
}

// typedDefault converts a default that is a text, as the schema declares it, if
// the answer is a number, a boolean or a list.
func typedDefault(value any, t fermata.ResponseType) any {
	s, ok := value.(string)
	if !ok {
		return value
	}
	switch t {
	case fermata.ResponseNumber, fermata.ResponseBoolean:
		var v any
		if json.Unmarshal([]byte(s), &v) == nil {
			return v
		}
	case fermata.ResponseMultiChoice:
		return []string{s}
	case fermata.ResponseText, fermata.ResponseChoice, fermata.ResponseDate, fermata.ResponseApproval:
	}
	return value
}
