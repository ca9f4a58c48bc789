package cli

import (
	"encoding/json"
	"testing"

	"github.com/fermata-hq/fermata"
)

// An agent at a desk that is told to decide by itself reads so, and not a bare withdrawal.
func TestNewsSayDecideYourself(t *testing.T) {
	t.Parallel()
	for _, typ := range []fermata.QuestionType{fermata.Approval, fermata.Blocking} {
		q := &fermata.Question{ID: "q_1", Type: typ, Status: fermata.Cancelled, Resolution: &fermata.Resolution{Status: fermata.Cancelled, DecideYourself: true}}
		line, err := newsLine(q)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Message string }
		if err := json.Unmarshal(line, &got); err != nil || got.Message != fermata.DecideYourself(typ) {
			t.Errorf("got %q, %v", got.Message, err)
		}
	}
}
