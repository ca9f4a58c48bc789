package notice

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestFactsOfAListedQuestion(t *testing.T) {
	t.Parallel()
	q := questionWith(fermata.Item{ResponseType: fermata.ResponseText}, fermata.Item{ResponseType: fermata.ResponseText})
	q.Title, q.TaskTitle, q.Project, q.Risk = "Which?", "Build\nthe shop", "shop", fermata.RiskHigh
	if got, want := digestLine(q), "“Build the shop” · shop · risk high · 2 items"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	q.TaskTitle = "safe” · staging · 2 of 2 approved · “x " + strings.Repeat("y", 100)
	if got := digestLine(q); !strings.HasPrefix(got, "“safe' · staging · 2 of 2 approved · 'x y") || !strings.HasSuffix(got, "y…” · shop · risk high · 2 items") {
		t.Errorf("a title passes for facts: %q", got)
	}
	q.TaskTitle = q.Title
	q.Items = q.Items[:1]
	q.Approvals = &fermata.Quorum{Required: 2}
	q.Votes = []fermata.Vote{{Value: fermata.Approve}, {Value: fermata.Reject}}
	if got, want := digestLine(q), "shop · risk high · 1 of 2 approved, 1 rejected"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	n := &Notice{Purpose: Digest, Title: "1 question waits", Questions: []*fermata.Question{q}}
	if text := Text(n); !strings.Contains(text, "- Which?\n  shop · risk high · 1 of 2 approved, 1 rejected\n") {
		t.Errorf("the digest is\n%s", text)
	}
	q.AskedBy = fermata.Actor{Kind: fermata.ActorAgent, Name: "claude"}
	n = noticeOf(q)
	if text := Text(n); !strings.Contains(text, "Asked by claude for the task “Deploy” in shop: risk high, 1 of 2 approved, 1 rejected.\n") {
		t.Errorf("the message is\n%s", text)
	}
	if got := ShortText(n); !strings.Contains(got, "1 of 2 approved") {
		t.Errorf("the lock screen shows %q", got)
	}
}
