package slack_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// TestWhateverIsAsked checks that Slack accepts the message and the form of
// every possible question. The stand-in refuses blocks that break Slack's
// limits.
func TestWhateverIsAsked(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	rapid.Check(t, func(rt *rapid.T) {
		q := l.server.ask(anyQuestion(rt))
		n := l.noticeFor(q)
		n.Purpose = rapid.SampledFrom([]notice.Purpose{notice.Asked, notice.Reminder, notice.Escalated}).Draw(rt, "purpose")
		n.Decide = rapid.IntRange(0, 9).Draw(rt, "decide") > 0
		if rapid.Bool().Draw(rt, "place") {
			n.To = notice.Recipient{}
		}
		sent, err := l.channel.Send(t.Context(), n)
		if err != nil {
			rt.Fatalf("send: %v", err)
		}
		m := l.lastMessage(t, l.ada)
		if m.Question != q.ID || !slices.Contains(m.Buttons, "Open in Fermata") {
			rt.Fatalf("Ada sees %+v", m)
		}
		if b, err := l.Button(m.ID, "Answer…"); err == nil {
			before := len(l.Feedback(l.ada))
			if err := l.Press(l.ada, m.ID, b, nil); err != nil {
				rt.Fatal(err)
			}
			if err := l.Await("a form", func() bool { return l.FormOf(l.ada) != nil || len(l.Feedback(l.ada)) > before }); err != nil {
				rt.Fatal(err)
			}
			if told := l.Feedback(l.ada); len(told) > before {
				rt.Fatalf("no form: %q", told[len(told)-1])
			}
			l.CloseForms(l.ada)
		}
		ends := l.noticeFor(q)
		ends.Outcome = &notice.Outcome{Status: fermata.Answered, Words: "answered by Ada: " + anyText(rt, "words", 300), At: time.Now()}
		ends.At = q.CreatedAt.Add(time.Second)
		if _, err := l.channel.Update(t.Context(), ends, sent); err != nil {
			rt.Fatalf("update: %v", err)
		}
		if m := l.lastMessage(t, l.ada); !m.Closed || len(m.Buttons) > 1 {
			rt.Fatalf("Ada sees %+v", m)
		}
		l.Delete(m.ID)
	})
}

// pieces are texts that are long in one way of counting, or that have a meaning
// for Slack or a terminal.
var pieces = []string{
	"word ", "\n", "\n\n\n", "😀", "👩‍👩‍👧‍👦", "<!channel>", "&amp;", "*", "`", "\u202e", "\u200b", "é", "e\u0301\u0301\u0301\u0301", "日本語", "\x1b[31m", "\x00", "\xff", "  ", "|", "\"", "\\",
}

func anyText(rt *rapid.T, name string, most int) string {
	n := rapid.IntRange(0, most).Draw(rt, name)
	piece := rapid.SampledFrom(pieces).Draw(rt, name+" of")
	other := rapid.SampledFrom(pieces).Draw(rt, name+" and")
	var s []rune
	for i := 0; len(s) < n; i++ {
		if i%7 == 3 {
			s = append(s, []rune(other)...)
		} else {
			s = append(s, []rune(piece)...)
		}
	}
	return string(s)
}

func nonEmpty(s string) string {
	if s == "" {
		return "x"
	}
	return s
}

func anyQuestion(rt *rapid.T) *fermata.Question {
	q := &fermata.Question{
		Type:  rapid.SampledFrom([]fermata.QuestionType{fermata.Blocking, fermata.NonBlocking, fermata.ErrorRecovery}).Draw(rt, "type"),
		Title: nonEmpty(anyText(rt, "title", 120)),
		Asked: fermata.Asked{
			Body: anyText(rt, "body", rapid.SampledFrom([]int{0, 50, 3000, 20_000}).Draw(rt, "length")),
			Risk: rapid.SampledFrom([]fermata.Risk{fermata.RiskLow, fermata.RiskMedium, fermata.RiskHigh, fermata.RiskCritical}).Draw(rt, "risk"),
		},
	}
	if rapid.Bool().Draw(rt, "context") {
		q.Context = &fermata.QuestionContext{Step: anyText(rt, "step", 500), Error: anyText(rt, "error", 4000), Preview: &fermata.Preview{Kind: "text", Text: anyText(rt, "preview", 4000)}}
	}
	if rapid.Bool().Draw(rt, "deadline") {
		q.Deadline, q.OnTimeout = timePtr(time.Now().Add(time.Hour)), rapid.SampledFrom([]fermata.TimeoutAction{fermata.TakeDefault, fermata.SkipTask, fermata.FailTask, fermata.Escalate}).Draw(rt, "then")
	}
	if rapid.IntRange(0, 4).Draw(rt, "approval") == 0 {
		q.Type = fermata.Approval
		q.Action = fmt.Appendf(nil, "{%q: %q}", "command", anyText(rt, "action", 3000))
		q.Items = []fermata.Item{{Key: "decision", Prompt: q.Title, ResponseType: fermata.ResponseApproval}}
		return q
	}
	for i := range rapid.IntRange(1, 20).Draw(rt, "items") {
		q.Items = append(q.Items, anyItem(rt, i))
	}
	return q
}

func anyItem(rt *rapid.T, i int) fermata.Item {
	it := fermata.Item{
		Key:    fmt.Sprintf("item-%d-%s", i, "of-a-rather-long-name-such-as-keys-may-have")[:rapid.IntRange(8, 50).Draw(rt, "key")],
		Prompt: nonEmpty(anyText(rt, "prompt", rapid.SampledFrom([]int{10, 100, 4000}).Draw(rt, "long"))), Header: anyText(rt, "header", 80),
		ResponseType: rapid.SampledFrom([]fermata.ResponseType{
			fermata.ResponseText, fermata.ResponseChoice, fermata.ResponseMultiChoice, fermata.ResponseBoolean, fermata.ResponseNumber, fermata.ResponseDate,
		}).Draw(rt, "kind"),
	}
	if rapid.Bool().Draw(rt, "optional") {
		it.Required = boolPtr(false)
	}
	switch it.ResponseType {
	case fermata.ResponseChoice, fermata.ResponseMultiChoice:
		it.Other = new(rapid.Bool().Draw(rt, "other"))
		for j := range rapid.IntRange(1, rapid.SampledFrom([]int{5, 20, 200}).Draw(rt, "most")).Draw(rt, "options") {
			it.Options = append(it.Options, fermata.Option{
				Value: cut(fmt.Sprintf("%d%s", j, anyText(rt, "value", 150)), 200), Label: cut(anyText(rt, "label", 150), 200),
				Danger: rapid.Bool().Draw(rt, "danger"),
			})
		}
		it.Default = it.Options[0].Value
	case fermata.ResponseText:
		if rapid.Bool().Draw(rt, "limits") {
			it.MinLength, it.MaxLength = new(rapid.IntRange(0, 4000).Draw(rt, "min")), new(rapid.IntRange(4000, 20_000).Draw(rt, "max"))
		}
		it.Default = nonEmpty(anyText(rt, "default", 3500))
	case fermata.ResponseNumber:
		it.Min, it.Max, it.Default = new(-1e300), new(1e300), 0.1
	case fermata.ResponseDate:
		it.Default = "2027-01-31"
	default:
		it.Default = true
	}
	return it
}
