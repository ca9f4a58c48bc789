package rendertest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// Options returns options with the values.
func Options(values ...string) []fermata.Option {
	list := make([]fermata.Option, len(values))
	for i, v := range values {
		list[i] = fermata.Option{Value: v}
	}
	return list
}

// NoonClock always returns [Noon].
func NoonClock() time.Time { return Noon }

// Noon is the instant at which the questions are opened.
var Noon = time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)

// OpenQuestion returns the question of a request, opened at noon.
func OpenQuestion(t *testing.T, a fermata.Ask) *fermata.Question {
	t.Helper()
	task := &fermata.Task{ID: "task_01k5h2m9n0abcdefghjk", Project: "shop", Priority: 2, Runner: fermata.RunnerExternal}
	by := fermata.Actor{Kind: fermata.ActorAgent, Name: "claude"}
	q, err := a.Open("q_01k5h2m9n0abcd3f9k2a", task, by, fermata.DefaultPolicy(), Noon)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// SampleQuestions returns questions of every form, by name.
func SampleQuestions(t *testing.T) map[string]*fermata.Question {
	t.Helper()
	off := false
	choice := OpenQuestion(t, fermata.Ask{
		Question: "Which database?", Default: "pg", Timeout: "30m", Assignees: []string{"anna", "group:ops"},
		Body: "The old one is *slow*. " + strings.Repeat("It really is. ", 12) + "\x1b[2J",
		Options: []fermata.Option{
			{Value: "pg", Label: "PostgreSQL", Recommended: true, Description: "as everywhere else"},
			{Value: "drop", Label: "Drop it", Danger: true},
		},
		Context: &fermata.QuestionContext{Step: "migrate", Error: "timeout\nafter 30 s", Preview: &fermata.Preview{Kind: "diff", Text: "-a\n+b\u202e\n"}},
	})
	approval := OpenQuestion(t, fermata.Ask{
		Type: fermata.Approval, Title: "Run this?", Risk: fermata.RiskHigh, Approvals: &fermata.Quorum{Required: 2},
		Action: json.RawMessage("{\"command\":\"rm\u00a0-rf \u200b/tmp/x " + strings.Repeat("long ", 30) + "\",\"cwd\":\"\\u202e\"}"),
	})
	several := OpenQuestion(t, fermata.Ask{
		Type: fermata.ErrorRecovery, Title: "Two things", Timeout: fermata.Never,
		Items: []fermata.Item{
			{Key: "port", Prompt: "Which port?", Options: Options("80", "8080"), Other: new(true)},
			{Key: "tags", Header: "Tags", Prompt: "Which tags?", ResponseType: fermata.ResponseMultiChoice, Options: Options("a", "b"), Required: &off},
		},
	})
	answered := OpenQuestion(t, fermata.Ask{Question: "Name?"})
	answered.Status = fermata.Answered
	answered.Resolution = &fermata.Resolution{
		Status: fermata.Answered, DecidedBy: fermata.ActorHuman, At: Noon, Answer: "Bob\x07", Comment: "as agreed",
		AnsweredBy: &fermata.Actor{Kind: fermata.ActorHuman, Name: "anna"},
	}
	return map[string]*fermata.Question{"choice": choice, "approval": approval, "several": several, "answered": answered}
}
