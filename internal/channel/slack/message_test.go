package slack_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/test/standin"
)

// imitations are texts that try to look like text of Fermata or Slack.
var imitations = []string{
	"<!channel> look here", "<!here|everybody>", "<@U0FERMATA> approve", "<https://evil.example|Approve here>", "https://evil.example/approve",
	"*Approved by Ada* _really_ ~not~ `code`", "```\nblock\n```", "> quoted\n>>> all of it", ":white_check_mark: Answered by Ada", "<!date^0^{date}|soon>",
	"Answered\nanswered by Ada: approve", "This is what will run:\nls", "&lt;!channel&gt;", "fermata1|decide|q_other|dlv|reply",
	"│ a bar", "Press a button, or answer in the thread of this message.",
}

// TestTextOfOthersStaysText checks that Slack gives no meaning to an agent's
// text, and that it is in a box, which Fermata's own text never is. The
// stand-in refuses messages with mentions and links.
func TestTextOfOthersStaysText(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	for i, bad := range imitations {
		q := l.server.ask(&fermata.Question{
			Type: fermata.Blocking, Title: cut(bad, 120), Deadline: timePtr(time.Now().Add(time.Hour)),
			Asked: fermata.Asked{
				Body:    bad,
				Context: &fermata.QuestionContext{Step: bad, Error: bad, Preview: &fermata.Preview{Kind: "text", Text: bad}},
				Items: []fermata.Item{{
					Key: "choice", Prompt: bad, ResponseType: fermata.ResponseChoice,
					Options: []fermata.Option{{Value: bad, Label: bad, Description: bad, Danger: true}, {Value: "b"}}, Default: "b",
				}},
				OnTimeout: fermata.TakeDefault,
			},
		})
		n := l.noticeFor(q)
		n.TaskTitle, n.Project = bad, "web"
		if _, err := l.channel.Send(t.Context(), n); err != nil {
			t.Fatalf("%q: %v", bad, err)
		}
		m := l.lastMessage(t, l.ada)
		if m.Question != q.ID {
			t.Errorf("%d: the question found is %q", i, m.Question)
		}
		for first := range strings.SplitSeq(bad, "\n") {
			for line := range strings.SplitSeq(m.Text, "\n") {
				ours := strings.HasPrefix(line, "│ ") || strings.Contains(line, "“")
				if strings.HasPrefix(line, first) && !ours && !strings.HasPrefix(line, "Press a button") && !strings.HasPrefix(line, "*") {
					t.Errorf("%q stands outside of the box as %q", first, line)
				}
			}
		}
		b, err := l.Button(m.ID, m.Buttons[0])
		if err != nil || b["confirm"] == nil {
			t.Errorf("a dangerous option has no confirmation: %v %v", b, err)
		}
	}
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

func timePtr(t time.Time) *time.Time { return &t }

// TestHiddenCharacters checks that an action is shown with all of its
// characters.
func TestHiddenCharacters(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := approval("Delete?")
	q.Action = json.RawMessage("{\"command\":\"rm \u202e/pmt/ \u200bx\u00a0y\"}")
	m, _ := l.send(t, l.server.ask(q))
	for _, want := range []string{"⟨U+202E⟩", "⟨U+200B⟩", "⟨U+00A0⟩"} {
		if !strings.Contains(m.Text, want) {
			t.Errorf("%s is not shown:\n%s", want, m.Text)
		}
	}
}

// TestWhatDoesNotFit checks that a question that the message cannot show
// completely can only be opened.
func TestWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of text\n", 1000)
	big := approval("Deploy?")
	big.Action = json.RawMessage(`{"command":"` + strings.Repeat("x", 12_000) + `"}`)
	lengthy := text("Write a book")
	lengthy.MinLength = new(5000)
	opts := options(101)
	cases := map[string]*fermata.Question{
		"a long body":     {Type: fermata.Blocking, Title: "Go on?", Asked: fermata.Asked{Body: long, Items: []fermata.Item{{Key: "ok", Prompt: "Go on?", ResponseType: fermata.ResponseBoolean}}}},
		"a long action":   big,
		"a long preview":  {Type: fermata.Blocking, Title: "Go on?", Asked: fermata.Asked{Context: &fermata.QuestionContext{Preview: &fermata.Preview{Kind: "diff", Text: long}}, Items: []fermata.Item{text("Go on?")}}},
		"many options":    {Type: fermata.Blocking, Title: "Which?", Asked: fermata.Asked{Items: []fermata.Item{choice(opts)}}},
		"a long text":     {Type: fermata.Blocking, Title: "Write", Asked: fermata.Asked{Items: []fermata.Item{lengthy}}},
		"many long items": {Type: fermata.Blocking, Title: "Which?", Asked: fermata.Asked{Items: manyItems()}},
	}
	for name, q := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newHarness(t, overHTTP)
			q = l.server.ask(q)
			m, _ := l.send(t, q)
			if !slices.Equal(m.Buttons, []string{"Open in Fermata"}) {
				t.Errorf("it offers %q", m.Buttons)
			}
			if !strings.Contains(m.Text, "open it") {
				t.Errorf("it does not say why:\n%s", m.Text)
			}
			if err := l.Write(l.ada, m.ID, "approve"); err != nil {
				t.Fatal(err)
			}
			l.awaitTold(t, l.ada, "decided in Fermata")
			if len(l.server.answers()) != 0 {
				t.Error("a reply below it was heard")
			}
		})
	}
}

