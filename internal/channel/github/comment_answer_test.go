package github_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
	standin "github.com/fermata-hq/fermata/test/standin/github"
)

// forEachTransport runs a test with each of the ways in which comments arrive.
func forEachTransport(t *testing.T, test func(t *testing.T, change map[string]any, hearing func(*fixture))) {
	t.Helper()
	t.Run("webhook", func(t *testing.T) {
		t.Parallel()
		test(t, map[string]any{"poll": "off"}, func(w *fixture) { w.serveWebhooks() })
	})
	t.Run("polling", func(t *testing.T) {
		t.Parallel()
		test(t, map[string]any{"webhook_secret": nil}, func(w *fixture) { w.listen() })
	})
	t.Run("both", func(t *testing.T) {
		t.Parallel()
		test(t, app, func(w *fixture) { w.serveWebhooks(); w.listen() })
	})
}

func TestCommentAnswers(t *testing.T) {
	t.Parallel()
	forEachTransport(t, func(t *testing.T, change map[string]any, hearing func(*fixture)) {
		w := newFixture(t, change)
		w.send(w.question(firstID, choice()))
		hearing(w)
		id := w.comment("ada", "B: people read it\n\nand so do I")
		patience.Await(t, "the answer counts", func() bool { return w.server.countedAnswer(firstID) == "ada: toml" })
		patience.Await(t, "Ada sees that it counts", func() bool { return slices.Equal(w.hub.Reactions(id), []string{"+1"}) })
		late := w.comment("grace", "A")
		patience.Await(t, "Grace sees that it does not", func() bool { return slices.Equal(w.hub.Reactions(late), []string{"confused"}) })
		patience.Await(t, "Grace is told who was first", func() bool {
			return slices.ContainsFunc(w.hub.Feedback("grace"), func(s string) bool { return strings.Contains(s, "answered before, by ada: toml") })
		})
		in := w.server.heardMessages()[0]
		ada := strconv.FormatInt(w.hub.AddUser("ada", "write"), 10)
		if in.From.Kind != "github" || in.From.ID != ada || in.From.Name != "ada" || in.From.DenialReason != "" || in.Question != firstID {
			t.Errorf("heard %+v", in)
		}
	})
}

