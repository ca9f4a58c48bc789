package hook

import (
	"encoding/json"
	"testing"

	"github.com/fermata-hq/fermata"
)

// An agent at a desk that is to decide by itself reads exactly that, not only that the question was withdrawn.
func TestNewsSayDecideYourself(t *testing.T) {
	t.Parallel()
	for _, typ := range []fermata.QuestionType{fermata.Approval, fermata.Blocking} {
		q := &fermata.Question{ID: "q_1", Type: typ, Status: fermata.Cancelled, Resolution: &fermata.Resolution{Status: fermata.Cancelled, DecideYourself: true}}
		line, err := newsLine(q)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Message string }
		if err := json.Unmarshal(line, &got); err != nil || got.Message != fermata.DecideYourselfAdvice(typ) {
			t.Errorf("got %q, %v", got.Message, err)
		}
	}
}
