package delivery

import (
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/redact"
)

// mustJSON returns settings, a verdict or the data of an event as JSON.
func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		// They were read from JSON, or hold only texts, numbers and booleans.
		panic("delivery: write JSON: " + err.Error())
	}
	return b
}

// publicQuestion returns the question as channels may send it: without secrets, and in public places without context
// unless the question shares it. It also reports whether people can see everything that they decide on, because no
// secret was removed from it.
func publicQuestion(q *fermata.Question, public bool) (*fermata.Question, bool) {
	clean, isComplete := redact.Question(q)
	if public && !q.ShareContext {
		clean = redact.WithoutContext(clean)
	}
	return clean, isComplete
}

// withoutSecrets removes secrets from a text.
func withoutSecrets(text string) string {
	clean, _ := redact.Text(text)
	return clean
}