func TestWhatCountsAsAnAnswer(t *testing.T) {
	t.Parallel()
	number := fermata.Item{Key: "n", Prompt: "How many?", ResponseType: fermata.ResponseNumber}
	date := fermata.Item{Key: "d", Prompt: "When?", ResponseType: fermata.ResponseDate}
	text := fermata.Item{Key: "t", Prompt: "What?", ResponseType: fermata.ResponseText}
	yes := fermata.Item{Key: "y", Prompt: "Really?", ResponseType: fermata.ResponseBoolean}
	approval := fermata.Item{Key: "a", Prompt: "May it?", ResponseType: fermata.ResponseApproval}
	many := choice()
	many.ResponseType = fermata.ResponseMultiChoice
	other := choice()
	other.Other = new(true)
	both := []fermata.Item{yes, text}
	tests := []struct {
		name    string
		items   []fermata.Item
		comment string
		want    string // the text that is passed on; empty if the comment is left alone
	}{
		{"a letter", []fermata.Item{choice()}, "b", "b"},
		{"a letter with a sign", []fermata.Item{choice()}, "B)", "B)"},
		{"a letter as it is shown", []fermata.Item{choice()}, "**B**", "B"},
		{"a letter and why", []fermata.Item{choice()}, "B: nicer", "B: nicer"},
		{"a letter that is a word", []fermata.Item{choice()}, "A few words about formats", ""},
		{"a letter of no option", []fermata.Item{choice()}, "C", ""},
		{"the value", []fermata.Item{choice()}, "toml", "toml"},
		{"the value as code", []fermata.Item{choice()}, "`toml`", "toml"},
		{"the value within talk", []fermata.Item{choice()}, "toml is what I would think of", ""},
		{"the label", []fermata.Item{choice()}, "TOML", "TOML"},
		{"the number", []fermata.Item{choice()}, "2", "2"},
		{"the command", []fermata.Item{choice()}, "/answer B", "B"},
		{"the command, loud", []fermata.Item{choice()}, "/Answer  toml ", "toml"},
		{"the command with nonsense", []fermata.Item{choice()}, "/answer whatever", "whatever"},
		{"another command", []fermata.Item{choice()}, "/answered B", ""},
		{"the id", []fermata.Item{choice()}, "/answer " + firstID + " B", "B"},
		{"the end of the id", []fermata.Item{choice()}, "/answer aaaaaa B", "B"},
		{"the id without the command", []fermata.Item{choice()}, firstID + " B", "B"},
		{"below a quotation", []fermata.Item{choice()}, "> - **A** · JSON\n> - **B** · TOML\n\nB", "B"},
		{"within a quotation", []fermata.Item{choice()}, "> B", ""},
		{"on the second line", []fermata.Item{choice()}, "Thanks for asking.\nB", ""},
		{"talk", []fermata.Item{choice()}, "Why do we need a format at all?", ""},
		{"a task list", []fermata.Item{choice()}, "- [x] B", ""},
		{"several", []fermata.Item{many}, "A, B", "A, B"},
		{"several values", []fermata.Item{many}, "json, toml", "json, toml"},
		{"an answer of one's own", []fermata.Item{other}, "other: yaml", "other: yaml"},
		{"talk where one's own is taken", []fermata.Item{other}, "I would use yaml", ""},
		{"yes", []fermata.Item{yes}, "Yes!", "Yes!"},
		{"yes within talk", []fermata.Item{yes}, "Yes but only if it rains", ""},
		{"no", []fermata.Item{yes}, "no", "no"},
		{"no idea", []fermata.Item{yes}, "No idea what this is about", ""},
		{"approve", []fermata.Item{approval}, "approve", "approve"},
		{"approve as a command", []fermata.Item{approval}, "/approve", "/approve"},
		{"reject with a reason", []fermata.Item{approval}, "reject: not today", "reject: not today"},
		{"a number", []fermata.Item{number}, "42", "42"},
		{"a number with decimals", []fermata.Item{number}, "-4.5: about", "-4.5: about"},
		{"a number within talk", []fermata.Item{number}, "42 is the answer", ""},
		{"a date", []fermata.Item{date}, "2027-01-31", "2027-01-31"},
		{"a text", []fermata.Item{text}, "/answer Call it done.\nReally.", "Call it done.\nReally."},
		{"a text without the command", []fermata.Item{text}, "Call it done.", ""},
		{"several items", both, "/answer\ny: yes\nt: fine", "y: yes\nt: fine"},
		{"several items without the command", both, "y: yes\nt: fine", "y: yes\nt: fine"},
		{"windows lines", []fermata.Item{choice()}, "B\r\n\r\nthanks", "B\n\nthanks"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, nil)
			n := w.question(firstID, test.items...)
			w.send(n)
			w.serveWebhooks()
			id := w.comment("ada", test.comment)
			heard := w.server.heardMessages()
			switch {
			case test.want == "" && (len(heard) > 0 || len(w.hub.Reactions(id)) > 0 || len(w.comments()) != 2):
				t.Errorf("%q is taken for an answer: %+v", test.comment, heard)
			case test.want != "" && (len(heard) != 1 || heard[0].Text != test.want || len(w.hub.Reactions(id)) != 1):
				t.Errorf("%q is heard as %+v, want %q", test.comment, heard, test.want)
			}
		})
	}
}

func TestWhoseCommentsAreLeftAlone(t *testing.T) {
	t.Parallel()
	forEachTransport(t, func(t *testing.T, change map[string]any, hearing func(*fixture)) {
		w := newFixture(t, change)
		w.send(w.question(firstID, choice()))
		hearing(w)
		ids := []int64{
			w.hub.CommentAs("dependabot[bot]", "Bot", 0, "B"),
			w.hub.CommentAs("ada", "User", 99, "B"), // a program with Ada's account
		}
		deleted := w.hub.Comment("ada", standin.Issue, "words of no weight")
		w.hub.Delete(deleted)
		w.comment("grace", "A")
		patience.Await(t, "the answer of a person counts", func() bool { return w.server.countedAnswer(firstID) == "grace: json" })
		if heard := w.server.heardMessages(); len(heard) != 1 {
			t.Errorf("heard %+v", heard)
		}
		for _, id := range ids {
			if got := w.hub.Reactions(id); len(got) != 0 {
				t.Errorf("a program's comment got %q", got)
			}
		}
	})
}

// Comments of the channel's own account never count, even if a person writes them with that account. That person is
// told.
func TestOwnAccountIsToldThatItDoesNotCount(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.send(w.question(firstID, choice()))
	w.serveWebhooks()
	w.comment(standin.Machine, "B")
	if len(w.server.heardMessages()) != 0 {
		t.Error("an own comment is heard")
	}
	told := w.hub.Feedback(standin.Machine)
	if len(told) != 2 || !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, "the one that Fermata writes with") }) {
		t.Errorf("told %q", told)
	}
}

