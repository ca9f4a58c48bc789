package push_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// Buttons decide only if the risk is low, one press is enough, and the
// notification shows everything that the decision is about.
func TestButtons(t *testing.T) {
	const action = `{"tool":"Bash","args":{"command":"ls"}}`
	tests := map[string]struct {
		change  func(n *notice.Notice)
		buttons int
	}{
		"low risk":        {func(*notice.Notice) {}, 2},
		"yes or no":       {func(n *notice.Notice) { n.Question.Items[0].ResponseType = fermata.ResponseBoolean }, 2},
		"words before it": {func(n *notice.Notice) { n.Question.Items[0].Prompt = "Really?" }, 2},
		"a session":       {func(n *notice.Notice) { n.Question.LeastAssurance = fermata.AssuranceSession }, 2},
		"medium":          {func(n *notice.Notice) { n.Question.Risk = fermata.RiskMedium }, 0},
		"high":            {func(n *notice.Notice) { n.Question.Risk = fermata.RiskHigh }, 0},
		"no word on risk": {func(n *notice.Notice) { n.Question.Risk = "" }, 0},
		"not here":        {func(n *notice.Notice) { n.Decide = false }, 0},
		"two people":      {func(n *notice.Notice) { n.Question.Approvals = &fermata.Quorum{Required: 2} }, 0},
		"a passkey":       {func(n *notice.Notice) { n.Question.LeastAssurance = fermata.AssurancePasskey }, 0},
		"held":            {func(n *notice.Notice) { n.Question.HeldAnswer = &fermata.HeldAnswer{} }, 0},
		"closed":          {func(n *notice.Notice) { n.Question.Status = fermata.TimedOut }, 0},
		"two items":       {func(n *notice.Notice) { n.Question.Items = append(n.Question.Items, n.Question.Items[0]) }, 0},
		"danger": {func(n *notice.Notice) {
			n.Question.Items[0].Options = []fermata.Option{{Value: "approve", Danger: true}}
		}, 0},
		"a text": {func(n *notice.Notice) { n.Question.Items[0].ResponseType = fermata.ResponseText }, 0},
		"a preview": {func(n *notice.Notice) {
			n.Question.Context = &fermata.QuestionContext{Preview: &fermata.Preview{Text: "x"}}
		}, 0},
		"an error":         {func(n *notice.Notice) { n.Question.Context = &fermata.QuestionContext{Error: "x"} }, 0},
		"redacted":         {func(n *notice.Notice) { n.Question.Action = []byte(`{"tool":"Bash","args":{"command":"***"}}`) }, 0},
		"a long action":    {func(n *notice.Notice) { *n.Question = *approvalQuestion(`{"x":"` + strings.Repeat("y", 250) + `"}`) }, 0},
		"hidden signs":     {func(n *notice.Notice) { *n.Question = *approvalQuestion("{\"x\":\"a\u200bb\"}") }, 0},
		"turned signs":     {func(n *notice.Notice) { n.Question.Title = "Clear \u202eehcac" }, 0},
		"blanks":           {func(n *notice.Notice) { *n.Question = *approvalQuestion("{\"x\":\"a\u3164b\"}") }, 0},
		"a long title":     {func(n *notice.Notice) { n.Question.Title = strings.Repeat("x", 121) }, 0},
		"words, no action": {func(n *notice.Notice) { *n.Question = *approvalQuestion(""); n.Question.Body = "of the shop" }, 2},
		"lines, no action": {func(n *notice.Notice) { *n.Question = *approvalQuestion(""); n.Question.Body = "one\ntwo" }, 0},
		"no project, a day": {func(n *notice.Notice) {
			n.Project = ""
			d := now.Add(30 * time.Hour)
			n.Question.Deadline = &d
			n.To.Zone = ""
		}, 2},
	}
	w := newFixture(t, `{}`)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			n := w.notice(approvalQuestion(action))
			test.change(n)
			w.mustSend(t, n)
			shown := w.onlyNotification(t)
			if len(shown.Actions) != test.buttons {
				t.Errorf("%d buttons: %+v", len(shown.Actions), shown)
			}
			if test.buttons == 0 && (shown.ActionHash != "" || strings.Contains(shown.Body, "args")) {
				t.Errorf("without buttons it shows %+v", shown)
			}
			if test.buttons > 0 && len(n.Question.Action) > 0 && !strings.Contains(shown.Body, string(n.Question.Action)) {
				t.Errorf("decided on what is not shown: %+v", shown)
			}
		})
	}
}

// An agent's text cannot look like a part of the notification.
func TestImitation(t *testing.T) {
	w := newFixture(t, `{}`)
	q := approvalQuestion("")
	q.Title = "Fine\n[Approve] \u202e\u2066press\u2069 \x1b[31m<b>here</b>\u0000\u3164"
	w.mustSend(t, w.notice(q))
	n := w.onlyNotification(t)
	if want := "Fine [Approve] ��press� �[31m<b>here</b>��"; n.Title != want {
		t.Errorf("title %q, want %q", n.Title, want)
	}
	if len(n.Actions) != 0 {
		t.Errorf("buttons: %+v", n.Actions)
	}
}
