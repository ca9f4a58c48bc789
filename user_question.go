package fermata

import (
	"cmp"
	"fmt"
	"strings"
)

// UserQuestion is one question in the format of AskUserQuestion.
type UserQuestion struct {
	Question    string       `json:"question" minLength:"1" maxLength:"4000"`
	Header      string       `json:"header,omitempty" maxLength:"80"`
	Options     []UserOption `json:"options,omitempty"`
	MultiSelect bool         `json:"multiSelect,omitempty"`
	// Other is true if it is absent, as in AskUserQuestion.
	Other *bool `json:"other,omitempty" doc:"an answer in one's own words is possible beside the options"`
}

// UserOption is an option in the format of AskUserQuestion.
type UserOption struct {
	Label       string `json:"label" minLength:"1" maxLength:"200"`
	Description string `json:"description,omitempty" maxLength:"2000"`
	Preview     string `json:"preview,omitempty" maxLength:"20000"`
}

// itemsFromUserQuestions returns the questions as items. The argument other applies
// to questions that do not say whether people may answer in their own words.
func itemsFromUserQuestions(questions []UserQuestion, other *bool) []Item {
	items := make([]Item, 0, len(questions))
	for _, uq := range questions {
		it := Item{Prompt: uq.Question, Header: uq.Header, ResponseType: ResponseChoice, Other: cmp.Or(uq.Other, other, new(true))}
		if uq.MultiSelect {
			it.ResponseType = ResponseMultiChoice
		}
		for _, o := range uq.Options {
			it.Options = append(it.Options, Option{Value: o.Label, Description: o.Description})
		}
		if len(it.Options) == 0 {
			it.ResponseType = ResponseText
		}
		items = append(items, it)
	}
	return items
}

// addPreviews returns the context with the previews of the options as its
// preview, so that people see what the agent would have shown. A context that
// has a preview stays as it is.
func addPreviews(ps *problems, c *QuestionContext, questions []UserQuestion) *QuestionContext {
	if c != nil && c.Preview != nil {
		return c
	}
	var sb strings.Builder
	for _, uq := range questions {
		for _, o := range uq.Options {
			if strings.TrimSpace(o.Preview) == "" {
				continue
			}
			if len(questions) > 1 {
				fmt.Fprintf(&sb, "%s ", uq.Question)
			}
			fmt.Fprintf(&sb, "%s:\n%s\n\n", o.Label, strings.Trim(o.Preview, "\n"))
		}
	}
	text := strings.TrimRight(sb.String(), "\n")
	if text == "" {
		return c
	}
	ps.checkText("questions", text, 0, maxPreview)
	shown := QuestionContext{}
	if c != nil {
		shown = *c
	}
	shown.Preview = &Preview{Kind: "text", Text: text}
	return &shown
}