// A changed comment may not be what its author wrote: a person with write access to a repository can change the
// comments of others.
func TestEditsAreIgnored(t *testing.T) {
	t.Parallel()
	forEachTransport(t, func(t *testing.T, change map[string]any, hearing func(*fixture)) {
		w := newFixture(t, change)
		w.send(w.question(firstID, choice()))
		talk := w.hub.Comment("ada", standin.Issue, "We should talk about it.")
		w.hub.Backdate(talk, time.Hour)
		hearing(w)
		w.hub.AddUser("mallory", "write")
		w.hub.Edit(talk, "mallory", "A")
		w.comment("ada", "B")
		patience.Await(t, "the answer counts", func() bool { return w.server.countedAnswer(firstID) == "ada: toml" })
		if got := w.hub.Reactions(talk); len(got) != 0 {
			t.Errorf("an edited comment of an hour ago got %q", got)
		}
	})
}

func TestCommentThatWasChangedBeforeItWasReadIsRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"webhook_secret": nil})
	w.hub.SetClock(func() time.Time { return time.Now().Add(-4 * time.Second) })
	w.send(w.question(firstID, choice()))
	w.hub.SetClock(func() time.Time { return time.Now().Add(-2 * time.Second) })
	id := w.hub.Comment("ada", standin.Issue, "B")
	w.hub.SetClock(time.Now)
	w.hub.AddUser("mallory", "write")
	w.hub.Edit(id, "mallory", "A")
	w.listen()
	patience.Await(t, "Ada is told", func() bool {
		return slices.ContainsFunc(w.hub.Feedback("ada"), func(s string) bool { return strings.Contains(s, "changed before it was read") })
	})
	if len(w.server.heardMessages()) != 0 {
		t.Error("the changed comment is heard")
	}
}

func TestPermissionIsLookedUp(t *testing.T) {
	t.Parallel()
	for permission, may := range map[string]bool{"admin": true, "maintain": true, "write": true, "triage": false, "read": false, "": false} {
		t.Run("permission "+permission, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, nil)
			w.send(w.question(firstID, choice()))
			w.serveWebhooks()
			w.hub.AddUser("ada", permission)
			id := w.hub.Comment("ada", standin.Issue, "B")
			w.hub.Deliveries()
			heard := w.server.heardMessages()
			if len(heard) != 1 || (heard[0].From.DenialReason == "") != may {
				t.Fatalf("heard %+v", heard)
			}
			if may {
				return
			}
			if got := w.hub.Reactions(id); !slices.Equal(got, []string{"confused"}) {
				t.Errorf("the comment got %q", got)
			}
			if told := w.hub.Feedback("ada"); len(told) != 2 || !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, "only people with write access") }) {
				t.Errorf("told %q", told)
			}
		})
	}
}

// If the account may not look up who has write access, no answer counts.
func TestPermissionThatCannotBeLookedUpIsNone(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.send(w.question(firstID, choice()))
	w.serveWebhooks()
	w.hub.Permit(standin.Machine, "read")
	w.comment("ada", "B")
	if heard := w.server.heardMessages(); len(heard) != 1 || !strings.Contains(heard[0].From.DenialReason, "may not look up") {
		t.Errorf("heard %+v", heard)
	}
}

func TestSeveralQuestionsOnAnIssue(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.send(w.question(firstID, choice()))
	w.send(w.question(secondID, choice()))
	w.serveWebhooks()
	w.comment("ada", "B")
	if len(w.server.heardMessages()) != 0 {
		t.Fatalf("heard %+v although two questions are open", w.server.heardMessages())
	}
	told := w.hub.Feedback("ada")
	if !slices.ContainsFunc(told, func(s string) bool {
		return strings.Contains(s, "2 questions are open here") && strings.Contains(s, "`aaaaaa`") && strings.Contains(s, "`bbbbbb`")
	}) {
		t.Errorf("Ada is told %q", told)
	}
	w.comment("ada", "/answer bbbbbb A")
	if w.server.countedAnswer(secondID) != "ada: json" || w.server.countedAnswer(firstID) != "" {
		t.Error("the answer went to the wrong question")
	}
	if talk := w.comment("ada", "Both are good questions."); len(w.hub.Reactions(talk)) != 0 {
		t.Error("talk is taken for an answer")
	}
}

