package slack_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/test/standin"
)

// TestSlow checks that the channel acknowledges a click in time even if the
// work takes longer. Meanwhile, the message says that the answer is not counted
// yet, and its buttons are removed.
func TestSlow(t *testing.T) {
	t.Parallel()
	for _, by := range transports {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			l := newHarness(t, by)
			q := yesNo(l)
			m, _ := l.send(t, q)
			hold := make(chan struct{})
			l.server.set(func() { l.server.hold = hold })
			if err := l.Reply(l.ada, m, standin.Reply{Answers: map[string]any{"ok": true}}); err != nil {
				t.Fatal("it was not acknowledged in time: ", err)
			}
			awaitSeen(t, l, "bare", func(m standin.Message) bool {
				return strings.Contains(m.Text, "An answer is being counted") && slices.Equal(m.Buttons, []string{"Open in Fermata"})
			})
			close(hold)
			l.awaitTold(t, l.ada, "It counted.")
			awaitSeen(t, l, "closed", func(m standin.Message) bool { return m.Closed && strings.Contains(m.Text, "answered by Ada: yes") })
		})
	}
}

// TestSlowAndRefused checks that the buttons come back if the answer does not
// count.
func TestSlowAndRefused(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := yesNo(l)
	m, _ := l.send(t, q)
	hold := make(chan struct{})
	l.server.set(func() {
		l.server.hold = hold
		c := l.server.members[l.mail]
		c.Role = fermata.RoleViewer
		l.server.members[l.mail] = c
	})
	if err := l.Reply(l.ada, m, standin.Reply{Answers: map[string]any{"ok": true}}); err != nil {
		t.Fatal(err)
	}
	awaitSeen(t, l, "bare", func(m standin.Message) bool { return !slices.Contains(m.Buttons, "Yes") })
	close(hold)
	awaitSeen(t, l, "its buttons back", func(m standin.Message) bool { return slices.Contains(m.Buttons, "Yes") })
	l.awaitTold(t, l.ada, "viewer may not answer")
}

// TestSlowAndOutdated checks that slow work does not overwrite an end that the
// message shows meanwhile.
func TestSlowAndOutdated(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := yesNo(l)
	m, sent := l.send(t, q)
	hold := make(chan struct{})
	l.server.set(func() { l.server.hold = hold })
	if err := l.Reply(l.ada, m, standin.Reply{Answers: map[string]any{"ok": true}}); err != nil {
		t.Fatal(err)
	}
	awaitSeen(t, l, "bare", func(m standin.Message) bool { return !slices.Contains(m.Buttons, "Yes") })
	done := l.noticeFor(q)
	done.Outcome, done.At = answeredOutcome("answered by Bob: no"), q.CreatedAt.Add(1e9)
	if _, err := l.channel.Update(t.Context(), done, sent); err != nil {
		t.Fatal(err)
	}
	l.server.set(func() {
		l.server.hold = nil
		l.server.members = nil // no person is known, so the answer will not count
	})
	close(hold)
	l.awaitTold(t, l.ada, "Nobody here is connected")
	if m := l.lastMessage(t, l.ada); !m.Closed || !strings.Contains(m.Text, "answered by Bob: no") {
		t.Errorf("the end was overwritten: %s", m.Text)
	}
}

// TestSlowAndFailing checks that the person who pressed is told even if the
// work fails.
func TestSlowAndFailing(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	q := yesNo(l)
	m, _ := l.send(t, q)
	hold := make(chan struct{})
	l.server.set(func() { l.server.hold = hold })
	if err := l.Reply(l.ada, m, standin.Reply{Answers: map[string]any{"ok": true}}); err != nil {
		t.Fatal(err)
	}
	awaitSeen(t, l, "bare", func(m standin.Message) bool { return !slices.Contains(m.Buttons, "Yes") })
	l.server.set(func() { l.server.err = errors.New("the store is down") })
	close(hold)
	l.server.awaitHeard(t, 2)
	l.server.set(func() { l.server.err = nil })
	l.awaitTold(t, l.ada, "It counted.")
	awaitSeen(t, l, "closed", func(m standin.Message) bool { return m.Closed })
}

func answeredOutcome(words string) *notice.Outcome {
	return &notice.Outcome{Status: fermata.Answered, Words: words, At: time.Now()}
}

func awaitSeen(t *testing.T, l *harness, what string, holds func(standin.Message) bool) {
	t.Helper()
	if err := l.Await("the message is "+what, func() bool { return holds(l.lastMessage(t, l.ada)) }); err != nil {
		t.Fatalf("%v\n%+v", err, l.lastMessage(t, l.ada))
	}
}
