package email_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/test/patience"
	mailserver "github.com/fermata-hq/fermata/test/standin/email"
)

// burst is how many mails about single replies a person gets before the limit.
const burst = 10

// manualClock is a clock that stands still until it is moved forward.
type manualClock struct{ ahead atomic.Int64 }

func (s *manualClock) now() time.Time { return noon.Add(time.Duration(s.ahead.Load())) }

// sendRefusedReplies sends replies of ada that are refused, each about a different
// question.
func (w *fixture) sendRefusedReplies(from, to int) {
	w.t.Helper()
	for i := from; i < to; i++ {
		q := questionNotice().Question
		q.ID = fmt.Sprintf("q_%d", i)
		w.setVerdict(notice.Verdict{Code: fermata.CodeInvalidRequest, Words: fmt.Sprintf("Reply %d is no option.", i), Question: q}, 0)
		w.submit("ada", plainMail(fmt.Sprint("r", i), adaFrom, replyTo, ""), replyTo)
		w.nextHeard()
	}
	w.awaitSeen("fermata", to)
}

func TestARefusalBeyondTheLimitIsToldLater(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	clock := &manualClock{}
	c := w.open(nil)
	c.SetClock(clock.now)
	stop := w.listen(c)
	w.sendRefusedReplies(0, burst+2)
	told := w.awaitMails("ada", burst)
	if len(told) != burst {
		t.Fatalf("ada got %d mails at once", len(told))
	}
	for i, m := range told {
		if announced := strings.Contains(m.Plain, "Fermata collects"); announced != (i == burst-1) {
			t.Errorf("mail %d announces the limit: %v\n%s", i, announced, m.Plain)
		}
	}

	// The pending messages survive a restart, and are sent when the limit
	// allows it.
	stop()
	stored, err := w.store.load(t.Context(), "mailbox")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.save(t.Context(), "mailbox", strings.Replace(stored, `"owed":`, `"left_out":{"ada@people.test":3},"owed":`, 1)); err != nil {
		t.Fatal(err)
	}
	clock.ahead.Add(int64(time.Hour))
	c = w.open(nil)
	c.SetClock(clock.now)
	stop = w.listen(c)
	gathered := w.awaitMail("ada", burst+1)
	for i := burst; i < burst+2; i++ {
		for _, want := range []string{fmt.Sprintf("Reply %d is no option.", i), fmt.Sprintf("https://fermata.example/questions/q_%d", i)} {
			if !strings.Contains(gathered.Plain, want) {
				t.Errorf("%q is missing in\n%s", want, gathered.Plain)
			}
		}
	}
	if !strings.Contains(gathered.Plain, "And 3 more replies of yours did not count.") {
		t.Errorf("what was left out is not told in\n%s", gathered.Plain)
	}
	if gathered.Header.Get("Auto-Submitted") != "auto-replied" || gathered.Header.Get("In-Reply-To") != fmt.Sprintf("<r%d@people.test>", burst+1) {
		t.Errorf("the mail is %s", gathered.Raw)
	}
	w.awaitGone(`"owed"`)
	stop()
}

// awaitGone waits until the channel has stored its position without the text.
func (w *fixture) awaitGone(text string) {
	w.t.Helper()
	patience.Await(w.t, "the channel has stored its place without "+text, func() bool {
		got, _ := w.store.load(w.t.Context(), "mailbox")
		return got != "" && !strings.Contains(got, text)
	})
}

func TestEveryThreadTellsItsEndWhateverTheLimit(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	clock := &manualClock{}
	c := w.open(nil)
	c.SetClock(clock.now)
	w.listen(c)
	w.sendRefusedReplies(0, burst)
	w.awaitMails("ada", burst)

	counts := questionNotice()
	after := answeredNotice(counts, "ada", "email")
	w.setVerdict(notice.Verdict{Counted: true, Words: "Your answer counts: answered by ada: TOML.", Question: after.Question}, 0)
	w.submit("ada", plainMail("counts", adaFrom, replyTo, ""), replyTo)
	w.nextHeard()
	if m := w.awaitMail("ada", burst+1); !strings.Contains(m.Plain, "Your answer counts") {
		t.Errorf("ada was told\n%s", m.Plain)
	}

	late := questionNotice()
	late.Question.ID = "q_late"
	after = answeredNotice(late, "bob", "web")
	w.setVerdict(notice.Verdict{Code: fermata.CodeQuestionClosed, Words: "Somebody was first: answered by bob: TOML.", Question: after.Question}, 0)
	w.submit("ada", plainMail("late", adaFrom, replyTo, ""), replyTo)
	w.nextHeard()
	if m := w.awaitMail("ada", burst+2); !strings.Contains(m.Plain, "Somebody was first") {
		t.Errorf("ada was told\n%s", m.Plain)
	}

	// A machine that keeps replying is told the same end only once.
	for i := range 3 {
		w.submit("ada", plainMail(fmt.Sprint("again", i), adaFrom, replyTo, ""), replyTo)
		w.nextHeard()
	}
	w.awaitSeen("fermata", burst+5)
	if told := w.awaitMails("ada", burst+2); len(told) != burst+2 {
		t.Errorf("ada got %d mails", len(told))
	}
	w.awaitStored(`"owed"`)
}
