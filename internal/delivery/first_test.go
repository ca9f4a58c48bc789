package delivery_test

import (
	"fmt"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/standin/wall"
)

// addWall adds the wall as a channel, and does not wait.
func (w *world) addWall() {
	w.Helper()
	_, err := w.s.AddChannel(w.Context(), admin, fermata.NewChannel{Name: "wall", Kind: wall.Kind, Settings: w.wall.Settings()})
	w.OK(err)
}

// A question that is asked right after a channel was added is sent over it,
// even if the service has not noticed the channel yet.
func TestWhatIsAskedRightAfterTheFirstChannelIsSent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.setRoutes(fermata.RouteStep{After: "0s", Channel: "wall"})
		w.ask(pickQuestion)
		w.stop()
		w.addWall()
		q := w.ask(pickQuestion)
		w.start()
		if m := w.awaitMessages("ann", 1)[0]; m.Question != q.ID {
			t.Errorf("ann sees %+v, want %s", m, q.ID)
		}
	})
}

// While there is no channel, no message is stored for a later one.
func TestWhatIsAskedWithoutAChannelIsNotSentLater(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addChannel()
		_, err := w.s.RemoveChannel(w.Context(), admin, "wall")
		w.OK(err)
		w.ask(pickQuestion)
		w.addWall()
		q := w.ask(pickQuestion)
		if m := w.awaitMessages("ann", 1)[0]; m.Question != q.ID {
			t.Errorf("ann sees %+v, want %s", m, q.ID)
		}
	})
}

// A person who was added is told about the next question, however soon it
// follows.
func TestWhoCameJustBeforeTheQuestionHearsOfIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addChannel(fermata.RouteStep{After: "0s", Channel: "wall"})
		w.ask(pickQuestion)
		w.awaitMessages("ann", 1)
		for i := range 25 {
			name := fmt.Sprintf("late%d", i)
			w.addMember(name, fermata.RoleResponder)
			q := w.ask(pickQuestion)
			if m := w.awaitMessages(name, 1)[0]; m.Question != q.ID {
				t.Fatalf("%s sees %+v, want %s", name, m, q.ID)
			}
		}
	})
}

// A channel that was added is used for the next question, even while many other
// messages are planned.
func TestAChannelThatCameJustBeforeTheQuestionIsUsed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addChannel()
		for i := range 25 {
			name := fmt.Sprintf("wall%d", i)
			w.ask(pickQuestion)
			_, err := w.s.AddChannel(w.Context(), admin, fermata.NewChannel{Name: name, Kind: wall.Kind, Settings: w.wall.Settings()})
			w.OK(err)
			named := pickQuestion
			named.Channels = []string{name}
			w.ask(named)
			w.awaitMessages("ann", 3*(i+1))
		}
	})
}
