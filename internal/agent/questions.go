package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
)

// AddUserAnswers adds the answers to the input of AskUserQuestion, in the form of that tool: by the text of each
// question. A comment is added to the last answer. If no person decided, a note about that is added, too.
func AddUserAnswers(input json.RawMessage, q *fermata.Question) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(input, &fields); err != nil {
		return nil, err
	}
	r, answers, note := q.Resolution, map[string]string{}, ""
	for i := range q.Items {
		v, ok := r.Answers[q.Items[i].Key]
		if !ok || v == nil {
			continue
		}
		text := answerText(v)
		if before, twice := answers[q.Items[i].Prompt]; twice {
			text = before + "\n\n(Asked once more: " + text + ")"
		}
		answers[q.Items[i].Prompt] = text
	}
	if r.Comment != "" {
		note += "\n\nComment: " + r.Comment
	}
	if r.DecidedBy != fermata.ActorHuman {
		note += "\n\n(No person decided this: " + r.Sentence() + ")"
	}
	if last := len(q.Items) - 1; note != "" && last >= 0 {
		answers[q.Items[last].Prompt] += note
	}
	data, err := json.Marshal(answers)
	if err != nil {
		return nil, err
	}
	fields["answers"] = data
	return json.Marshal(fields)
}

// answerText returns a value as AskUserQuestion writes it: several values are joined.
func answerText(v any) string {
	list, ok := v.([]any)
	if !ok {
		return fmt.Sprint(v)
	}
	parts := make([]string, 0, len(list))
	for _, one := range list {
		parts = append(parts, fmt.Sprint(one))
	}
	return strings.Join(parts, ", ")
}
