package redact

import (
	"maps"
	"slices"

	"github.com/fermata-hq/fermata"
)

// Question returns a copy of the question without secrets, for a channel.
// decidable reports whether the channel may offer to decide it. This is not so
// if the action, or a value that a person can choose, was redacted: people must
// see what they decide. Then the channel can only link to the question.
//
// The copy has no state, metadata or keys, because these belong to the asker
// alone.
func Question(q *fermata.Question) (clean *fermata.Question, decidable bool) {
	c := *q
	decidable = true
	c.State, c.Metadata, c.IdempotencyKey, c.DedupeKey, c.Held = nil, nil, "", "", nil
	c.Title, c.Body, c.TaskTitle = text(q.Title), text(q.Body), text(q.TaskTitle)
	c.Items = slices.Clone(q.Items)
	for i := range c.Items {
		decidable = item(&c.Items[i]) && decidable
	}
	c.Context = contextOf(q.Context)
	if action, changed := JSON(q.Action); changed {
		c.Action, decidable = action, false
	}
	c.Votes = slices.Clone(q.Votes)
	for i := range c.Votes {
		c.Votes[i].Comment = text(c.Votes[i].Comment)
	}
	c.Resolution = resolution(q.Resolution)
	return &c, decidable
}

func text(s string) string {
	clean, _ := Text(s)
	return clean
}

// item redacts an item. It reports whether the values of its options are
// unchanged.
func item(it *fermata.Item) (same bool) {
	it.Prompt, it.Header = text(it.Prompt), text(it.Header)
	it.Options = slices.Clone(it.Options)
	same = true
	for i := range it.Options {
		o := &it.Options[i]
		value := text(o.Value)
		same = same && value == o.Value
		o.Value, o.Label, o.Description = value, text(o.Label), text(o.Description)
	}
	it.Default = value(it.Default)
	return same
}

func contextOf(c *fermata.QuestionContext) *fermata.QuestionContext {
	if c == nil {
		return nil
	}
	clean := *c
	clean.Text, clean.Step, clean.Error = text(c.Text), text(c.Step), text(c.Error)
	if c.Preview != nil {
		preview := *c.Preview
		preview.Text = text(preview.Text)
		clean.Preview = &preview
	}
	return &clean
}

func resolution(r *fermata.Resolution) *fermata.Resolution {
	if r == nil {
		return nil
	}
	clean := *r
	clean.Overtaken = nil
	clean.Comment = text(r.Comment)
	clean.Answer, clean.Answers = value(r.Answer), answers(r.Answers)
	clean.Action, _ = JSON(r.Action)
	clean.Late = slices.Clone(r.Late)
	for i := range clean.Late {
		l := &clean.Late[i]
		l.Answers, l.Comment = answers(l.Answers), text(l.Comment)
	}
	return &clean
}

func answers(values map[string]any) map[string]any {
	out := maps.Clone(values)
	for key, v := range out {
		out[key] = value(v)
	}
	return out
}

// value redacts the value of an answer.
func value(v any) any {
	switch v := v.(type) {
	case string:
		return text(v)
	case []string:
		out := slices.Clone(v)
		for i := range out {
			out[i] = text(out[i])
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = value(out[i])
		}
		return out
	default:
		return v
	}
}

// Withhold returns a copy of the question without its context and previews. It
// is for a place that people can read who may not read the project. It does not
// change whether the question is decidable there.
func Withhold(q *fermata.Question) *fermata.Question {
	if q.Context == nil {
		return q
	}
	c := *q
	c.Context = nil
	return &c
}
