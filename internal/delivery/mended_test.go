package delivery_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
)

// askAndAwaitSent asks a question, and waits until its message is recorded as sent.
func (w *world) askAndAwaitSent() *fermata.Question {
	w.Helper()
	ask := pickQuestion
	ask.Timeout = "7d"
	q := w.ask(ask)
	w.await("it is sent", func() bool { all := w.deliveries(q); return len(all) == 1 && all[0].State == fermata.DeliverySent })
	return q
}

// After a channel was repaired, a message shows the end of its question. This
// holds although the remote system had refused the update for good, and the
// channel was disabled meanwhile.
func TestAMendedChannelTellsTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPlace})
	w.addChannel()
	q := w.askAndAwaitSent()
	w.wall.Fail(401)
	_, err := w.Engine.Answer(t.Context(), w.caller("bob"), q.ID, fermata.Answer{Answer: "toml"})
	w.OK(err)
	w.await("it was refused", func() bool { return w.deliveries(q)[0].LastError != "" })
	enabled := func(on bool) {
		t.Helper()
		_, err := w.s.ChangeChannel(t.Context(), admin, "wall", fermata.ChannelChange{Enabled: &on})
		w.OK(err)
	}
	enabled(false)
	if w.wall.VisibleMessages("")[0].Closed {
		t.Fatal("it was told over a channel that is off")
	}
	enabled(true)
	w.await("the end is told", func() bool { return w.wall.VisibleMessages("")[0].Closed })
}

// If sending breaks off, it is unknown whether the message arrived. If the
// question closes before the next try, the message still shows the end.
func TestAMessageThatMayHaveArrivedTellsTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPlace})
	w.addChannel()
	w.wall.Fail(0)
	ask := pickQuestion
	ask.Timeout = "7d"
	q := w.ask(ask)
	w.await("it broke off", func() bool { all := w.deliveries(q); return len(all) == 1 && all[0].State == fermata.DeliveryFailed })
	_, err := w.Engine.Answer(t.Context(), w.caller("bob"), q.ID, fermata.Answer{Answer: "toml"})
	w.OK(err)
	w.passTime(6 * time.Second)
	w.await("the end is told", func() bool { return w.wall.VisibleMessages("")[0].Closed })
}

// A message that was refused cannot have arrived, so its recipient is not told
// about the end.
func TestAMessageThatWasRefusedTellsNoEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPlace})
	w.addChannel()
	w.wall.Fail(500)
	ask := pickQuestion
	ask.Timeout = "7d"
	q := w.ask(ask)
	w.await("it failed", func() bool { all := w.deliveries(q); return len(all) == 1 && all[0].State == fermata.DeliveryFailed })
	_, err := w.Engine.Answer(t.Context(), w.caller("bob"), q.ID, fermata.Answer{Answer: "toml"})
	w.OK(err)
	w.await("it is skipped", func() bool { return w.deliveries(q)[0].State == fermata.DeliverySkipped })
	w.awaitMessages("", 0)
}
