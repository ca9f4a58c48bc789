package github_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/test/patience"
	standin "github.com/fermata-hq/fermata/test/standin/github"
)

// sendApproval sends an approval on a pull request.
func (w *fixture) sendApproval(id string, pull int) *notice.Notice {
	n := w.question(id, fermata.Item{Key: "approval", Prompt: "Deploy?", ResponseType: fermata.ResponseApproval})
	n.Question.Type, n.Question.Title = fermata.Approval, "Deploy?"
	n.To.Target = fmt.Sprintf("%s#%d", standin.Repository, pull)
	w.send(n)
	return n
}

func TestAReviewAnswersTheApprovalOnItsPullRequest(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"webhook", "polling"} {
		for event, want := range map[string]string{"approve": fermata.Approve, "request_changes": fermata.Reject} {
			t.Run(way+" "+event, func(t *testing.T) {
				t.Parallel()
				change := map[string]any{"poll": "off"}
				if way == "polling" {
					change = map[string]any{"webhook_secret": nil, "poll": "1s"}
				}
				w := newFixture(t, change)
				pull := w.hub.OpenPull()
				w.sendApproval(firstID, pull)
				if way == "webhook" {
					w.serveWebhooks()
				} else {
					w.listen()
				}
				w.hub.AddUser("ada", "write")
				w.hub.Review("ada", pull, event, "I looked at all of it.")
				patience.Await(t, "the review counts", func() bool { return w.server.countedAnswer(firstID) == "ada: "+want })
				if heard := w.server.heardMessages(); len(heard) != 1 || !strings.HasPrefix(heard[0].ID, "review/") || !strings.Contains(heard[0].Text, "I looked at all of it.") {
					t.Errorf("heard %+v", heard)
				}
			})
		}
	}
}

// GitHub gives times in whole seconds. A round may read the list in the second in which the pull request was opened.
// Then a later review in that second leaves the list unchanged.
func TestAReviewInTheSecondOfALookIsRead(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"webhook_secret": nil, "poll": "1s"})
	second := time.Now().Truncate(time.Second)
	w.hub.SetClock(func() time.Time { return second })
	pull := w.hub.OpenPull()
	w.sendApproval(firstID, pull)
	w.hub.AddUser("ada", "write")
	w.listen()
	looked := fmt.Sprintf("GET /repos/%s/pulls/%d/comments", standin.Repository, pull)
	patience.Await(t, "the pull request is read", func() bool { return slices.Contains(w.hub.Requests(), looked) })
	w.hub.Review("ada", pull, "approve", "")
	patience.Await(t, "the review counts", func() bool { return w.server.countedAnswer(firstID) == "ada: "+fermata.Approve })
}

func TestAReviewCommentAnswersAndTalkDoesNot(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"poll": "off"})
	pull := w.hub.OpenPull()
	w.serveWebhooks()
	w.hub.AddUser("ada", "write")
	// No question is open here, so the reviews are only about the code.
	w.hub.Review("ada", pull, "approve", "")
	w.hub.Deliveries()
	w.sendApproval(firstID, pull)
	w.hub.Review("ada", pull, "comment", "Two small things below.")
	w.hub.ReviewComment("ada", pull, "This name is odd.")
	w.hub.Deliveries()
	if heard := w.server.heardMessages(); len(heard) != 0 {
		t.Fatalf("heard %+v", heard)
	}
	if told := w.hub.Feedback("ada"); len(told) != 0 {
		t.Fatalf("ada was told %q", told)
	}
	id := w.hub.ReviewComment("ada", pull, "LGTM")
	w.hub.Deliveries()
	if got := w.server.countedAnswer(firstID); got != "ada: approve" {
		t.Errorf("the answer is %q", got)
	}
	if got := w.hub.ReviewReactions(id); len(got) != 1 || got[0] != "+1" {
		t.Errorf("the reactions are %q", got)
	}
}

func TestReviewsOfOthersEditsAndDismissalsAnswerNothing(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"poll": "off"})
	pull := w.hub.OpenPull()
	w.sendApproval(firstID, pull)
	w.serveWebhooks()
	w.hub.AddUser("eve", "read")
	id := w.hub.Review("eve", pull, "approve", "")
	w.hub.Deliveries()
	told := w.hub.Feedback("eve")
	if w.server.countedAnswer(firstID) != "" || len(told) != 1 || !strings.Contains(told[0], "write access") {
		t.Fatalf("eve was told %q, and the answer is %q", told, w.server.countedAnswer(firstID))
	}
	w.hub.AddUser("eve", "write")
	w.hub.EditReview(id, "approve")
	w.hub.Dismiss(id)
	for _, d := range w.hub.Deliveries() {
		if d.Event == "pull_request_review" && !strings.Contains(string(d.Body), `"action":"submitted"`) && !strings.Contains(d.Response, "ignored: only submitted reviews") {
			t.Errorf("%s was answered %s", d.Body, d.Response)
		}
	}
	// A webhook that is delivered twice counts once.
	sent := w.hub.Deliveries()
	if again := w.hub.Redeliver(sent[0]); !strings.Contains(again.Response, "delivered before") {
		t.Errorf("a second delivery was answered %s", again.Response)
	}
	if heard := w.server.heardMessages(); len(heard) != 1 || w.server.countedAnswer(firstID) != "" {
		t.Errorf("heard %+v", heard)
	}
}

