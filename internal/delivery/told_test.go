package delivery_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/standin/wall"
)

// awaitText waits until a person sees a message that contains all the words.
func (w *world) awaitText(person string, words ...string) {
	w.Helper()
	w.await(person+" sees "+strings.Join(words, ", "), func() bool {
		for _, m := range w.wall.VisibleMessages(person) {
			found := true
			for _, word := range words {
				found = found && strings.Contains(m.Text, word)
			}
			if found {
				return true
			}
		}
		return false
	})
}

// enableProgress switches on progress messages for people, and sets a route for
// them.
func (w *world) enableProgress(people ...string) {
	w.Helper()
	_, err := w.s.SetRoutes(w.Context(), admin, fermata.Routes{Progress: []fermata.RouteStep{{After: "0s", Channel: "wall"}}})
	w.OK(err)
	on := true
	for _, person := range people {
		_, err = w.s.SetPreferences(w.Context(), admin, person, fermata.Preferences{Channels: map[string]fermata.ChannelPreference{"wall": {Progress: &on}}})
		w.OK(err)
	}
}

// Progress is sent to the people who have switched it on, over its own route.
func TestProgressReachesWhoWantsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	w.enableProgress("ann")
	task, err := w.Engine.CreateTask(t.Context(), agent, fermata.NewTask{Title: "work", Runner: fermata.RunnerExternal})
	w.OK(err)
	w.OK(w.Engine.ReportProgress(t.Context(), agent, task.ID, fermata.Progress{Message: "half of the files are converted"}))
	w.awaitText("wall-ann", "Progress", "half of the files are converted")
	w.awaitMessages("bob", 0)
}

// Progress without a subscriber costs no write, and is not sent later to a
// person who switches it on.
func TestProgressThatNobodyWantsMovesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addChannel()
		w.enableProgress()
		task, err := w.Engine.CreateTask(t.Context(), agent, fermata.NewTask{Title: "work", Runner: fermata.RunnerExternal})
		w.OK(err)
		began := w.plannedSeq()
		for range 20 {
			w.OK(w.Engine.ReportProgress(t.Context(), agent, task.ID, fermata.Progress{Message: "nobody wanted this"}))
		}
		_, _, err = w.s.Deliveries(t.Context(), admin, delivery.Filter{Wait: patience.Limit()})
		w.OK(err)
		if at := w.plannedSeq(); at != began {
			t.Errorf("the cursor moved from %d to %d", began, at)
		}
		w.enableProgress("ann")
		w.OK(w.Engine.ReportProgress(t.Context(), agent, task.ID, fermata.Progress{Message: "this is wanted"}))
		w.awaitText("wall-ann", "this is wanted")
		w.awaitMessages("ann", 1)
	})
}

// If a channel has failed for a while, operators are told over the other
// channels.
func TestAChannelThatFailsIsToldOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	w.addMember("op", fermata.RoleOperator)
	broken := wall.New()
	t.Cleanup(broken.Close)
	for range 30 {
		broken.Fail(500)
	}
	_, err := w.s.AddChannel(t.Context(), admin, fermata.NewChannel{Name: "broken", Kind: "wall", Settings: broken.Settings()})
	w.OK(err)
	w.setRoutes(fermata.RouteStep{After: "0s", Channel: "broken"})
	q := w.ask(pickQuestion)
	failed := func(attempts int) {
		t.Helper()
		w.await("it failed again", func() bool {
			all := w.deliveries(q)
			tooFew := func(d *fermata.Delivery) bool { return d.Attempts < attempts }
			return len(all) == len(w.members) && !slices.ContainsFunc(all, tooFew)
		})
	}
	failed(1)
	for n := 2; n <= 5; n++ {
		w.passTime(3 * time.Minute)
		failed(min(n, 3))
	}
	w.awaitText("wall-op", "The channel broken does not work", "fermata channel test broken")
}

// A person who only looks has not answered: the same id may answer afterwards.
func TestALookDecidesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPlace})
	w.addChannel()
	ask := pickQuestion
	ask.Assignees = []string{"bob"}
	q := w.ask(ask)
	m := w.awaitMessages("ann", 1)[0]
	look := wall.Click{ID: "form", From: "wall-bob", Delivery: m.ID}
	for range 2 {
		if told := w.click(look); told == "" || strings.Contains(told, "counts") || w.status(q) != fermata.Pending {
			t.Errorf("a look: %q", told)
		}
	}
	if told := w.click(wall.Click{ID: "other", From: "wall-ann", Delivery: m.ID}); !strings.Contains(told, "for bob") {
		t.Errorf("who may not is told %q", told)
	}
	look.Text = "toml"
	if told := w.click(look); !strings.Contains(told, "counts") {
		t.Errorf("what was said after a look: %q", told)
	}
	if told := w.click(wall.Click{ID: "late", From: "wall-bob", Delivery: m.ID}); !strings.Contains(told, "closed") {
		t.Errorf("a look at what is closed: %q", told)
	}
}

// Every member can test their own notifications, and sees no settings.
func TestOnesOwnTest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	result, err := w.s.TestForCaller(t.Context(), w.caller("ann"), "wall")
	w.OK(err)
	if !result.OK || result.DeliveryID == "" {
		t.Errorf("got %+v", result)
	}
	w.awaitText("wall-ann", "Fermata reaches you here")
	w.awaitMessages("bob", 0)
	if _, err := w.s.TestForCaller(t.Context(), agent, "wall"); fermata.CodeOf(err) != fermata.CodeForbidden {
		t.Errorf("an agent: %v", err)
	}
	if _, err := w.s.TestForCaller(t.Context(), w.caller("ann"), "nowhere"); fermata.CodeOf(err) != fermata.CodeNotFound {
		t.Errorf("no channel: %v", err)
	}
	off := false
	_, err = w.s.ChangeChannel(t.Context(), admin, "wall", fermata.ChannelChange{Enabled: &off})
	w.OK(err)
	if result, err = w.s.TestForCaller(t.Context(), w.caller("ann"), "wall"); err != nil || result.OK || len(result.Problems) != 1 || result.Problems[0].Hint == "" {
		t.Errorf("a channel that is off: %+v, %v", result, err)
	}
}
