package github_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/test/patience"
	standin "github.com/fermata-hq/fermata/test/standin/github"
)

// Hundreds of comments arrive, many of them in one second, while the channel polls, fails and restarts. Each is heard
// once.
func TestPollingMissesNothingAndCountsNothingTwice(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"webhook_secret": nil})
	w.hub.SetLimits(1_000_000, time.Now().Add(time.Hour), 1_000_000, 0)
	w.send(w.question(firstID, choice()))
	stop := w.listenWith(w.channel)
	const people, each = 4, 30
	var wait sync.WaitGroup
	for p := range people {
		login := fmt.Sprintf("person%d", p)
		w.hub.AddUser(login, "write")
		wait.Go(func() {
			random := rand.New(rand.NewPCG(uint64(p), 1))
			for i := range each {
				w.hub.Comment(login, standin.Issue, "A")
				switch random.IntN(60) {
				case 0:
					w.server.fail(1)
				case 1:
					w.hub.Fail("GET /repos/octo/hello/issues", http.StatusBadGateway)
				case 2:
					w.hub.Edit(w.hub.Comment(login, standin.Issue, "talk"), login, fmt.Sprintf("more talk %d", i))
				}
			}
		})
	}
	wait.Wait()
	stop()
	// The next process does not report the same comments again.
	w.listenWith(w.open(map[string]any{"webhook_secret": nil}))
	patience.Await(t, "all are heard", func() bool { return len(w.server.heardMessages()) == people*each })
	ids := map[string]bool{}
	for _, in := range w.server.heardMessages() {
		if ids[in.ID] {
			t.Errorf("%s is heard twice", in.ID)
		}
		ids[in.ID] = true
	}
}

// A poll without new data does not count against GitHub's hourly limit.
func TestPollingWithoutNewsIsFree(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"webhook_secret": nil})
	w.send(w.question(firstID, choice()))
	w.listen()
	w.comment("ada", "B")
	patience.Await(t, "the answer counts", func() bool { return w.server.countedAnswer(firstID) != "" })
	looks := func() int {
		return len(slices.DeleteFunc(w.hub.Requests(), func(r string) bool { return r != "GET /repos/octo/hello/issues/comments" }))
	}
	seen := 0
	patience.Await(t, "it has looked twice more", func() bool { seen += looks(); return seen >= 3 })
	left := w.hub.RequestsLeft()
	seen = 0
	patience.Await(t, "it has polled again", func() bool { seen += looks(); return seen >= 2 })
	if got := w.hub.RequestsLeft(); got != left {
		t.Errorf("%d looks without news cost %d", seen, left-got)
	}
}

// An answer that came while the server was down is heard.
func TestAnswerOfTheNightIsHeard(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"webhook_secret": nil})
	ago := func(d time.Duration) { w.hub.SetClock(func() time.Time { return time.Now().Add(-d) }) }
	n := w.question(firstID, choice())
	n.Question.CreatedAt = time.Now().Add(-9 * time.Hour)
	ago(9 * time.Hour)
	w.send(n)
	if err := w.store.store(t.Context(), "comments/octo/hello", position(9*time.Hour)); err != nil {
		t.Fatal(err)
	}
	ago(8 * time.Hour)
	for range 250 {
		w.hub.Comment("grace", standin.Issue, "How nice.")
	}
	changed := w.hub.Comment("mallory", standin.Issue, "How nice.")
	w.comment("ada", "B")
	ago(4 * time.Hour)
	w.hub.Edit(changed, "mallory", "A")
	w.hub.SetClock(time.Now)
	w.listen()
	patience.Await(t, "the answer counts", func() bool { return w.server.countedAnswer(firstID) == "ada: toml" })
	patience.Await(t, "the change is refused", func() bool {
		return slices.ContainsFunc(w.hub.Feedback("mallory"), func(s string) bool { return strings.Contains(s, "changed before it was read") })
	})
}

func position(ago time.Duration) string {
	at := time.Now().Add(-ago).UTC().Truncate(time.Second).Format(time.RFC3339)
	return fmt.Sprintf(`{"since":%q,"done":%q}`, at, at)
}

// An answer whose webhook was lost is found by polling.
func TestLostWebhookIsMadeUpFor(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.send(w.question(firstID, choice()))
	w.serveWebhooks()
	w.server.fail(1)
	w.comment("ada", "B")
	w.listen()
	patience.Await(t, "the answer counts", func() bool { return w.server.countedAnswer(firstID) == "ada: toml" })
}

// A comment arrives by webhook and by polling. It is heard once, and its author is told once.
func TestBothWaysTellOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.send(w.question(firstID, choice()))
	w.serveWebhooks()
	w.listen()
	w.comment("ada", "/answer nonsense")
	w.comment("grace", "B")
	patience.Await(t, "the answer counts", func() bool { return w.server.countedAnswer(firstID) == "grace: toml" })
	w.hub.Requests()
	seen := 0
	patience.Await(t, "it has polled again", func() bool {
		for _, r := range w.hub.Requests() {
			if r == "GET /repos/octo/hello/issues/comments" {
				seen++
			}
		}
		return seen >= 2
	})
	replies := 0
	for _, body := range w.comments() {
		if strings.HasPrefix(body, "@ada") {
			replies++
		}
	}
	if replies != 1 || len(w.server.heardMessages()) != 2 {
		t.Errorf("%d replies, %d heard", replies, len(w.server.heardMessages()))
	}
}

func TestPollingWaitsAsLongAsGitHubAsks(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"webhook_secret": nil})
	w.send(w.question(firstID, choice()))
	w.hub.SetLimits(0, time.Now().Add(3*time.Second), 100, 0)
	w.listen()
	w.comment("ada", "B")
	patience.Await(t, "the answer counts once the hour is over", func() bool { return w.server.countedAnswer(firstID) == "ada: toml" })
	// The first request learns that the limit is reached. A second one may come too early: GitHub rounds the time to seconds.
	if n := w.hub.RejectedRequests(); n > 2 {
		t.Errorf("%d looks while GitHub asked to wait", n)
	}
}
