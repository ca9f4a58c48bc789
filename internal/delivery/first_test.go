package delivery_test

import (
	"fmt"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/standin/wall"
)

// addWall adds the wall as a channel and waits for nothing.
func (w *world) addWall() {
	w.Helper()
	_, err := w.s.AddChannel(w.Context(), admin, fermata.NewChannel{Name: "wall", Kind: wall.Kind, Settings: w.wall.Settings()})
	w.ok(err)
}

// Whoever was told that the channel is there can rely on it, even when the
// service had no time yet to look at it.
func TestWhatIsAskedRightAfterTheFirstChannelIsSent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{to: delivery.ToPeople})
		w.routes(fermata.RouteStep{After: "0s", Channel: "wall"})
		w.ask(pick)
		w.stop()
		patience.Receive(t, "the service stops", w.stopped)
		w.addWall()
		q := w.ask(pick)
		w.start()
		if m := w.seen("ann", 1)[0]; m.Question != q.ID {
			t.Errorf("ann sees %+v, want %s", m, q.ID)
		}
	})
}

// While there is no channel, nothing is kept for the next one.
func TestWhatIsAskedWithoutAChannelIsNotSentLater(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{to: delivery.ToPeople})
		w.channel()
		_, err := w.s.RemoveChannel(w.Context(), admin, "wall")
		w.ok(err)
		w.ask(pick)
		w.addWall()
		q := w.ask(pick)
		if m := w.seen("ann", 1)[0]; m.Question != q.ID {
			t.Errorf("ann sees %+v, want %s", m, q.ID)
		}
	})
}

// Whoever was told that a person is there can rely on it, however soon the
// question follows.
func TestWhoCameJustBeforeTheQuestionHearsOfIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{to: delivery.ToPeople})
		w.channel(fermata.RouteStep{After: "0s", Channel: "wall"})
		w.ask(pick)
		w.seen("ann", 1)
		for i := range 25 {
			name := fmt.Sprintf("late%d", i)
			w.member(name, fermata.RoleResponder)
			q := w.ask(pick)
			if m := w.seen(name, 1)[0]; m.Question != q.ID {
				t.Fatalf("%s sees %+v, want %s", name, m, q.ID)
			}
		}
	})
}

// Whoever was told that a channel is there can rely on it, while much else is
// planned.
func TestAChannelThatCameJustBeforeTheQuestionIsUsed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{to: delivery.ToPeople})
		w.channel()
		for i := range 25 {
			name := fmt.Sprintf("wall%d", i)
			w.ask(pick)
			_, err := w.s.AddChannel(w.Context(), admin, fermata.NewChannel{Name: name, Kind: wall.Kind, Settings: w.wall.Settings()})
			w.ok(err)
			named := pick
			named.Channels = []string{name}
			w.ask(named)
			w.seen("ann", 3*(i+1))
		}
	})
}
