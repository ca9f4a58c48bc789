package fermata_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// TestContentHashStays guards the hashes that earlier versions wrote, because the audit compares questions with them.
// A change of a question's JSON would make all old questions look changed. Examples are another order, another name,
// or a field that is not left out when empty.
func TestContentHashStays(t *testing.T) {
	t.Parallel()
	confidence, required := 55, false
	q := &fermata.Question{
		TaskID: "task_1", Project: "web", Type: fermata.Approval, Title: "Deploy <b>?", Priority: 1,
		Asked: fermata.Asked{
			Body: "Since it is due.", ActionHash: "ab",
			Items: []fermata.Item{{
				Key: "answer", Prompt: "Deploy?", ResponseType: fermata.ResponseChoice, Required: &required, Default: "yes",
				Options: []fermata.Option{{Value: "yes", Label: "Yes"}, {Value: "no"}},
			}},
			Context:   &fermata.QuestionContext{Step: "deploy", Text: "The build is green."},
			Approvals: &fermata.Quorum{Required: 2, Reject: "majority"}, Timeout: "2h", OnTimeout: fermata.Escalate,
			Escalation: []fermata.EscalationLevel{{Assignees: []string{"bob"}, Timeout: "1h", OnTimeout: fermata.FailTask}},
			Channels:   []string{"slack"}, Reminders: []string{"30m"}, RemindEvery: "1h", ShareContext: true, Confidence: &confidence,
			Risk: fermata.RiskHigh, LeastAssurance: fermata.AssuranceSession, CallbackURL: "https://example.com", State: json.RawMessage(`{"a": 1}`),
			Metadata: map[string]string{"b": "2", "a": "1"}, AskedBy: fermata.Actor{Kind: fermata.ActorAgent, ID: "tok_1", Name: "ci"},
		},
	}
	const want = "60ad74653291425a0ab0da77b6e5e5dbfed676288faab3d3dc81145cbaad9258"
	if got := q.ContentHash(); got != want {
		t.Errorf("the hash is %s, and was %s", got, want)
	}
	// Values that people and time change are not in the hash.
	moved := *q
	deadline := time.Now()
	moved.Assignees, moved.Deadline, moved.Status = []string{"carl"}, &deadline, fermata.Answered
	if moved.ContentHash() != want {
		t.Error("the hash depends on what changes")
	}
}
