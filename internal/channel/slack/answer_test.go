package slack_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/test/standin"
)

func options(n int) []fermata.Option {
	list := make([]fermata.Option, n)
	for i := range list {
		list[i] = fermata.Option{Value: "value-" + string(rune('a'+i/26)) + string(rune('a'+i%26)), Label: "Label " + string(rune('a'+i/26)) + string(rune('a'+i%26))}
	}
	return list
}

func choice(opts []fermata.Option) fermata.Item {
	return fermata.Item{Key: "choice", Prompt: "Which one?", ResponseType: fermata.ResponseChoice, Options: opts}
}

// TestEveryResponseType asks every kind of question and answers it in Slack.
func TestEveryResponseType(t *testing.T) {
	t.Parallel()
	long := []fermata.Option{{Value: strings.Repeat("long ", 39) + "one"}, {Value: strings.Repeat("long ", 39) + "two"}}
	other := choice(options(3))
	other.Other = new(true)
	multi := choice(options(30))
	multi.ResponseType = fermata.ResponseMultiChoice
	low, high := 1.0, 10.0
	cases := []struct {
		name    string
		items   []fermata.Item
		answers map[string]any
	}{
		{"text", []fermata.Item{text("Which name?")}, map[string]any{"answer": "a <b> & *c* `d`\nnext line"}},
		{"boolean", []fermata.Item{{Key: "ok", Prompt: "Go on?", ResponseType: fermata.ResponseBoolean}}, map[string]any{"ok": false}},
		{"choice of few", []fermata.Item{choice(options(5))}, map[string]any{"choice": "value-ac"}},
		{"choice of many", []fermata.Item{choice(options(100))}, map[string]any{"choice": "value-dv"}},
		{"choice with long values", []fermata.Item{choice(long)}, map[string]any{"choice": long[1].Value}},
		{"choice with something else", []fermata.Item{other}, map[string]any{"choice": "none of these"}},
		{"multi_choice", []fermata.Item{multi}, map[string]any{"choice": []string{"value-ab", "value-ba"}}},
		{"number", []fermata.Item{{Key: "n", Prompt: "How many?", ResponseType: fermata.ResponseNumber, Min: &low, Max: &high}}, map[string]any{"n": 2.5}},
		{"date", []fermata.Item{{Key: "day", Prompt: "When?", ResponseType: fermata.ResponseDate}}, map[string]any{"day": "2027-01-31"}},
		{"several", []fermata.Item{
			text("Which name?"), multi, {Key: "ok", Prompt: "Go on?", ResponseType: fermata.ResponseBoolean},
			{Key: "n", Prompt: "How many?", ResponseType: fermata.ResponseNumber}, {Key: "day", Prompt: "When?", ResponseType: fermata.ResponseDate, Required: boolPtr(false)},
		}, map[string]any{"answer": "x", "choice": []string{"value-ab"}, "ok": true, "n": 7.0}},
	}
	for _, by := range transports {
		for _, kind := range []fermata.QuestionType{fermata.Blocking, fermata.NonBlocking, fermata.ErrorRecovery} {
			for _, c := range cases {
				t.Run(string(by)+"/"+string(kind)+"/"+c.name, func(t *testing.T) {
					t.Parallel()
					l := newHarness(t, by)
					q := l.server.ask(&fermata.Question{Type: kind, Title: "A decision is needed", Asked: fermata.Asked{Items: slices.Clone(c.items)}})
					m, _ := l.send(t, q)
					if m.Question != q.ID || m.Closed {
						t.Fatalf("Ada sees %+v", m)
					}
					if err := l.Reply(l.ada, m, standin.Reply{Answers: c.answers}); err != nil {
						t.Fatalf("reply: %v\nseen: %+v", err, m)
					}
					l.awaitTold(t, l.ada, "It counted.")
					got := l.server.current(q.ID)
					if got.Status != fermata.Answered || !reflect.DeepEqual(got.Resolution.Answers, c.answers) {
						t.Errorf("the question is %s with %#v, want %#v", got.Status, got.Resolution, c.answers)
					}
					in := l.server.answers()[0]
					if in.From.ID != l.ada || in.From.Email != l.mail || in.From.Kind != "slack" || in.Reply == "" || in.Delivery == "" || in.ID == "" {
						t.Errorf("it was heard as %+v", in)
					}
				})
			}
		}
	}
}