func TestAReviewWhereSeveralApprovalsAreOpenIsAskedBack(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"poll": "off"})
	pull := w.hub.OpenPull()
	w.sendApproval(firstID, pull)
	w.sendApproval(secondID, pull)
	w.serveWebhooks()
	w.hub.AddUser("ada", "write")
	w.hub.Review("ada", pull, "approve", "")
	w.hub.Deliveries()
	if told := w.hub.Feedback("ada"); len(told) != 1 || !strings.Contains(told[0], "2 questions are open here") {
		t.Errorf("ada was told %q", told)
	}
}

// A review from before the question does not answer it, even if it is read later.
func TestAReviewFromBeforeTheQuestionAnswersNothing(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"webhook_secret": nil, "poll": "1s"})
	pull := w.hub.OpenPull()
	w.hub.AddUser("ada", "write")
	began := time.Now().Add(-20 * time.Second)
	w.hub.SetClock(func() time.Time { return began })
	w.hub.Review("ada", pull, "approve", "")
	w.hub.Comment("ada", pull, "approve")
	w.hub.SetClock(func() time.Time { return began.Add(10 * time.Second) })
	w.sendApproval(firstID, pull)
	w.listen()
	w.hub.SetClock(time.Now)
	w.hub.Review("ada", pull, "request_changes", "")
	patience.Await(t, "the later review counts", func() bool { return w.server.countedAnswer(firstID) == "ada: reject" })
	if heard := w.server.heardMessages(); len(heard) != 1 {
		t.Errorf("heard %+v", heard)
	}
}

func TestARefusedReviewIsToldBeyondTheLimit(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"poll": "off"})
	pull := w.hub.OpenPull()
	w.sendApproval(firstID, pull)
	w.serveWebhooks()
	w.hub.AddUser("eve", "read")
	const reviews = 8
	for range reviews {
		w.hub.Review("eve", pull, "approve", "")
		w.hub.Deliveries()
	}
	told := w.hub.Feedback("eve")
	if len(told) != 5 {
		t.Fatalf("eve was told %d times: %q", len(told), told)
	}
	last := told[len(told)-1]
	if !strings.Contains(last, "added here") || strings.Count(last, "Nor does [a later review]") != reviews-5 {
		t.Errorf("the last reply says %q", last)
	}
}

// TestTheChannelsOwnReviewAnswersNothing has a workflow step review with the channel's account. If that counted, an
// agent could approve its own question.
func TestTheChannelsOwnReviewAnswersNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]map[string]any{"a token's": {"poll": "off"}, "an App's": {"poll": "off", "app_id": standin.AppID}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, change)
			pull := w.hub.OpenPull()
			w.sendApproval(firstID, pull)
			w.serveWebhooks()
			settings := w.hub.Settings()
			if change["app_id"] != nil {
				settings = w.hub.AppSettings()
			}
			read, err := github.ReadSettings(mustEncode(t, settings))
			if err != nil {
				t.Fatal(err)
			}
			client, err := github.NewClient(read, w.env().HTTP)
			if err != nil {
				t.Fatal(err)
			}
			at := github.Place{Owner: standin.Owner, Repo: standin.Repo, Number: pull}
			approval := github.NewReview{Event: "APPROVE", Body: "Fine.", Key: "task_1/step/1"}
			if _, created, err := client.ReviewOnce(t.Context(), at, approval); err != nil || !created {
				t.Fatalf("created %v: %v", created, err)
			}
			sent := w.hub.Deliveries()
			if at := slices.IndexFunc(sent, func(d *standin.Delivery) bool { return d.Event == "pull_request_review" }); at < 0 || sent[at].Status != 200 {
				t.Fatalf("the webhooks are %+v", sent)
			}
			if heard := w.server.heardMessages(); len(heard) != 0 || w.server.countedAnswer(firstID) != "" {
				t.Errorf("heard %+v", heard)
			}
		})
	}
}