// If several questions are open, an answer goes to the only one that accepts it.
func TestTheOnlyQuestionThatTakesAnAnswerIsMeant(t *testing.T) {
	t.Parallel()
	yesNo := fermata.Item{Key: "go", Prompt: "Deploy?", ResponseType: fermata.ResponseBoolean}
	for comment, want := range map[string][2]string{
		"yes": {"", "ada: true"}, "/answer yes": {"", "ada: true"}, "B": {"ada: toml", ""}, "/answer toml": {"ada: toml", ""},
	} {
		t.Run(comment, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, nil)
			w.send(w.question(firstID, choice()))
			w.send(w.question(secondID, yesNo))
			w.serveWebhooks()
			w.comment("ada", comment)
			if got := [2]string{w.server.countedAnswer(firstID), w.server.countedAnswer(secondID)}; got != want {
				t.Errorf("the answers are %q, want %q; heard %+v", got, want, w.server.heardMessages())
			}
		})
	}
	t.Run("a text may be anything behind the command", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t, nil)
		w.send(w.question(firstID, fermata.Item{Key: "name", Prompt: "Which name?", ResponseType: fermata.ResponseText}))
		w.send(w.question(secondID, yesNo))
		w.serveWebhooks()
		w.comment("ada", "/answer yes")
		if heard := w.server.heardMessages(); len(heard) != 0 {
			t.Errorf("heard %+v", heard)
		}
	})
}

// A question can close, and another one can take its place. A comment that does not name a question may be about the
// first one, so it decides nothing.
func TestACommentDoesNotAnswerTheQuestionInAnotherOnesPlace(t *testing.T) {
	t.Parallel()
	for status, words := range map[fermata.QuestionStatus]string{
		fermata.Cancelled: "withdrawn", fermata.TimedOut: "nobody answered", fermata.Answered: "answered by grace: toml",
	} {
		t.Run(string(status), func(t *testing.T) {
			forEachTransport(t, func(t *testing.T, change map[string]any, hearing func(*fixture)) {
				w := newFixture(t, change)
				asked := w.question(firstID, choice())
				sent := w.send(asked)
				if _, err := w.channel.Update(t.Context(), closedNotice(asked, status, words), sent); err != nil {
					t.Fatal(err)
				}
				w.send(w.question(secondID, choice()))
				hearing(w)
				w.comment("ada", "B")
				patience.Await(t, "Ada is asked which one she means", func() bool {
					return w.server.countedAnswer(secondID) != "" || slices.ContainsFunc(w.hub.Feedback("ada"), func(s string) bool { return strings.Contains(s, "another question has just closed here") })
				})
				if got := w.server.countedAnswer(secondID); got != "" {
					t.Errorf("after one that is %s: %s", status, got)
				}
				w.comment("ada", "/answer bbbbbb B")
				patience.Await(t, "the answer counts", func() bool { return w.server.countedAnswer(secondID) == "ada: toml" })
			})
		})
	}
}

func TestQuestionOfAnotherIssueCannotBeNamed(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.hub.AddIssue(8)
	w.send(w.question(firstID, choice()))
	there := w.question(secondID, choice())
	there.To.Target = "octo/hello#8"
	w.send(there)
	w.serveWebhooks()
	w.comment("ada", "/answer "+secondID+" A")
	if heard := w.server.heardMessages(); len(heard) != 1 || heard[0].Question != firstID || w.server.countedAnswer(secondID) != "" {
		t.Errorf("heard %+v", heard)
	}
}

func TestIssueWithoutQuestionsIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.serveWebhooks()
	w.hub.Requests()
	id := w.comment("ada", "/answer B")
	if len(w.hub.Reactions(id)) != 0 || len(w.hub.Requests()) != 0 {
		t.Error("a comment on any issue asks GitHub for something")
	}
}

// A question that the comment does not show completely cannot be decided there.
func TestQuestionThatIsAnsweredOnItsPage(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	n := w.question(firstID, fermata.Item{Key: "ok", Prompt: "May it?", ResponseType: fermata.ResponseApproval})
	n.Question.Type, n.Question.Action = fermata.Approval, []byte(`{"command":"`+strings.Repeat("x", 70_000)+`"}`)
	w.send(n)
	w.serveWebhooks()
	if got := w.comments()[0]; strings.Contains(got, "To answer") || !strings.Contains(got, "answered on its page") || len(got) > 60_000 {
		t.Errorf("the comment offers to decide: %.500s", got)
	}
	w.comment("ada", "approve")
	if len(w.server.heardMessages()) != 0 {
		t.Error("an approval of what was not shown is heard")
	}
	if told := w.hub.Feedback("ada"); len(told) != 2 || !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, "answered on its page") }) {
		t.Errorf("told %q", told)
	}
}