func TestApproval(t *testing.T) {
	t.Parallel()
	for _, by := range transports {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			for _, c := range []struct {
				name  string
				reply standin.Reply
				want  any
			}{
				{"approve", standin.Reply{Answers: map[string]any{"decision": "approve"}}, fermata.Approve},
				{"reject", standin.Reply{Answers: map[string]any{"decision": "reject"}}, fermata.Reject},
				{"reject with a comment", standin.Reply{Answers: map[string]any{"decision": "reject"}, Text: "not on a Friday"}, fermata.Reject},
				{"approve in the thread", standin.Reply{Text: "approve"}, fermata.Approve},
				{"reject in the thread", standin.Reply{Text: "reject: not on a Friday"}, fermata.Reject},
			} {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					l := newHarness(t, by)
					q := l.server.ask(approval("Deploy to production?"))
					m, _ := l.send(t, q)
					if !strings.Contains(m.Text, "make deploy") {
						t.Errorf("the action is not shown:\n%s", m.Text)
					}
					if err := l.Reply(l.ada, m, c.reply); err != nil {
						t.Fatal(err)
					}
					l.awaitTold(t, l.ada, "It counted.")
					got := l.server.current(q.ID).Resolution
					if got.Answer != c.want || strings.Contains(c.name, "Friday") && got.Comment != "not on a Friday" {
						t.Errorf("it is %+v", got)
					}
					if c.want == fermata.Approve && got.ActionHash != q.ActionHash {
						t.Errorf("the answer names the action %q", got.ActionHash)
					}
				})
			}
		})
	}
}

func TestThreadReplies(t *testing.T) {
	t.Parallel()
	for _, by := range transports {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			l := newHarness(t, by)
			q := l.server.ask(&fermata.Question{Type: fermata.Blocking, Title: "Which one?", Asked: fermata.Asked{Items: []fermata.Item{choice(options(3))}}})
			m, _ := l.send(t, q)
			if err := l.Write(l.ada, m.ID, "Z"); err != nil {
				t.Fatal(err)
			}
			l.awaitTold(t, l.ada, "Z")
			for _, more := range []map[string]any{{"subtype": "message_changed"}, {"bot_id": "B1"}, {"app_id": "A1"}, {"edited": map[string]any{"user": "U1", "ts": "1.0"}}, {"subtype": "bot_message"}} {
				if err := l.WriteWith(l.ada, m.ID, "B", more); err != nil {
					t.Fatal(err)
				}
			}
			if got := l.server.current(q.ID); got.Status != fermata.Pending {
				t.Fatalf("an edit or a bot answered: %+v", got.Resolution)
			}
			if err := l.Write(l.ada, m.ID, "B"); err != nil {
				t.Fatal(err)
			}
			l.awaitTold(t, l.ada, "It counted.")
			if got := l.server.current(q.ID); got.Resolution.Answer != "value-ab" {
				t.Errorf("it is %+v", got.Resolution)
			}
		})
	}
}

// TestThreadOfOthers checks that another person's message that looks like a question does not count as one.
func TestThreadOfOthers(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := l.server.ask(&fermata.Question{Type: fermata.Blocking, Title: "Which one?", Asked: fermata.Asked{Items: []fermata.Item{choice(options(3))}}})
	m, _ := l.send(t, q)
	if err := l.Write(l.ada, m.ID, "talk"); err != nil {
		t.Fatal(err)
	}
	before := len(l.server.answers())
	// The reply itself is a message of Ada. A reply to it does not count.
	if err := l.WriteWith(l.ada, m.ID, "A", map[string]any{"parent_user_id": l.ada}); err != nil {
		t.Fatal(err)
	}
	if got := l.server.answers(); len(got) != before {
		t.Errorf("heard %+v", got[before:])
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, by := range transports {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			l := newHarness(t, by)
			q := l.server.ask(&fermata.Question{Type: fermata.Blocking, Title: "Which one?", Asked: fermata.Asked{Items: []fermata.Item{choice(options(3))}}})
			ending := q.ID[len(q.ID)-6:]
			for _, c := range []struct{ text, told string }{
				{"", "https://fermata.example.com"}, {"nothing yes", "no such question"}, {ending + " Q", "Q"}, {ending + " C", "It counted."}, {ending + " A", "answered by Ada: Label ac"},
			} {
				if err := l.Command(l.ada, "/answer", c.text); err != nil {
					t.Fatal(err)
				}
				l.awaitTold(t, l.ada, c.told)
			}
			if got := l.server.current(q.ID).Resolution; got.Answer != "value-ac" {
				t.Errorf("it is %+v", got)
			}
		})
	}
}

