package render

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render/rendertest"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

func TestRenderQuestion(t *testing.T) {
	t.Parallel()
	for name, q := range rendertest.SampleQuestions(t) {
		var out bytes.Buffer
		PrintQuestion(terminal.Printer{Out: &out, Width: 80}, q, rendertest.Noon.Add(5*time.Minute))
		rendertest.Golden(t, "question_"+name+".txt", out.String())
	}
}

// A held answer shows the instant from which it counts, and does not ask others to answer. An answer that did not
// count stays readable.
func TestAnswersThatCouldBeTakenBack(t *testing.T) {
	t.Parallel()
	q := rendertest.OpenQuestion(t, fermata.Ask{Question: "Which database?", Timeout: "never"})
	alice := fermata.Caller{Kind: fermata.ActorHuman, MemberID: "mem_1", Name: "alice", Role: fermata.RoleAdmin, Scopes: fermata.Scopes}
	if _, err := q.Hold(fermata.Answer{Answer: "pg", Comment: "as ever"}, alice, fermata.DefaultPolicy(), rendertest.Noon); err != nil {
		t.Fatal(err)
	}
	shown := func() string {
		var out bytes.Buffer
		printEnding(terminal.Printer{Out: &out, Width: 80}, q, rendertest.Noon)
		return strings.Join(strings.Fields(out.String()), " ")
	}
	if held := shown(); !strings.Contains(held, "alice answered pg; it counts from 12:00:05 UTC on") || !strings.Contains(held, "as ever") || strings.Contains(held, "until somebody answers") {
		t.Errorf("while it may be taken back: %s", held)
	}
	if _, err := q.Cancel(fermata.Actor{Kind: fermata.ActorHuman, Name: "bob"}, "", rendertest.Noon); err != nil {
		t.Fatal(err)
	}
	if kept := shown(); !strings.Contains(kept, "alice could still undo this answer") || !strings.Contains(kept, "did not count: pg") || !strings.Contains(kept, "as ever") {
		t.Errorf("after bob cancelled: %s", kept)
	}
}
