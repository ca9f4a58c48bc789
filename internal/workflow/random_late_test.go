package workflow_test

import (
	"fmt"

	"github.com/fermata-hq/fermata"
)

// lateKinds are the kinds of random steps that ask with a deadline, which may pass.
var lateKinds = []string{"late default", "late failure", "late remedy", "late items", "in time"}

// lateYAML returns the fields of a step of one of the lateKinds.
func (s *randomStep) lateYAML() string {
	asks := func(more string) string {
		return fmt.Sprintf("tool: post_question, suspend: true, input: {question: 'Q?', options: [x, y], timeout: %dh%s}", s.hours+1, more)
	}
	switch s.kind {
	case "late failure":
		return asks(", timeoutAction: fail")
	case "late remedy":
		return "on_error: ask, " + asks(", timeoutAction: fail")
	case "late items":
		return "foreach: [1, 2, 3, 4], parallel: 3, " + asks(", default: x")
	}
	return asks(", default: x")
}

// randomReplies holds what the script answers to the questions of random steps, by their kind.
var randomReplies = map[string]string{
	"ask": `"x"`, "approve": `"approve"`, "reject": `"reject"`, "in time": `"y"`,
	"late default": `{"timeout":true}`, "late failure": `{"timeout":true}`, "late remedy": `[{"timeout":true},"skip"]`,
	"late items": `[{"timeout":true},"y",{"timeout":true},"y"]`,
}

// replyTo returns the answer to a question of a random step or its item, as the script says. It returns nil if nobody answers.
func replyTo(kind string, s *fermata.WorkflowStep, q *fermata.Question) *fermata.Answer {
	answer := map[string]any{"ask": "x", "approve": fermata.Approve, "reject": fermata.Reject, "in time": "y"}[kind]
	switch {
	case q.Type == fermata.ErrorRecovery:
		return &fermata.Answer{Answers: map[string]any{fermata.RemedyKey: fermata.RemedySkip}}
	case kind == "late items" && *s.Item%2 == 1:
		answer = "y"
	case answer == nil:
		return nil
	}
	return &fermata.Answer{Answer: answer}
}
