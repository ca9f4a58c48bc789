package delivery_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// plannedSeq returns the number of the last event whose deliveries are planned.
func (w *world) plannedSeq() int64 {
	w.Helper()
	plan, err := w.DB.Reader(w.Context(), store.DefaultWorkspace).Plan()
	w.OK(err)
	return plan.Seq
}

// appendEvents writes n events without a subscriber.
func (w *world) appendEvents(n int) {
	w.Helper()
	w.OK(w.DB.Write(w.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		for range n {
			tx.Append(&fermata.Event{Type: fermata.EventTaskCreated, Actor: fermata.SystemActor})
		}
		return nil
	}))
	w.nudge()
}

// Events without a subscriber cost no write. The cursor moves past them only
// about once in a thousand events.
func TestTheCursorMovesForWhatIsPlannedAndNowAndThen(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addChannel()
		w.ask(pickQuestion)
		w.awaitMessages("ann", 1)
		stood := map[int64]bool{}
		began := w.plannedSeq()
		w.await("the cursor moves after a thousand events", func() bool {
			w.appendEvents(25)
			stood[w.plannedSeq()] = true
			return w.plannedSeq() >= began+1000
		})
		if len(stood) > 2 {
			t.Errorf("the cursor stood at %d places", len(stood))
		}
		// No event after the cursor is missed.
		w.appendEvents(25)
		w.ask(pickQuestion)
		w.awaitMessages("ann", 2)
	})
}

// subscribe adds the wall as a channel that subscribes to the types of events,
// and sets empty routes.
func (w *world) subscribe(types ...any) {
	w.Helper()
	settings := w.wall.Settings()
	settings["events"] = types
	_, err := w.s.AddChannel(w.Context(), admin, fermata.NewChannel{Name: "wall", Kind: "wall", Settings: settings})
	w.OK(err)
	w.setRoutes([]fermata.RouteStep{}...)
}

// awaitEvents waits for n events of a type, and checks that there are no more.
func (w *world) awaitEvents(typ string, n int) {
	w.Helper()
	count := func() int {
		found := 0
		for _, s := range w.wall.Notices("") {
			if strings.Contains(string(s.Raw), `"type":"`+typ+`"`) {
				found++
			}
		}
		return found
	}
	w.await("events arrive", func() bool { return count() >= n })
	if got := count(); got != n {
		w.Errorf("%d events %s arrived, want %d", got, typ, n)
	}
}

// A changed channel gets the events from the change on, however far the cursor
// was behind.
func TestAChangedChannelHearsNothingOfBefore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPlace})
		w.subscribe("question.asked")
		w.ask(pickQuestion)
		w.awaitEvents("question.asked", 1)
		w.appendEvents(10)
		_, err := w.s.ChangeChannel(t.Context(), admin, "wall", fermata.ChannelChange{Settings: map[string]any{"events": []any{"*"}}})
		w.OK(err)
		w.appendEvents(1)
		w.awaitEvents("task.created", 1)
		for _, enabled := range []bool{false, true} {
			_, err := w.s.ChangeChannel(t.Context(), admin, "wall", fermata.ChannelChange{Enabled: &enabled})
			w.OK(err)
			if !enabled {
				w.appendEvents(10)
			}
		}
		w.appendEvents(1)
		w.awaitEvents("task.created", 2)
	})
}

// Each event goes to the channels that subscribed to it when it happened, even
// if it is planned after a change.
func TestAChangedSubscriptionHoldsFromTheChangeOn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPlace})
		w.subscribe("question.asked")
		w.stop()
		change := func(ch fermata.ChannelChange) {
			_, err := w.s.ChangeChannel(t.Context(), admin, "wall", ch)
			w.OK(err)
		}
		listen := func(types ...any) { change(fermata.ChannelChange{Settings: map[string]any{"events": types}}) }
		w.ask(pickQuestion)
		w.appendEvents(10)
		listen("task.created")
		w.appendEvents(3)
		w.ask(pickQuestion)
		listen("question.asked")
		w.appendEvents(10)
		w.ask(pickQuestion)
		w.start()
		w.ask(pickQuestion)
		w.awaitEvents("question.asked", 3)
		w.awaitEvents("task.created", 3+1) // with the task of the second question
	})
}

// A channel that is switched off loses the events that were not sent yet. Other
// channels still get them.
func TestAChannelThatWasSwitchedOffHearsNothingOfBefore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPlace})
		w.subscribe("question.asked")
		_, err := w.s.AddChannel(t.Context(), admin, fermata.NewChannel{Name: "other", Kind: "wall", Settings: w.wall.Settings()})
		w.OK(err)
		w.setRoutes([]fermata.RouteStep{}...)
		w.stop()
		w.ask(pickQuestion)
		for _, enabled := range []bool{false, true} {
			_, err := w.s.ChangeChannel(t.Context(), admin, "wall", fermata.ChannelChange{Enabled: &enabled})
			w.OK(err)
			w.ask(pickQuestion)
		}
		w.start()
		w.awaitEvents("question.asked", 1)
	})
}

// If a server is started with mail later, no mail is sent for questions that
// were asked before.
func TestAChannelThatComesWithTheServerHearsNothingOfBefore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addChannel()
		w.ask(pickQuestion)
		w.awaitMessages("ann", 1)
		_, err := w.s.RemoveChannel(t.Context(), admin, "wall")
		w.OK(err)
		w.ask(pickQuestion)
		w.stop()
		fixed, err := json.Marshal(w.wall.Settings())
		w.OK(err)
		w.s.Kinds[0].BuiltIn, w.s.Kinds[0].FixedSettings = true, fixed
		w.start()
		w.await("the channel is there", func() bool {
			all, err := w.s.Channels(t.Context(), admin)
			w.OK(err)
			return len(all) == 1
		})
		q := w.ask(pickQuestion)
		if m := w.awaitMessages("ann", 2)[1]; m.Question != q.ID {
			t.Errorf("ann sees %+v, want %s", m, q.ID)
		}
	})
}

// A question that is asked after a change of the routes follows the new routes,
// even if the planner was working during the change.
func TestAQuestionGoesByTheRoutesThatWereSetBefore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPlace})
		w.addChannel()
		ended := make(chan struct{})
		var planning sync.WaitGroup
		defer planning.Wait()
		defer close(ended)
		for range 3 {
			planning.Go(func() { // The planner is always at work.
				for {
					select {
					case <-ended:
						return
					default:
					}
					if _, err := w.Engine.SetPolicy(t.Context(), admin, fermata.DefaultPolicy()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for n := range 80 {
			after := []time.Duration{time.Hour, 2 * time.Hour}[n%2]
			w.setRoutes(fermata.RouteStep{After: after.String(), Channel: "wall"})
			q := w.ask(pickQuestion)
			w.await("it is planned", func() bool { return len(w.deliveries(q)) == 1 })
			if d := w.deliveries(q)[0]; d.NextAt == nil || d.NextAt.Sub(q.CreatedAt) < after || d.NextAt.Sub(q.CreatedAt) > after+time.Minute {
				t.Fatalf("question %d goes out at %v, want %s after %s", n, d.NextAt, after, q.CreatedAt)
			}
		}
	})
}
