package delivery_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/test/standin"
)

// addStrangers adds members whom the wall does not know.
func (w *world) addStrangers(n int) (handles []string) {
	w.Helper()
	for i := range n {
		handle := fmt.Sprintf("stranger%d", i)
		w.members[handle] = w.AddMember(engine.NewMember{Handle: handle, Role: fermata.RoleResponder, Email: handle + "@example.com"})
		handles = append(handles, handle)
	}
	return handles
}

// startReplica starts a second process on the same database.
func (w *world) startReplica() {
	w.Helper()
	db := storetest.Open(w, w.Options)
	e := engine.New(db, engine.Options{})
	s := delivery.New(delivery.Options{DB: db, Engine: e, Kinds: w.s.Kinds, PublicURL: w.s.PublicURL, SendLimit: w.s.SendLimit})
	w.OK(e.Start(w.Context()))
	w.OK(s.Start(w.Context()))
	testkit.Run(w, s.Run, e.RunTail)
}

// The people whom the remote system does not know are told by one message in
// the channel's place, even if several processes found this out.
func TestStrangersShareOneMessage(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeopleOrPlace})
		w.addChannel()
		if store.IsPostgres(opts.URL) {
			w.startReplica()
		}
		const strangers = 12
		w.addStrangers(strangers)
		ask := pickQuestion
		ask.Reminders = []string{"10m", "20m"}
		q := w.ask(ask)
		// Ann sees her own message, and the one for the strangers.
		w.await("strangers are told", func() bool {
			return len(w.wall.VisibleMessages("")) == 1 && len(w.wall.VisibleMessages("wall-ann")) == 2
		})
		for after := 1; after <= 2; after++ {
			w.passTime(11 * time.Minute)
			w.await("they are reminded", func() bool { return len(w.wall.VisibleMessages("")) == after+1 })
		}
		w.await("all were tried", func() bool {
			tried := 0
			for _, d := range w.deliveries(q) {
				if d.Reason == fermata.SkippedNoAddress {
					tried++
				}
			}
			return tried == 3*strangers
		})
		_, err := w.Engine.Answer(t.Context(), w.caller("bob"), q.ID, fermata.Answer{Answer: "toml"})
		w.OK(err)
		open := func(m standin.Message) bool { return !m.Closed }
		w.await("all say the end", func() bool { return !slices.ContainsFunc(w.wall.VisibleMessages(""), open) })
		if n := len(w.wall.VisibleMessages("")); n != 3 {
			t.Errorf("there are %d messages for strangers", n)
		}
	})
}

// An alert goes to the place once. The questions of a stranger's digest are
// posted there one by one. A test of one's own channel reports the problem.
func TestWhatElseIsForStrangers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeopleOrPlace})
	w.addChannel()
	handles := w.addStrangers(2)
	w.await("it is announced", func() bool {
		_, err := w.s.Announce(t.Context(), store.DefaultWorkspace, delivery.Announcement{
			Key: "news", Channels: []string{"wall"}, Members: handles, Title: "The database moves tonight",
		})
		return err == nil
	})
	w.awaitText("", "The database moves tonight")
	for _, handle := range handles {
		_, err := w.s.SetPreferences(t.Context(), admin, handle, fermata.Preferences{Digest: fermata.DigestHourly})
		w.OK(err)
	}
	low := pickQuestion
	low.Type, low.Default, low.Assignees = fermata.NonBlocking, "toml", handles
	first, second := w.ask(low), w.ask(low)
	w.awaitDeferred(first, fermata.WaitsForDigest)
	w.awaitDeferred(second, fermata.WaitsForDigest)
	w.passTime(61 * time.Minute)
	w.await("the questions are told", func() bool { return len(w.wall.VisibleMessages("")) >= 3 })
	w.awaitRest(first)
	w.awaitRest(second)
	of := map[string]standin.Message{}
	for _, m := range w.wall.VisibleMessages("") {
		of[m.Question] = m
	}
	if n := len(w.wall.VisibleMessages("")); n != 3 || len(of[first.ID].Buttons) == 0 || len(of[second.ID].Buttons) == 0 {
		t.Errorf("%d messages: %+v", n, of)
	}
	test, err := w.s.TestForCaller(t.Context(), w.caller(handles[0]), "wall")
	w.OK(err)
	w.await("the test fails", func() bool {
		d, err := w.s.Delivery(t.Context(), admin, test.DeliveryID)
		w.OK(err)
		return d.State == fermata.DeliveryDead && d.LastError == "the wall does not know stranger0"
	})
	if c, err := w.s.ChannelNamed(t.Context(), admin, "wall"); err != nil || c.LastError != "" {
		t.Errorf("the channel is said to fail: %+v, %v", c, err)
	}
}

// If a question closes before its message is sent again, the first message
// stays and shows the end.
func TestAMessageThatWasToBeSentAgainTellsTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPlace})
	w.addChannel()
	ask := pickQuestion
	ask.Timeout = "7d"
	q := w.ask(ask)
	w.awaitMessages("ann", 1)
	w.wall.Fail(500)
	d := w.awaitRest(q)[0]
	_, err := w.s.Redeliver(t.Context(), admin, d.ID)
	w.OK(err)
	w.await("it failed", func() bool { return w.deliveries(q)[0].State == fermata.DeliveryFailed })
	_, err = w.Engine.Answer(t.Context(), w.caller("bob"), q.ID, fermata.Answer{Answer: "toml"})
	w.OK(err)
	w.await("the first message is closed", func() bool { return w.wall.VisibleMessages("ann")[0].Closed })
	if d := w.awaitRest(q)[0]; d.State != fermata.DeliverySent || d.ShownStatus != fermata.Answered {
		t.Errorf("it is %s and shows %s", d.State, d.ShownStatus)
	}
}
