package notice

import (
	"maps"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

// longestAnswer is how many characters of an answer are shown in a sentence
// about it.
const longestAnswer = 200

// OutcomeOf returns how a question ended, or nil while it is open.
func OutcomeOf(q *fermata.Question) *Outcome {
	if q.Resolution == nil {
		return nil
	}
	return &Outcome{Status: q.Resolution.Status, Words: OutcomeWords(q), At: q.Resolution.At}
}

// OutcomeWords says in one sentence how a question ended, such as "answered by
// Ada: toml". A decision by a deadline or a rule never reads as a person's
// decision. It is empty while the question is open.
func OutcomeWords(q *fermata.Question) string {
	r := q.Resolution
	if r == nil {
		return ""
	}
	switch r.Status {
	case fermata.TimedOut:
		return timedOutWords(q)
	case fermata.Cancelled:
		if r.DecideYourself {
			words := "the asker decides"
			if q.Type == fermata.Approval {
				words = "it counts as not approved"
			}
			return "closed by " + decider(r) + " without an answer: " + words
		}
		if r.TaskEnded != "" {
			return "closed without an answer: the task ended as " + string(r.TaskEnded)
		}
		return "cancelled by " + decider(r)
	default:
		return answeredWords(q)
	}
}

func timedOutWords(q *fermata.Question) string {
	switch r := q.Resolution; r.Outcome {
	case fermata.TakeDefault:
		return "timed out: the default " + AnswerWords(q, r.Answers) + " was taken – nobody answered"
	case fermata.SkipTask:
		return "timed out: nobody answered, the task was skipped"
	default:
		if q.Type == fermata.Approval {
			return "timed out: nobody approved, it counts as not approved"
		}
		return "timed out: nobody answered"
	}
}

func answeredWords(q *fermata.Question) string {
	r := q.Resolution
	head, answer := "answered by "+decider(r), AnswerWords(q, r.Answers)
	if q.Type == fermata.Approval {
		verb := "rejected"
		if r.IsApproved() {
			verb = "approved"
		}
		head, answer = verb+" by "+deciders(q), ""
		if len(r.Action) > 0 {
			head += " with edits"
		}
	}
	if answer == "" {
		answer = shorten(OneLine(r.Comment), longestAnswer)
	}
	if answer == "" {
		return head
	}
	return head + ": " + answer
}

// deciders names all people whose votes made the decision.
func deciders(q *fermata.Question) string {
	var names []string
	for _, v := range q.Votes {
		if v.Value == q.Resolution.Answer {
			names = append(names, actorName(v.By))
		}
	}
	if len(names) < 2 {
		return decider(q.Resolution)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func decider(r *fermata.Resolution) string {
	if r.AnsweredBy != nil && r.AnsweredBy.Name != "" {
		return actorName(*r.AnsweredBy)
	}
	switch r.DecidedBy {
	case fermata.ActorPolicy:
		return "the policy"
	case fermata.ActorSystem:
		return "the system"
	case fermata.ActorAgent:
		return "the agent"
	default:
		return string(r.DecidedBy)
	}
}

func actorName(a fermata.Actor) string {
	if a.Name == "" {
		return string(a.Kind)
	}
	return OneLine(a.Name)
}

// AnswerWords writes the values of an answer on one line, as people read them:
// the label of an option, yes or no.
func AnswerWords(q *fermata.Question, answers map[string]any) string {
	parts := make([]string, 0, len(answers))
	for i := range q.Items {
		it := &q.Items[i]
		v, given := answers[it.Key]
		if !given {
			continue
		}
		text := valueWords(it, v)
		if len(q.Items) > 1 {
			text = it.Key + " = " + text
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 && len(answers) > 0 {
		for _, key := range slices.Sorted(maps.Keys(answers)) {
			parts = append(parts, key+" = "+answerText(answers[key]))
		}
	}
	return shorten(OneLine(strings.Join(parts, "; ")), longestAnswer)
}

func valueWords(it *fermata.Item, v any) string {
	if yes, ok := v.(bool); ok {
		if yes {
			return "yes"
		}
		return "no"
	}
	if s, ok := v.(string); ok {
		return labelOf(it, s)
	}
	var list []string
	switch values := v.(type) {
	case []string:
		list = slices.Clone(values)
	case []any:
		for _, one := range values {
			list = append(list, answerText(one))
		}
	default:
		return answerText(v)
	}
	if len(list) == 0 {
		return "none"
	}
	for i := range list {
		list[i] = labelOf(it, list[i])
	}
	return strings.Join(list, ", ")
}

func labelOf(it *fermata.Item, value string) string {
	if o, ok := it.Option(value); ok {
		return o.Text()
	}
	return value
}

// answerText writes one value as people read it.
func answerText(v any) string { return (&fermata.Resolution{Answer: v}).AnswerText() }

// shorten cuts a text to at most maxChars characters, and marks the cut with "…".
func shorten(s string, maxChars int) string {
	runes := []rune(s)
	if len(runes) <= maxChars {
		return s
	}
	return strings.TrimSpace(string(runes[:maxChars-1])) + "…"
}