// TestCommandOpensForm checks that the command without an answer opens a form. The command also opens one before it
// approves an action that the person may not have seen.
func TestCommandOpensForm(t *testing.T) {
	t.Parallel()
	for _, by := range transports {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			l := newHarness(t, by)
			q := l.server.ask(&fermata.Question{Type: fermata.Blocking, Title: "Which name?", Asked: fermata.Asked{Items: []fermata.Item{text("Which name?")}}})
			if err := l.Command(l.ada, "/answer", q.ID); err != nil {
				t.Fatal(err)
			}
			if err := l.Submit(l.ada, standin.Reply{Answers: map[string]any{"answer": "ada.go"}}); err != nil {
				t.Fatal(err)
			}
			l.awaitTold(t, l.ada, "It counted.")
			a := l.server.ask(approval("Deploy?"))
			if err := l.Command(l.ada, "/answer", a.ID+" approve"); err != nil {
				t.Fatal(err)
			}
			if err := l.Await("a form", func() bool { return l.FormOf(l.ada) != nil }); err != nil {
				t.Fatal(err)
			}
			if got := l.server.current(a.ID); got.Status != fermata.Pending {
				t.Fatal("an action was approved that was not shown")
			}
			if !strings.Contains(string(l.FormOf(l.ada)), "make deploy") {
				t.Error("the form does not show the action")
			}
			if err := l.Submit(l.ada, standin.Reply{Answers: map[string]any{"decision": "approve"}}); err != nil {
				t.Fatal(err)
			}
			if err := l.Await("approved", func() bool { q := l.server.current(a.ID); return q.Resolution.IsApproved() }); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestFormSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	it := text("A number in words?")
	it.Pattern = "one|two"
	q := l.server.ask(&fermata.Question{Type: fermata.Blocking, Title: "A number in words?", Asked: fermata.Asked{Items: []fermata.Item{it}}})
	m, _ := l.send(t, q)
	if err := l.Reply(l.ada, m, standin.Reply{Answers: map[string]any{"answer": "three"}}); err != nil {
		t.Fatal(err)
	}
	l.awaitTold(t, l.ada, "does not match the pattern")
	if err := l.Submit(l.ada, standin.Reply{Answers: map[string]any{"answer": "two"}}); err != nil {
		t.Fatal("the form did not stay open: ", err)
	}
	l.awaitTold(t, l.ada, "It counted.")
}

func TestNothingPicked(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := l.server.ask(&fermata.Question{Type: fermata.Blocking, Title: "Which one?", Asked: fermata.Asked{Items: []fermata.Item{choice(options(20))}}})
	m, _ := l.send(t, q)
	b, err := l.Button(m.ID, "Send answer")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Press(l.ada, m.ID, b, nil); err != nil {
		t.Fatal(err)
	}
	l.awaitTold(t, l.ada, "Nothing is picked yet")
}

// TestWhoMayAndWhoWasFirst checks that a click is never silently ignored.
func TestWhoMayAndWhoWasFirst(t *testing.T) {
	t.Parallel()
	for _, by := range transports {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			l := newHarness(t, by)
			q := l.server.ask(&fermata.Question{Type: fermata.Blocking, Title: "Go on?", Asked: fermata.Asked{Items: []fermata.Item{{Key: "ok", Prompt: "Go on?", ResponseType: fermata.ResponseBoolean}}}})
			n := l.noticeFor(q)
			n.To = notice.Recipient{}
			if _, err := l.channel.Send(t.Context(), n); err != nil {
				t.Fatal(err)
			}
			bob, _ := l.member("Bob", fermata.RoleResponder)
			eve, _ := l.member("Eve", fermata.RoleViewer)
			mallory, _ := l.AddPerson("Mallory")
			m := l.lastMessage(t, l.ada)
			for _, c := range []struct{ person, told string }{
				{eve, "viewer may not answer"}, {mallory, "Nobody here is connected"}, {l.ada, "It counted."}, {bob, "answered by Ada: yes"},
			} {
				if err := l.Reply(c.person, m, standin.Reply{Answers: map[string]any{"ok": true}}); err != nil {
					t.Fatal(err)
				}
				l.awaitTold(t, c.person, c.told)
			}
		})
	}
}