func manyItems() []fermata.Item {
	items := make([]fermata.Item, 20)
	for i := range items {
		items[i] = choice(options(60))
		items[i].Key = fmt.Sprintf("item-%d", i)
		items[i].Prompt = strings.Repeat("prompt ", 500)
	}
	return items
}

// TestLargestThatFits checks that the longest content stays within Slack's
// limits.
func TestLargestThatFits(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	wide := make([]fermata.Option, 40)
	for i := range wide {
		wide[i] = fermata.Option{Value: strings.Repeat("😀", 190) + fmt.Sprint(i), Recommended: i == 0, Danger: i == 1}
	}
	questions := map[string]*fermata.Question{
		"emoji": {Type: fermata.Blocking, Title: strings.Repeat("😀", 120), Asked: fermata.Asked{Items: []fermata.Item{choice(wide[:5])}}},
		"menu":  {Type: fermata.Blocking, Title: "Which?", Asked: fermata.Asked{Items: []fermata.Item{choice(wide[:20])}}},
		"items": {Type: fermata.Blocking, Title: "Which?", Asked: fermata.Asked{Items: twentyItems()}},
		"body":  {Type: fermata.Blocking, Title: "Which?", Asked: fermata.Asked{Body: strings.Repeat("x\n\n\n", 2400), Items: []fermata.Item{text("Which?")}}},
	}
	for name, q := range questions {
		m, _ := l.send(t, l.server.ask(q))
		if len(m.Buttons) < 2 {
			t.Errorf("%s cannot be answered in Slack: %q\n%s", name, m.Buttons, m.Text[len(m.Text)-200:])
		}
	}
}

func twentyItems() []fermata.Item {
	items := make([]fermata.Item, 20)
	for i := range items {
		items[i] = fermata.Item{Key: fmt.Sprintf("item-%d", i), Prompt: "What about this one?", ResponseType: fermata.ResponseText}
	}
	return items
}

