package fermata

import (
	"fmt"
	"strings"
)

// UserQuestion is one question as AskUserQuestion writes it.
type UserQuestion struct {
	Question    string       `json:"question" minLength:"1" maxLength:"4000"`
	Header      string       `json:"header,omitempty" maxLength:"80"`
	Options     []UserOption `json:"options,omitempty"`
	MultiSelect bool         `json:"multiSelect,omitempty"`
}

// UserOption is an option as AskUserQuestion writes it.
type UserOption struct {
	Label       string `json:"label" minLength:"1" maxLength:"200"`
	Description string `json:"description,omitempty" maxLength:"2000"`
	Preview     string `json:"preview,omitempty" maxLength:"20000"`
}

func fromUserQuestions(questions []UserQuestion) []Item {
	items := make([]Item, 0, len(questions))
	for _, uq := range questions {
		it := Item{Prompt: uq.Question, Header: uq.Header, ResponseType: ResponseChoice, Other: true}
		if uq.MultiSelect {
			it.ResponseType = ResponseMultiChoice
		}
		for _, o := range uq.Options {
			it.Options = append(it.Options, Option{Value: o.Label, Description: o.Description})
		}
		if len(it.Options) == 0 {
			it.ResponseType, it.Other = ResponseText, false
		}
		items = append(items, it)
	}
	return items
}

// withPreviews adds what the options show as the preview of the question, unless
// it has one: whoever chooses sees what the agent would have shown.
func withPreviews(ps *problems, c *QuestionContext, questions []UserQuestion) *QuestionContext {
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
	ps.text("questions", text, 0, maxPreview)
	shown := QuestionContext{Preview: &Preview{Kind: "text", Text: text}}
	if c != nil {
		shown.Step, shown.Error = c.Step, c.Error
	}
	return &shown
}
