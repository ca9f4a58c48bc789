package rendertest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// HiddenText is a text with characters that a terminal would obey or not show.
const HiddenText = "x\x1b[31m\u202e\u009b\x07y"

// CheckNothingHides fails the test if a hidden character is in the output.
func CheckNothingHides(t *testing.T, out string) {
	t.Helper()
	if i := strings.IndexFunc(out, notice.IsHidden); i >= 0 {
		t.Errorf("a hidden character came through: %q", out[max(0, i-60):min(len(out), i+20)])
	}
}

// HiddenTask returns a task that has hidden characters in every field that an agent fills.
func HiddenTask() *fermata.Task {
	bad := HiddenText
	return &fermata.Task{
		ID: "task_01k5h2m9n0abcdefghjk", Title: bad, Body: bad, Project: bad, Reason: bad, Agent: bad, Runner: bad,
		Labels: []string{bad}, Summary: bad, BlockedBy: []string{bad}, CreatedBy: fermata.Actor{Name: bad},
		PendingQuestion: &fermata.Question{
			ID: "q_1", Title: bad, Project: bad, Assignees: []string{bad}, Type: fermata.Approval,
			Resolution: &fermata.Resolution{
				Status: fermata.TimedOut, Outcome: fermata.TakeDefault, Answer: bad, Comment: bad, Action: json.RawMessage(bad),
				LateAnswers: []fermata.LateAnswer{{By: fermata.Actor{Name: bad}, Answers: map[string]any{bad: bad}, Comment: bad}},
			},
			Votes: []fermata.Vote{{By: fermata.Actor{Name: bad}, Comment: bad}},
			Asked: fermata.Asked{
				Body: bad, AskedBy: fermata.Actor{Name: bad},
				Action: json.RawMessage(bad), ActionHash: bad,
				Items:   []fermata.Item{{Key: bad, Prompt: bad, Header: bad, Default: bad, Options: []fermata.Option{{Value: bad, Label: bad + "l", Description: bad}}}},
				Context: &fermata.QuestionContext{Step: bad, Error: bad, Preview: &fermata.Preview{Kind: bad, Text: bad}},
			},
		},
	}
}
