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
	c.State, c.Metadata, c.IdempotencyKey, c.DedupeKey, c.HeldAnswer = nil, nil, "", "", nil
	c.Title, c.Body, c.TaskTitle = redactText(q.Title), redactText(q.Body), redactText(q.TaskTitle)
	c.Items = slices.Clone(q.Items)
	for i := range c.Items {
		decidable = redactItem(&c.Items[i]) && decidable
	}
	c.Context = redactContext(q.Context)
	if action, changed := JSON(q.Action); changed {
		c.Action, decidable = action, false
	}
	c.Votes = slices.Clone(q.Votes)
	for i := range c.Votes {
		c.Votes[i].Comment = redactText(c.Votes[i].Comment)
	}
	c.Resolution = redactResolution(q.Resolution)
	return &c, decidable
}

func redactText(s string) string {
	clean, _ := Text(s)
	return clean
}

// redactItem redacts an item. It reports whether the values of its options are
// unchanged.
func redactItem(it *fermata.Item) (same bool) {
	it.Prompt, it.Header = redactText(it.Prompt), redactText(it.Header)
	it.Options = slices.Clone(it.Options)
	same = true
	for i := range it.Options {
		o := &it.Options[i]
		value := redactText(o.Value)
		same = same && value == o.Value
		o.Value, o.Label, o.Description = value, redactText(o.Label), redactText(o.Description)
	}
	it.Default = redactValue(it.Default)
	return same
}

func redactContext(c *fermata.QuestionContext) *fermata.QuestionContext {
	if c == nil {
		return nil
	}
	clean := *c
	clean.Text, clean.Step, clean.Error = redactText(c.Text), redactText(c.Step), redactText(c.Error)
	if c.Preview != nil {
		preview := *c.Preview
		preview.Text = redactText(preview.Text)
		clean.Preview = &preview
	}
	return &clean
}

func redactResolution(r *fermata.Resolution) *fermata.Resolution {
	if r == nil {
		return nil
	}
	clean := *r
	clean.OvertakenAnswer = nil
	clean.Comment = redactText(r.Comment)
	clean.Answer, clean.Answers = redactValue(r.Answer), redactAnswers(r.Answers)
	clean.Action, _ = JSON(r.Action)
	clean.LateAnswers = slices.Clone(r.LateAnswers)
	for i := range clean.LateAnswers {
		l := &clean.LateAnswers[i]
		l.Answers, l.Comment = redactAnswers(l.Answers), redactText(l.Comment)
	}
	return &clean
}

func redactAnswers(values map[string]any) map[string]any {
	out := maps.Clone(values)
	for key, v := range out {
		out[key] = redactValue(v)
	}
	return out
}

// redactValue redacts the value of an answer.
func redactValue(v any) any {
	switch v := v.(type) {
	case string:
		return redactText(v)
	case []string:
		out := slices.Clone(v)
		for i := range out {
			out[i] = redactText(out[i])
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = redactValue(out[i])
		}
		return out
	default:
		return v
	}
}

// WithoutContext returns a copy of the question without its context and previews. Use it for a place where people who
// may not read the project can read the message. It does not change whether the question is decidable there.
func WithoutContext(q *fermata.Question) *fermata.Question {
	if q.Context == nil {
		return q
	}
	c := *q
	c.Context = nil
	return &c
}
