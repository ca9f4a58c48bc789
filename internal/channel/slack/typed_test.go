package slack_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/standin"
)

// Words below a quotation or a delimiter are text, in a thread as in a mail.
func TestWordsBelowAnAnswerInAThreadAreText(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := l.server.ask(approval("Ship?"))
	m, _ := l.send(t, q)
	for _, text := range []string{"ok\n> x\nbut not yet", "ok\n--\nNot yet", "approve\n> Ship?\nNo, not yet!", "approve\n--\nwait for Bob"} {
		if err := l.Write(l.ada, m.ID, text); err != nil {
			t.Fatal(err)
		}
		l.server.awaitHeard(t, 1)
		if got := l.server.current(q.ID); got.Status != fermata.Pending {
			t.Fatalf("%q: %+v", text, got.Resolution)
		}
	}
	if err := l.Write(l.ada, m.ID, "approve\n> Ship?"); err != nil {
		t.Fatal(err)
	}
	l.awaitTold(t, l.ada, "It counted.")
}

// An answer that a button would ask to confirm does not count if it is typed,
// because a thread has no way to ask.
func TestWhatIsAskedBackIsNotTyped(t *testing.T) {
	t.Parallel()
	const notTyped = "Press its button"
	for _, by := range transports {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			l := newHarness(t, by)
			risky := approval("Deploy to production?")
			risky.Risk = fermata.RiskHigh
			plain := approval("Go on?")
			plain.Risk, plain.Action = fermata.RiskCritical, nil
			danger := &fermata.Question{Type: fermata.Blocking, Title: "What now?", Asked: fermata.Asked{Items: []fermata.Item{choice([]fermata.Option{{Value: "keep"}, {Value: "drop", Danger: true}})}}}
			for _, tt := range []struct {
				q      *fermata.Question
				typed  []string
				counts string
			}{
				{risky, []string{"approve", "Approved", "approve: it is tested and ready to go", "/approve now"}, "reject: not on a Friday"},
				{plain, []string{"approve", "genehmigt"}, "reject"},
				{danger, []string{"B", "drop", "2: because of the disk"}, "A"},
			} {
				tt.q.LeastAssurance = fermata.AssuranceChannel
				q := l.server.ask(tt.q)
				m, _ := l.send(t, q)
				before := len(l.server.answers())
				for _, text := range tt.typed {
					if err := l.Write(l.ada, m.ID, text); err != nil {
						t.Fatal(err)
					}
					l.awaitTold(t, l.ada, notTyped)
				}
				if q != risky {
					// If there is an action to show, the command opens a form.
					if err := l.Command(l.ada, "/answer", q.ID+" "+tt.typed[0]); err != nil {
						t.Fatal(err)
					}
					l.awaitTold(t, l.ada, notTyped)
				}
				if got := l.server.current(q.ID); got.Status != fermata.Pending || len(l.server.answers()) != before {
					t.Fatalf("it counted: %+v", got.Resolution)
				}
				if err := l.Write(l.ada, m.ID, tt.counts); err != nil {
					t.Fatal(err)
				}
				l.server.awaitHeard(t, 1)
				if got := l.server.current(q.ID); got.Status != fermata.Answered {
					t.Errorf("%q did not count: the question is %s", tt.counts, got.Status)
				}
			}
			// The button asks for a confirmation, and then the answer counts.
			again := approval("Deploy to production?")
			again.Risk, again.LeastAssurance = fermata.RiskHigh, fermata.AssuranceChannel
			q := l.server.ask(again)
			m, _ := l.send(t, q)
			if err := l.Reply(l.ada, m, standin.Reply{Answers: map[string]any{"decision": "approve"}}); err != nil {
				t.Fatal(err)
			}
			l.server.awaitHeard(t, 1)
			if got := l.server.current(q.ID); got.Status != fermata.Answered || got.Resolution.Answer != fermata.Approve {
				t.Errorf("the button did not count: %+v", got)
			}
		})
	}
}
