package delivery

import (
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/redact"
)

// data writes what an event adds.
func data(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		// Event data are small maps of texts and numbers.
		panic("delivery: write event data: " + err.Error())
	}
	return b
}

// publicQuestion returns the question as it may leave the house: secrets taken out, and
// in public places no context unless the question shares it. It reports whether
// what is decided on is whole.
func publicQuestion(q *fermata.Question, public bool) (*fermata.Question, bool) {
	clean, whole := redact.Question(q)
	if public && !q.ShareContext {
		clean = redact.Withhold(clean)
	}
	return clean, whole
}

// withoutSecrets takes secrets out of a text.
func withoutSecrets(text string) string {
	clean, _ := redact.Text(text)
	return clean
}