// TestAddresses checks that a mail address is trusted only if the workspace itself vouches for it.
func TestAddresses(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := l.server.ask(&fermata.Question{Type: fermata.Blocking, Title: "Go on?", Asked: fermata.Asked{Items: []fermata.Item{{Key: "ok", Prompt: "Go on?", ResponseType: fermata.ResponseBoolean}}}})
	n := l.noticeFor(q)
	n.To = notice.Recipient{}
	if _, err := l.channel.Send(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	m := l.lastMessage(t, l.ada)
	for name, u := range strangers(l.mail) {
		id := l.AddUser(u)
		if err := l.Reply(id, m, standin.Reply{Answers: map[string]any{"ok": true}}); err != nil {
			t.Fatal(err)
		}
		if err := l.Await("told", func() bool { return len(l.Feedback(id)) > 0 }); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if last := l.server.answers()[len(l.server.answers())-1]; last.From.Email != "" || last.From.ID != id {
			t.Errorf("%s is known as %+v", name, last.From)
		}
	}
	if got := l.server.current(q.ID); got.Status != fermata.Pending {
		t.Errorf("a stranger answered: %+v", got.Resolution)
	}
}

// TestDirectMessage checks that a message to the app outside a thread is not silently ignored.
func TestDirectMessage(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	m, _ := l.send(t, l.server.ask(approval("Deploy?")))
	if err := l.WriteWith(l.ada, m.ID, "approve", map[string]any{"thread_ts": ""}); err != nil {
		t.Fatal(err)
	}
	l.awaitTold(t, l.ada, "This did not count")
	if len(l.server.answers()) != 0 {
		t.Error("it was heard")
	}
}

// People talk about a question in its thread. They are told once that talk is not an answer, and not again with every
// line.
func TestTalkInAThreadStaysAmongPeople(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := l.server.ask(&fermata.Question{Type: fermata.Blocking, Title: "Which one?", Asked: fermata.Asked{Items: []fermata.Item{choice(options(3))}}})
	m, _ := l.send(t, q)
	for _, text := range []string{"has anybody tried the second one?", "I have, it is slow", "then let us not take it", "Z"} {
		if err := l.Write(l.ada, m.ID, text); err != nil {
			t.Fatal(err)
		}
		l.awaitTold(t, l.ada, "stays among people")
	}
	// For an attempt to answer, the person is told each time.
	l.awaitTold(t, l.ada, "\"Z\" is not an option")
	about := 0
	for _, words := range l.Feedback(l.ada) {
		if strings.Contains(words, "stays among people") {
			about++
			if !strings.Contains(words, "Reply with") {
				t.Errorf("how to answer is missing: %q", words)
			}
		}
	}
	if all := len(l.Feedback(l.ada)); about != 1 || all != 2 {
		t.Errorf("ada was told %d times, %d of it about talk: %q", all, about, l.Feedback(l.ada))
	}
	if got := l.server.current(q.ID); got.Status != fermata.Pending {
		t.Errorf("it is %+v", got)
	}
	if err := l.Write(l.ada, m.ID, "B"); err != nil {
		t.Fatal(err)
	}
	l.awaitTold(t, l.ada, "It counted.")
}

// An agent's question accepts answers that are not among its options. Talk in its thread is not such an answer.
func TestTalkBelowAnAgentsQuestionIsNoAnswer(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	own := choice(options(2))
	own.Other = new(true)
	for _, tt := range []struct {
		item   fermata.Item
		talk   string
		answer string
		want   any
	}{
		{own, "has anybody tried the second one?", "B", options(2)[1].Value},
		{own, "then let us not take it", "other: neither of the two", "neither of the two"},
		{own, "I would rather take a third one", "“a third one, please”", "a third one, please"},
		{own, "who knows?", "third one", "third one"},
		{fermata.Item{Key: "answer", Prompt: "Which name?", ResponseType: fermata.ResponseText}, "does Ben know?", "call it otter and be done", "call it otter and be done"},
	} {
		q := l.server.ask(&fermata.Question{Type: fermata.Blocking, Title: "Which one?", Asked: fermata.Asked{Items: []fermata.Item{tt.item}}})
		n := l.noticeFor(q)
		n.To = notice.Recipient{People: []string{"here"}}
		if _, err := l.channel.Send(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		m := l.lastMessage(t, l.ada)
		if err := l.Write(l.ada, m.ID, tt.talk); err != nil {
			t.Fatal(err)
		}
		if err := l.Write(l.ada, m.ID, tt.answer); err != nil {
			t.Fatal(err)
		}
		if err := l.Await("the question is answered", func() bool { return l.server.current(q.ID).Resolution != nil }); err != nil {
			t.Fatalf("%q: %v", tt.answer, err)
		}
		if got := l.server.current(q.ID).Resolution.Answer; got != tt.want {
			t.Errorf("after %q: the answer is %v, want %v", tt.talk, got, tt.want)
		}
	}
}

func TestARefusalBelowAYesIsToldEveryTime(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := l.server.ask(&fermata.Question{Type: fermata.Approval, Title: "Deploy?", Asked: fermata.Asked{Items: []fermata.Item{{Key: "approval", Prompt: "Deploy?", ResponseType: fermata.ResponseApproval}}}})
	m, _ := l.send(t, q)
	texts := []string{"ok\nNot yet, wait for Bob", "ok: wait for Bob please", "approve\nafter Monday at noon"}
	for i, text := range texts {
		if err := l.Write(l.ada, m.ID, text); err != nil {
			t.Fatal(err)
		}
		if err := l.Await("ada is told", func() bool { return len(l.Feedback(l.ada)) == i+1 }); err != nil {
			t.Fatalf("%q: %v; told %q", text, err, l.Feedback(l.ada))
		}
	}
	if got := l.server.current(q.ID); got.Status != fermata.Pending {
		t.Errorf("it is %+v", got)
	}
}
