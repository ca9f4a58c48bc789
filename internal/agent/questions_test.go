package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// A decision by a rule or a timeout never looks like a person's answer, and if the same question is asked twice, no
// answer is lost.
func TestUserAnswers(t *testing.T) {
	t.Parallel()
	q := &fermata.Question{
		Resolution: &fermata.Resolution{
			Status: fermata.TimedOut, Outcome: fermata.TakeDefault, DecidedBy: fermata.ActorTimeout,
			Answers: map[string]any{"a": "x", "b": "y", "c": []any{"p", "q"}},
		},
		Asked: fermata.Asked{
			Items: []fermata.Item{{Key: "a", Prompt: "Which?"}, {Key: "b", Prompt: "Which?"}, {Key: "c", Prompt: "More?"}},
		},
	}
	input, err := agent.AddUserAnswers(json.RawMessage(`{"questions":[],"new":1}`), q)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		New     int
		Answers map[string]string
	}
	if err := json.Unmarshal(input, &got); err != nil {
		t.Fatal(err)
	}
	if got.New != 1 || got.Answers["Which?"] != "x\n\n(Asked once more: y)" ||
		!strings.HasPrefix(got.Answers["More?"], "p, q\n\n(No person decided this: timed out") {
		t.Errorf("got %s", input)
	}
}
