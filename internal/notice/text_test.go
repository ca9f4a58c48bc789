package notice

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

func noticeOf(q *fermata.Question) *Notice {
	return &Notice{
		Purpose: Asked, Question: q, TaskTitle: "Deploy", Project: "shop", Decide: true, Open: "https://fermata.example/q/q_1",
		To: Recipient{Zone: "Europe/Berlin"}, At: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	deadline := time.Date(2026, 11, 21, 14, 30, 0, 0, time.UTC)
	q := questionWith(fermata.Item{
		ResponseType: fermata.ResponseChoice, Default: "toml", Options: []fermata.Option{
			{Value: "toml", Label: "TOML", Description: "what others\ndo", Recommended: true}, {Value: "drop", Danger: true},
		},
	})
	q.AskedBy = fermata.Actor{Kind: fermata.ActorAgent, Name: "claude"}
	q.Body = "Two ways.\nAnswer until never\u202e.\n"
	q.Deadline, q.OnTimeout = &deadline, fermata.TakeDefault
	n := noticeOf(q)
	want := `Question: Which?

Asked by claude for the task “Deploy” in shop.

│ Two ways.
│ Answer until never⟨U+202E⟩.

A) TOML (recommended)
   what others do
B) drop (dangerous)
Default: TOML

Answer until 15:30 CET; then the default is taken: TOML.

` + "Reply with `A` or `B`; say why behind a colon: `A: because …`." + `

Open: https://fermata.example/q/q_1
`
	if got := Text(n); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := ShortText(n); got != "From claude, “Deploy”, until 15:30 CET" {
		t.Errorf("got %q", got)
	}
	n.Outcome = &Outcome{Status: fermata.Answered, Words: "answered by Ada: TOML"}
	if got := Text(n); !strings.Contains(got, "\nAnswered by Ada: TOML.\n") || strings.Contains(got, "Reply with") || strings.Contains(got, "until 15") {
		t.Errorf("a closed question: got\n%s", got)
	}
}

func TestActionIsShownWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	q := questionWith(itemOf(fermata.ResponseApproval))
	q.Type, q.Action = fermata.Approval, json.RawMessage("{\"run\":\"rm\\u00a0-rf /\",\"n\":\"a\u202eb\"}")
	parts, tooLong := BoundedActionParts(q, 1000)
	if tooLong != "" || len(parts) != 1 || !strings.Contains(parts[0].Text, "⟨U+202E⟩") || !strings.Contains(parts[0].Text, `"run": "rm\u00a0-rf /"`) {
		t.Errorf("got %v %s", parts, tooLong)
	}
	parts, tooLong = BoundedActionParts(q, 10)
	if len(parts) > 0 || !strings.Contains(tooLong, "too long to show here") {
		t.Errorf("got %v %s", parts, tooLong)
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 1, 30, 0, 0, time.UTC)
	q := questionWith(itemOf(fermata.ResponseText))
	if got := Deadline(noticeOf(q)); got != "It waits until somebody answers." {
		t.Errorf("got %q", got)
	}
	q.Deadline = &at
	for onTimeout, want := range map[fermata.TimeoutAction]string{
		fermata.FailTask: "the task fails", fermata.SkipTask: "the task is skipped", fermata.Escalate: "it goes on to role:admin",
	} {
		q.OnTimeout = onTimeout
		q.Escalation = []fermata.EscalationLevel{{Assignees: []string{"role:admin"}}}
		if got := Deadline(noticeOf(q)); got != "Answer until Sun 22 Nov 2026 02:30 CET; then "+want+"." {
			t.Errorf("got %q", got)
		}
	}
	n := noticeOf(q)
	n.To.Zone = "Not/AZone"
	if got := Deadline(n); !strings.HasPrefix(got, "Answer until Sun 22 Nov 2026 01:30 UTC") {
		t.Errorf("got %q", got)
	}
}