// TestNotDecidedHere checks that the message has no deciding buttons if the
// policy demands more.
func TestNotDecidedHere(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	n := l.noticeFor(l.server.ask(approval("Deploy?")))
	n.Decide = false
	if _, err := l.channel.Send(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if m := l.lastMessage(t, l.ada); !slices.Equal(m.Buttons, []string{"Open in Fermata"}) {
		t.Errorf("it offers %q", m.Buttons)
	}
}

// TestWhere checks that the message goes to the person if Slack knows the
// person. Otherwise it goes to the conversation, without context.
func TestWhere(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := l.server.ask(&fermata.Question{
		Type: fermata.ErrorRecovery, Title: "Try again?",
		Asked: fermata.Asked{
			Context: &fermata.QuestionContext{Error: "password is hunter2"},
			Items:   []fermata.Item{{Key: "ok", Prompt: "Try again?", ResponseType: fermata.ResponseBoolean}},
		},
	})
	bob, _ := l.AddPerson("Bob")
	for _, c := range []struct {
		name   string
		to     notice.Recipient
		direct bool
		says   string
	}{
		{"known by id", notice.Recipient{Member: "mem_ada", ID: l.ada}, true, ""},
		{"found by e-mail", notice.Recipient{Member: "mem_ada", Email: l.mail}, true, ""},
		{"somebody unknown", notice.Recipient{Name: "Zoe"}, false, "“Zoe”, whose Slack account is not known"},
		{"nobody", notice.Recipient{}, false, ""},
		{"asked for there", notice.Recipient{Target: "C0ROOM"}, false, ""},
	} {
		before := len(l.VisibleMessages(bob))
		n := l.noticeFor(q)
		n.To = c.to
		if _, err := l.channel.Send(t.Context(), n); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		m := l.lastMessage(t, l.ada)
		if isPublic := len(l.VisibleMessages(bob)) > before; isPublic == c.direct {
			t.Errorf("%s: everybody sees it: %v", c.name, isPublic)
		}
		if strings.Contains(m.Text, "hunter2") != c.direct || !strings.Contains(m.Text, c.says) {
			t.Errorf("%s:\n%s", c.name, m.Text)
		}
	}
}

// TestUnknown checks that a direct message fails for good if Slack does not
// know the person.
func TestUnknown(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	n := l.noticeFor(yesNo(l))
	n.To = notice.Recipient{Member: "mem_zoe", Handle: "zoe", Email: "zoe@example.com"}
	_, err := l.channel.Send(t.Context(), n)
	var failure *notice.SendError
	if !errors.As(err, &failure) || !failure.UnknownPerson || !failure.Final || !strings.Contains(err.Error(), "zoe") {
		t.Errorf("got %v", err)
	}
}

// TestSharedContext checks that an asker can share the context with everybody.
func TestSharedContext(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := l.server.ask(&fermata.Question{
		Type: fermata.ErrorRecovery, Title: "Try again?",
		Asked: fermata.Asked{
			Context: &fermata.QuestionContext{Error: "the disk is full"}, ShareContext: true,
			Items: []fermata.Item{{Key: "ok", Prompt: "Try again?", ResponseType: fermata.ResponseBoolean}},
		},
	})
	n := l.noticeFor(q)
	n.To = notice.Recipient{}
	if _, err := l.channel.Send(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if m := l.lastMessage(t, l.ada); !strings.Contains(m.Text, "the disk is full") {
		t.Errorf("Ada sees %s", m.Text)
	}
}

// TestClosing checks that the message reports every kind of end, and has no
// buttons that answer after it.
func TestClosing(t *testing.T) {
	t.Parallel()
	by := fermata.Actor{Kind: fermata.ActorHuman, Name: "Ada"}
	for name, c := range map[string]struct {
		outcome notice.Outcome
		says    string
	}{
		"answered":  {notice.Outcome{Status: fermata.Answered, Words: "answered by Ada: <!channel> *x*"}, "answered by Ada: <!channel> *x*"},
		"timed out": {notice.Outcome{Status: fermata.TimedOut, Words: "timed out: nobody answered"}, "Nobody answered in time"},
		"withdrawn": {notice.Outcome{Status: fermata.Cancelled, Words: "cancelled by the agent"}, "Withdrawn"},
	} {
		for _, purpose := range []notice.Purpose{notice.Asked, notice.Reminder, notice.Escalated} {
			t.Run(name+"/"+string(purpose), func(t *testing.T) {
				t.Parallel()
				l := newHarness(t, overHTTP)
				n := l.noticeFor(l.server.ask(approval("Deploy?")))
				n.Purpose = purpose
				sent, err := l.channel.Send(t.Context(), n)
				if err != nil {
					t.Fatal(err)
				}
				ended := *n.Question
				ended.Status, ended.Resolution = c.outcome.Status, &fermata.Resolution{Status: c.outcome.Status, AnsweredBy: &by, At: time.Now()}
				done := *n
				outcome := c.outcome
				outcome.At = time.Now()
				done.Question, done.Outcome, done.At = &ended, &outcome, n.At.Add(time.Second)
				final, err := l.channel.Update(t.Context(), &done, sent)
				if err != nil {
					t.Fatal(err)
				}
				m := l.lastMessage(t, l.ada)
				if !m.Closed || !strings.Contains(m.Text, c.says) || !slices.Equal(m.Buttons, []string{"Open in Fermata"}) {
					t.Errorf("Ada sees %q with %q", m.Text, m.Buttons)
				}
				if len(l.VisibleMessages(l.ada)) != 1 {
					t.Errorf("there are %d messages", len(l.VisibleMessages(l.ada)))
				}
				// An older state arrives late, through the same process or
				// another one.
				for _, channel := range []interface {
					Update(ctx ctx, n *notice.Notice, sent notice.SentMessage) (notice.SentMessage, error)
				}{l.channel, open(t, l.Settings())} {
					if _, err := channel.Update(t.Context(), n, final); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := l.channel.Update(t.Context(), n, sent); err != nil {
					t.Fatal(err)
				}
				if got := l.lastMessage(t, l.ada); got.Text != m.Text {
					t.Errorf("something older was written over the end:\n%s", got.Text)
				}
			})
		}
	}
}

// TestUpdateOfOpen checks that votes and a longer deadline appear in the same
// message.
func TestUpdateOfOpen(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := approval("Deploy?")
	q.Approvals = &fermata.Quorum{Required: 2}
	m, sent := l.send(t, l.server.ask(q))
	voted := *q
	voted.Votes = []fermata.Vote{{By: fermata.Actor{Name: "Bob"}, Value: fermata.Approve}}
	n := l.noticeFor(&voted)
	n.At = n.At.Add(time.Second)
	if _, err := l.channel.Update(t.Context(), n, sent); err != nil {
		t.Fatal(err)
	}
	got := l.lastMessage(t, l.ada)
	if got.ID != m.ID || !strings.Contains(got.Text, "Bob: approve") || !slices.Contains(got.Buttons, "Approve") {
		t.Errorf("Ada sees %+v", got)
	}
}

// TestContent checks that the stored content is what was sent, without the
// secret.
func TestContent(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	_, sent := l.send(t, l.server.ask(approval("Deploy?")))
	if !strings.Contains(sent.Content, "make deploy") || strings.Contains(sent.Content, "reply-secret") || !json.Valid([]byte(sent.Content)) {
		t.Errorf("kept is %s", sent.Content)
	}
}

// TestOtherPurposes checks digests, alerts and tests.
func TestOtherPurposes(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	one := l.server.ask(&fermata.Question{Type: fermata.NonBlocking, Title: "Tabs or <!here>?", Asked: fermata.Asked{Items: []fermata.Item{text("?")}}})
	for _, n := range []*notice.Notice{
		{Purpose: notice.Digest, Title: "1 question", Questions: []*fermata.Question{one}, Open: "https://fermata.example.com/inbox"},
		{Purpose: notice.Alert, Title: "Timeouts above <20 %>", Body: "12 of 40 & more"},
		{Purpose: notice.Test, Title: "It works", Body: "This is a test."},
	} {
		n.Delivery = "dlv_" + string(n.Purpose)
		sent, err := l.channel.Send(t.Context(), n)
		if err != nil {
			t.Fatalf("%s: %v", n.Purpose, err)
		}
		if _, err := l.channel.Update(t.Context(), n, sent); err != nil {
			t.Errorf("%s: %v", n.Purpose, err)
		}
		if m := l.lastMessage(t, l.ada); !strings.Contains(m.Text, n.Title) {
			t.Errorf("%s: %q", n.Purpose, m.Text)
		}
	}
	_, err := l.channel.Send(t.Context(), &notice.Notice{Purpose: notice.Event, Raw: json.RawMessage(`{}`)})
	var f sendError
	if !errors.As(err, &f) || !f.Final {
		t.Errorf("an event is %v", err)
	}
}

// TestAMessageSaysWhatAQuestionBelongsTo checks that a question and a digest
// name the task, the project, the risk, the items and the votes.
func TestAMessageSaysWhatAQuestionBelongsTo(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	several := l.server.ask(&fermata.Question{
		Type: fermata.Blocking, Title: "Two things", TaskTitle: "Build it", Project: "web",
		Asked: fermata.Asked{
			Risk:  fermata.RiskMedium,
			Items: []fermata.Item{{Key: "a", Prompt: "Which?", ResponseType: fermata.ResponseText}, {Key: "b", Prompt: "How many?", ResponseType: fermata.ResponseNumber}},
		},
	})
	voted := approval("Deploy?")
	voted.TaskTitle, voted.Project, voted.Risk = "Build it", "web", fermata.RiskHigh
	voted.Approvals = &fermata.Quorum{Required: 2}
	voted.Votes = []fermata.Vote{{By: fermata.Actor{Name: "Ada"}, Value: fermata.Approve}, {By: fermata.Actor{Name: "Bob"}, Value: fermata.Reject}}
	voted = l.server.ask(voted)
	for q, wants := range map[*fermata.Question][]string{
		several: {"Task: “Build it”", "Project: web", "Risk medium", "2 items"},
		voted:   {"Task: “Build it”", "Project: web", "Risk high", "1 of 2 approved, 1 rejected"},
	} {
		m, _ := l.send(t, q)
		for _, want := range wants {
			if !strings.Contains(m.Text, want) {
				t.Errorf("the message of %q lacks %q:\n%s", q.Title, want, m.Text)
			}
		}
	}
	digest := &notice.Notice{Delivery: "dlv_digest", Purpose: notice.Digest, Title: "2 questions", Questions: []*fermata.Question{several, voted}}
	if _, err := l.channel.Send(t.Context(), digest); err != nil {
		t.Fatal(err)
	}
	m := l.lastMessage(t, l.ada)
	for _, want := range []string{"Build it", "web", "risk medium", "2 items", "risk high", "1 of 2 approved, 1 rejected"} {
		if !strings.Contains(m.Text, want) {
			t.Errorf("the digest lacks %q:\n%s", want, m.Text)
		}
	}
}

// TestDeadButton checks that a press on a leftover button repairs the message,
// and that the person is told.
func TestDeadButton(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := l.server.ask(&fermata.Question{Type: fermata.Blocking, Title: "Go on?", Asked: fermata.Asked{Items: []fermata.Item{{Key: "ok", Prompt: "Go on?", ResponseType: fermata.ResponseBoolean}}}})
	m, _ := l.send(t, q)
	l.server.set(func() {
		r := fermata.Resolution{Status: fermata.TimedOut, DecidedBy: fermata.ActorTimeout, At: time.Now().Add(-time.Hour), Outcome: fermata.SkipTask}
		q.Status, q.Resolution = fermata.TimedOut, &r
	})
	if err := l.Reply(l.ada, m, standin.Reply{Answers: map[string]any{"ok": true}}); err != nil {
		t.Fatal(err)
	}
	err := l.Await("corrected", func() bool { return l.lastMessage(t, l.ada).Closed })
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Feedback(l.ada)) != 1 {
		t.Errorf("told %q", l.Feedback(l.ada))
	}
}

// TestSecretsInAction checks that an action with redacted secrets does not
// count as the one that runs.
func TestSecretsInAction(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := l.server.ask(approval("Deploy?"))
	q.Action = json.RawMessage(`{"command":"login [redacted]"}`)
	m, _ := l.send(t, q)
	if !slices.Equal(m.Buttons, []string{"Open in Fermata"}) {
		t.Errorf("it offers %q", m.Buttons)
	}
	if err := l.Command(l.ada, "/answer", q.ID+" approve"); err != nil {
		t.Fatal(err)
	}
	l.awaitTold(t, l.ada, "does not fit a form")
}