func TestCommandWithoutAnAnswerIsTold(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.send(w.question(firstID, choice()))
	w.serveWebhooks()
	w.comment("ada", "/answer")
	if told := w.hub.Feedback("ada"); len(w.server.heardMessages()) != 0 || len(told) != 2 ||
		!slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, "the answer is missing") }) {
		t.Errorf("told %q", told)
	}
}

// Replies are limited, because they notify everybody who follows the issue.
func TestRepliesToOnePersonAreFew(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.send(w.question(firstID, choice()))
	w.serveWebhooks()
	w.hub.AddUser("troll", "")
	for range 20 {
		w.hub.Comment("troll", standin.Issue, "A")
		w.hub.Deliveries()
	}
	replies := 0
	for _, body := range w.comments() {
		if !strings.HasPrefix(body, "@troll: ") {
			continue
		}
		if replies++; strings.Contains(body, "last reply to you here for an hour") != (replies == 5) {
			t.Errorf("reply %d: %s", replies, body)
		}
	}
	if replies != 5 {
		t.Errorf("%d replies to one person", replies)
	}
}

func TestWebhookTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"poll": "off"})
	w.send(w.question(firstID, choice()))
	w.serveWebhooks()
	w.comment("ada", "B")
	sent := w.hub.Deliveries()
	again := w.hub.Redeliver(sent[len(sent)-1])
	if again.Status != http.StatusOK || !strings.Contains(again.Response, "delivered before") {
		t.Errorf("a second delivery is answered %d %s", again.Status, again.Response)
	}
	other := *sent[len(sent)-1]
	other.GUID = "72d3162e-cc78-11e3-81ab-ffffffffffff" // the signature does not cover the GUID
	w.hub.Redeliver(&other)
	// After a restart, the process remembers nothing.
	w.channel = w.open(nil)
	w.serveWebhooks()
	w.hub.Redeliver(&other)
	if heard := w.server.heardMessages(); len(heard) != 1 {
		t.Errorf("heard %d times", len(heard))
	}
	replies := 0
	for _, body := range w.comments() {
		if strings.HasPrefix(body, "@") {
			replies++
		}
	}
	if replies != 0 {
		t.Errorf("%d replies to an answer that counted", replies)
	}
}

// A webhook that could not be processed is delivered again, or fetched by polling.
func TestTroubleIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	troubles := map[string]func(*fixture){
		"the server":     func(w *fixture) { w.server.fail(1) },
		"the comments":   func(w *fixture) { w.hub.Fail("GET /repos/octo/hello/issues/7/comments", http.StatusBadGateway) },
		"the permission": func(w *fixture) { w.hub.Fail("GET /repos/octo/hello/collaborators", http.StatusBadGateway) },
		"the reaction":   func(w *fixture) { w.hub.Fail("POST /repos/octo/hello/issues/comments", http.StatusBadGateway) },
		"the limit":      func(w *fixture) { w.hub.SetLimits(0, time.Now().Add(10*time.Second), 100, 0) },
	}
	for name, trouble := range troubles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, map[string]any{"poll": "off"})
			w.send(w.question(firstID, choice()))
			w.serveWebhooks()
			trouble(w)
			id := w.comment("ada", "B")
			sent := w.hub.Deliveries()
			last := sent[len(sent)-1]
			if last.Status != http.StatusServiceUnavailable {
				t.Fatalf("answered %d %s", last.Status, last.Response)
			}
			patience.Await(t, "the same delivery counts later", func() bool {
				return w.hub.Redeliver(last).Status == http.StatusOK
			})
			if w.server.countedAnswer(firstID) != "ada: toml" || !slices.Equal(w.hub.Reactions(id), []string{"+1"}) || len(w.server.heardMessages()) != 1 {
				t.Errorf("it came to %q, %q", w.server.countedAnswer(firstID), w.hub.Reactions(id))
			}
		})
	}
}

// If a comment is not a valid answer, the person is told in the server's words.
func TestWordsOfTheServerReachThePerson(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.send(w.question(firstID, choice()))
	w.serveWebhooks()
	w.comment("ada", "/answer xml and @everybody")
	told := w.hub.Feedback("ada")
	if !slices.ContainsFunc(told, func(s string) bool {
		return strings.Contains(s, "is not an option") && strings.Contains(s, "`") && strings.Contains(s, fmt.Sprintf("#issuecomment-%d", commentID(t, w, 0)))
	}) {
		t.Errorf("told %q", told)
	}
}