func TestOutcomeWords(t *testing.T) {
	t.Parallel()
	ada, bob := fermata.Actor{Kind: fermata.ActorHuman, Name: "Ada"}, fermata.Actor{Kind: fermata.ActorHuman, Name: "Bob"}
	item := choice("toml", "yaml")
	item.Options[1].Label = "the old one"
	approval := func(r fermata.Resolution, votes ...fermata.Vote) *fermata.Question {
		q := questionWith(itemOf(fermata.ResponseApproval))
		q.Type, q.Resolution, q.Votes = fermata.Approval, &r, votes
		return q
	}
	plain := func(r fermata.Resolution) *fermata.Question {
		q := questionWith(item)
		q.Resolution = &r
		return q
	}
	yes := questionWith(itemOf(fermata.ResponseBoolean))
	yes.Resolution = &fermata.Resolution{Status: fermata.Answered, DecidedBy: fermata.ActorHuman, AnsweredBy: &ada, Answers: map[string]any{"answer": true}}
	tests := []struct {
		q    *fermata.Question
		want string
	}{
		{questionWith(item), ""},
		{plain(fermata.Resolution{Status: fermata.Answered, DecidedBy: fermata.ActorHuman, AnsweredBy: &ada, Answers: map[string]any{"answer": "yaml"}}), "answered by Ada: the old one"},
		{yes, "answered by Ada: yes"},
		{plain(fermata.Resolution{Status: fermata.Answered, DecidedBy: fermata.ActorPolicy, Answers: map[string]any{"answer": "toml"}}), "answered by the policy: toml"},
		{plain(fermata.Resolution{Status: fermata.TimedOut, DecidedBy: fermata.ActorTimeout, Outcome: fermata.TakeDefault, Answers: map[string]any{"answer": "toml"}}), "timed out: the default toml was taken – nobody answered"},
		{plain(fermata.Resolution{Status: fermata.TimedOut, DecidedBy: fermata.ActorTimeout, Outcome: fermata.SkipTask}), "timed out: nobody answered, the task was skipped"},
		{plain(fermata.Resolution{Status: fermata.Cancelled, DecidedBy: fermata.ActorHuman, AnsweredBy: &ada}), "cancelled by Ada"},
		{plain(fermata.Resolution{Status: fermata.Cancelled, DecidedBy: fermata.ActorSystem}), "cancelled by the system"},
		{plain(fermata.Resolution{Status: fermata.Cancelled, DecidedBy: fermata.ActorHuman, AnsweredBy: &ada, DecideYourself: true}), "closed by Ada without an answer: the asker decides"},
		{approval(fermata.Resolution{Status: fermata.Cancelled, DecidedBy: fermata.ActorHuman, AnsweredBy: &ada, DecideYourself: true}), "closed by Ada without an answer: it counts as not approved"},
		{plain(fermata.Resolution{Status: fermata.Cancelled, DecidedBy: fermata.ActorAgent, TaskEnded: fermata.TaskDone}), "closed without an answer: the task ended as done"},
		{approval(fermata.Resolution{Status: fermata.TimedOut, DecidedBy: fermata.ActorTimeout, Outcome: fermata.FailTask}), "timed out: nobody approved, it counts as not approved"},
		{approval(fermata.Resolution{Status: fermata.Answered, AnsweredBy: &ada, Answer: fermata.Reject, Comment: "not\ntoday"}), "rejected by Ada: not today"},
		{approval(fermata.Resolution{Status: fermata.Answered, AnsweredBy: &bob, Answer: fermata.Approve},
			fermata.Vote{By: ada, Value: fermata.Approve}, fermata.Vote{By: bob, Value: fermata.Approve}), "approved by Ada and Bob"},
		{approval(fermata.Resolution{Status: fermata.Answered, AnsweredBy: &ada, Answer: fermata.Approve, Action: json.RawMessage(`{}`)}), "approved by Ada with edits"},
	}
	for _, tt := range tests {
		if got := OutcomeWords(tt.q); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
