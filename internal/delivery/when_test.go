package delivery_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/patience"
)

// pass lets time pass while no message is under way, because a message under
// way would lose its lease.
func (w *world) pass(d time.Duration) {
	w.Helper()
	w.await("no message is under way", func() bool {
		all, _, err := w.s.Deliveries(w.Context(), admin, delivery.Filter{Limit: 500})
		w.ok(err)
		return !slices.ContainsFunc(all, func(d *fermata.Delivery) bool { return d.Leased(w.clock.Now()) })
	})
	w.passLeases(d)
}

// passLeases lets time pass, even if leases end, and wakes all waiting parts.
func (w *world) passLeases(d time.Duration) {
	w.Helper()
	w.clock.Advance(d)
	_, err := w.e.Sweep(w.Context())
	w.ok(err)
	w.nudge()
	w.s.LookNow()
}

// nudge commits a change, so that every part checks for work.
func (w *world) nudge() {
	w.Helper()
	_, err := w.e.SetPolicy(w.Context(), admin, fermata.DefaultPolicy())
	w.ok(err)
}

// waits waits until a delivery is deferred for the reason, and returns it.
func (w *world) waits(q *fermata.Question, reason string) *fermata.Delivery {
	w.Helper()
	var found *fermata.Delivery
	w.await("a delivery waits for "+reason, func() bool {
		for _, d := range w.deliveries(q) {
			if d.Reason == reason && d.State == fermata.DeliveryWaiting {
				found = d
			}
		}
		return found != nil
	})
	return found
}

func sqlite(t *testing.T) store.Options { return storetest.SQLite(t) }

func TestEveryEndUpdatesEveryMessage(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world, q *fermata.Question){
		"answered": func(w *world, q *fermata.Question) {
			_, err := w.e.Answer(w.Context(), w.caller("bob"), q.ID, fermata.Answer{Answer: "yaml"})
			w.ok(err)
		},
		"timed_out": func(w *world, _ *fermata.Question) { w.pass(time.Hour) },
		"cancelled": func(w *world, q *fermata.Question) {
			_, err := w.e.CancelQuestion(w.Context(), agent, q.ID, "not needed")
			w.ok(err)
		},
		"task cancelled": func(w *world, q *fermata.Question) {
			_, err := w.e.CancelTask(w.Context(), admin, q.TaskID, "stop")
			w.ok(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, sqlite(t), setup{to: delivery.ToPeople})
			w.channel()
			q := w.ask(pick)
			w.seen("ann", 1)
			w.seen("bob", 1)
			end(w, q)
			w.await("both messages are closed", func() bool {
				return w.wall.Seen("wall-ann")[0].Closed && w.wall.Seen("wall-bob")[0].Closed
			})
			if buttons := w.wall.Seen("wall-ann")[0].Buttons; len(buttons) > 0 {
				t.Errorf("dead buttons stay: %q", buttons)
			}
		})
	}
}

func TestWhatIsClosedBeforeItsTimeIsNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{to: delivery.ToPeople})
	w.channel(fermata.RouteStep{After: "5m", Channel: "wall"})
	q := w.ask(pick)
	w.await("it is planned", func() bool { return len(w.deliveries(q)) == 2 })
	_, err := w.e.Answer(w.Context(), w.caller("bob"), q.ID, fermata.Answer{Answer: "yaml"})
	w.ok(err)
	for _, d := range w.rests(q) {
		if d.State != fermata.DeliverySkipped || d.Reason != fermata.SkippedClosed {
			t.Errorf("%s %s", d.State, d.Reason)
		}
	}
	w.seen("ann", 0)
}

func TestRoutesDelayAndQuestionsNameChannels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{to: delivery.ToPeople})
	w.channel(fermata.RouteStep{After: "5m", Channel: "wall"})
	ask := pick
	ask.Channels = []string{"wall"}
	w.ask(ask)
	w.seen("ann", 1)
	w.ask(pick)
	w.pass(6 * time.Minute)
	w.seen("ann", 2)
}

func TestRemindersComeWhileItIsOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{to: delivery.ToPeople})
	w.channel()
	ask := pick
	ask.Reminders = []string{"10m", "20m", "2h"}
	q := w.ask(ask)
	w.seen("ann", 1)
	w.pass(11 * time.Minute)
	w.seen("ann", 2)
	w.seen("bob", 2)
	_, err := w.e.Answer(w.Context(), w.caller("bob"), q.ID, fermata.Answer{Answer: "yaml"})
	w.ok(err)
	w.pass(10 * time.Minute)
	w.rests(q)
	for _, m := range w.seen("ann", 2) {
		if !m.Closed {
			t.Errorf("%+v is open", m)
		}
	}
	// Ann and Bob were reminded once each, although their messages were updated
	// when the question closed.
	reminded, _, err := w.e.Events(w.Context(), admin, engine.EventFilter{Types: []string{"question.reminded"}, Limit: 10})
	w.ok(err)
	var told []string
	for _, e := range reminded {
		var data struct {
			DeliveryID string `json:"delivery_id"`
		}
		w.ok(json.Unmarshal(e.Data, &data))
		told = append(told, data.DeliveryID)
	}
	var sent []string
	for _, d := range w.deliveries(q) {
		if d.Purpose == "reminder" && d.State == fermata.DeliverySent {
			sent = append(sent, d.ID)
		}
	}
	slices.Sort(told)
	slices.Sort(sent)
	if len(sent) != 2 || !slices.Equal(told, sent) {
		t.Errorf("told of %v, sent were %v", told, sent)
	}
}

// A question whose session Fermata resumes waits as long as necessary. People
// are reminded after an hour, after a day, and then every week, by one row.
func TestAResumedSessionIsRemindedOfEveryWeek(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{to: delivery.ToPeople})
		w.channel()
		task, err := w.e.CreateTask(w.Context(), agent, fermata.NewTask{Title: "Build the shop"})
		w.ok(err)
		ask := pick
		ask.Assignees = []string{"ann"}
		q, err := w.e.Ask(w.Context(), agent, task.ID, ask)
		w.ok(err)
		if q.Deadline != nil {
			t.Fatalf("it waits until %s", q.Deadline)
		}
		w.seen("ann", 1)
		const day = 24 * time.Hour
		for i, wait := range []time.Duration{61 * time.Minute, day, 7 * day} {
			w.pass(wait)
			w.seen("ann", i+2)
		}
		// The people who may answer at the moment are reminded, and no other
		// people.
		_, err = w.e.Assign(w.Context(), w.caller("ann"), q.ID, fermata.Assignment{Assignees: []string{"bob"}})
		w.ok(err)
		w.seen("bob", 1)
		// A server that was down for weeks reminds once.
		w.pass(22 * day)
		w.seen("bob", 2)
		w.pass(6 * day)
		w.seen("bob", 3)
		w.seen("ann", 4)
		_, err = w.e.Answer(w.Context(), w.caller("bob"), q.ID, fermata.Answer{Answer: "yaml"})
		w.ok(err)
		w.pass(30 * day)
		w.rests(q)
		w.seen("bob", 3)
	})
}

func TestEscalationReachesTheNextLevel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{to: delivery.ToPeople})
	w.channel(fermata.RouteStep{After: "1m", Channel: "wall"})
	ask := pick
	ask.Assignees, ask.Timeout, ask.OnTimeout = []string{"ann"}, "10m", fermata.Escalate
	ask.Escalation = []fermata.EscalationLevel{
		{Assignees: []string{"bob"}, Timeout: "10m"},
		{Channels: []string{"wall"}, Timeout: "10m", OnTimeout: fermata.FailTask},
	}
	q := w.ask(ask)
	w.await("it is planned", func() bool { return len(w.deliveries(q)) == 1 })
	w.pass(2 * time.Minute)
	w.seen("ann", 1)
	w.seen("bob", 0)
	w.pass(9 * time.Minute)
	w.seen("bob", 1)
	w.pass(10 * time.Minute)
	w.seen("bob", 2)
	w.seen("ann", 2)
	w.pass(10 * time.Minute)
	w.await("all are closed", func() bool {
		for _, person := range []string{"wall-ann", "wall-bob"} {
			for _, m := range w.wall.Seen(person) {
				if !m.Closed {
					return false
				}
			}
		}
		return true
	})
}

func TestQuietHoursPutOffAndUrgentPasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{to: delivery.ToPeople})
	w.channel()
	now, err := w.e.Now(t.Context())
	w.ok(err)
	quiet := &fermata.QuietHours{From: now.Add(-time.Hour).Format("15:04"), To: now.Add(2 * time.Hour).Format("15:04")}
	_, err = w.s.SetPreferences(t.Context(), admin, "ann", fermata.Preferences{Quiet: quiet})
	w.ok(err)
	passes := *quiet
	passes.Urgent = true
	_, err = w.s.SetPreferences(t.Context(), admin, "bob", fermata.Preferences{Quiet: &passes})
	w.ok(err)
	ask := pick
	ask.Timeout = "24h"
	q := w.ask(ask)
	w.seen("bob", 1)
	d := w.waits(q, fermata.WaitsForQuiet)
	if d.Member != "ann" || d.NextAt.Before(now.Add(time.Hour)) {
		t.Errorf("%s waits until %s", d.Member, d.NextAt)
	}
	w.seen("ann", 0)
	w.pass(3 * time.Hour)
	w.seen("ann", 1)
}

func TestWhoHasAPageOpenSeesItThere(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{to: delivery.ToPeople})
		w.channel(fermata.RouteStep{After: "0s", Channel: "wall", When: fermata.WhenPageClosed})
		closed := w.s.PageOpen(store.DefaultWorkspace, w.members["ann"].ID)
		q := w.ask(pick)
		w.seen("bob", 1)
		w.waits(q, fermata.WaitsForPage)
		w.seen("ann", 0)
		closed()
		w.pass(time.Minute)
		w.seen("ann", 1)
	})
}

func TestPreferencesSwitchOffAndDigestsGather(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{to: delivery.ToPeople})
	w.channel()
	off := false
	_, err := w.s.SetPreferences(t.Context(), admin, "ann", fermata.Preferences{Channels: map[string]fermata.ChannelPreference{"wall": {Blocking: &off}}})
	w.ok(err)
	_, err = w.s.SetPreferences(t.Context(), admin, "bob", fermata.Preferences{Digest: fermata.DigestHourly})
	w.ok(err)
	w.ask(pick)
	w.seen("bob", 1)
	low := pick
	low.Type, low.Default = fermata.NonBlocking, "toml"
	first, second := w.ask(low), w.ask(low)
	w.seen("ann", 2)
	w.waits(first, fermata.WaitsForDigest)
	w.waits(second, fermata.WaitsForDigest)
	w.pass(61 * time.Minute)
	all := w.seen("bob", 2)
	n := w.wall.Notices("wall-bob")[1]
	if len(n.Questions) != 2 || !strings.Contains(all[1].Text, "2 questions wait") || n.Decide {
		t.Errorf("the digest is %q with %d questions", all[1].Text, len(n.Questions))
	}
	w.rests(second)
	// A digest lists the questions that waited when it was sent.
	for _, q := range []*fermata.Question{first, second} {
		_, err = w.e.Answer(t.Context(), w.caller("ann"), q.ID, fermata.Answer{Answer: "toml"})
		w.ok(err)
		for _, d := range w.rests(q) {
			if d.MemberID == w.members["bob"].ID && d.State != fermata.DeliverySent {
				t.Errorf("the digest is %s", d.State)
			}
		}
	}
	if again := w.wall.Notices("wall-bob")[1]; len(again.Questions) != 2 {
		t.Errorf("the digest was rewritten with %d questions", len(again.Questions))
	}
}

func TestAFailureIsTriedAgainAndThenGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{to: delivery.ToPlace})
	w.channel()
	w.wall.Fail(500, 0)
	ask := pick
	ask.Timeout = "7d"
	q := w.ask(ask)
	w.await("it failed", func() bool { all := w.deliveries(q); return len(all) == 1 && all[0].State == fermata.DeliveryFailed })
	w.pass(6 * time.Second)
	w.await("it failed again", func() bool { return w.deliveries(q)[0].Attempts == 2 })
	if d := w.deliveries(q)[0]; d.State != fermata.DeliveryFailed || d.LastError == "" || d.NextAt == nil {
		t.Fatalf("%+v", d)
	}
	w.pass(40 * time.Second)
	w.await("it is sent", func() bool { return w.deliveries(q)[0].State == fermata.DeliverySent })
	// The second message arrived although its reply was lost: the same id came
	// twice.
	d := w.deliveries(q)[0]
	if d.Attempts != 3 || w.wall.Sent(d.ID) != 2 || len(w.seen("ann", 1)) != 1 {
		t.Errorf("%d attempts, hung up %d times", d.Attempts, w.wall.Sent(d.ID))
	}

	// Alerts go over the same wall, and fail as well.
	w.wall.Fail(slices.Repeat([]int{500}, 40)...)
	second := w.ask(ask)
	w.await("it is planned", func() bool { return len(w.deliveries(second)) == 1 })
	for n := 1; n < 9; n++ {
		w.await("another attempt", func() bool { return w.deliveries(second)[0].Attempts >= n })
		w.pass(13 * time.Hour)
	}
	w.await("it is dead", func() bool { return w.deliveries(second)[0].State == fermata.DeliveryDead })
	c, err := w.s.ChannelNamed(t.Context(), admin, "wall")
	w.ok(err)
	if c.LastError == "" {
		t.Error("the channel says nothing of its failure")
	}
	w.wall.Heal()
	on, off := true, false
	_, err = w.s.ChangeChannel(t.Context(), admin, "wall", fermata.ChannelChange{Enabled: &off})
	w.ok(err)
	if _, err = w.s.Redeliver(t.Context(), admin, w.deliveries(second)[0].ID); fermata.CodeOf(err) != fermata.CodeIllegalTransition {
		t.Errorf("over a channel that is disabled: %v", err)
	}
	_, err = w.s.ChangeChannel(t.Context(), admin, "wall", fermata.ChannelChange{Enabled: &on})
	w.ok(err)
	_, err = w.s.Redeliver(t.Context(), admin, w.deliveries(second)[0].ID)
	w.ok(err)
	w.await("it is sent after all", func() bool { return w.deliveries(second)[0].State == fermata.DeliverySent })
}

func TestARefusalForGoodIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{to: delivery.ToPlace})
	w.channel()
	w.wall.Fail(401)
	q := w.ask(pick)
	w.await("it is dead", func() bool { all := w.deliveries(q); return len(all) == 1 && all[0].State == fermata.DeliveryDead })
}

// TestAnUrgentQuestionThatReachesNobodyRaisesAnAlert checks that the operators
// are told.
func TestAnUrgentQuestionThatReachesNobodyRaisesAnAlert(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{to: delivery.ToPeople})
	w.channel()
	w.member("op", fermata.RoleOperator)
	w.wall.Fail(401, 401, 401)
	q := w.ask(pick)
	w.rested(q, fermata.DeliveryDead, 3)
	w.pass(2 * time.Minute)
	w.await("the operator is told", func() bool {
		for _, m := range w.wall.Seen("wall-op") {
			if strings.Contains(m.Text, "reached nobody") && strings.Contains(m.Text, q.ID) {
				return true
			}
		}
		return false
	})
	w.seen("ann", 0)
}

// rested waits until n deliveries are in the state.
func (w *world) rested(q *fermata.Question, state fermata.DeliveryState, n int) {
	w.Helper()
	w.await("deliveries are "+string(state), func() bool {
		found := 0
		for _, d := range w.deliveries(q) {
			if d.State == state {
				found++
			}
		}
		return found == n
	})
}

// TestNothingIsLostWhenAProcessDies checks that another process continues the
// work.
func TestNothingIsLostWhenAProcessDies(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{to: delivery.ToPeople})
		w.channel()
		w.stop()
		patience.Receive(t, "the service stops", w.stopped)
		q := w.ask(pick)
		second := w.ask(pick)
		_, err := w.e.Answer(t.Context(), w.caller("ann"), second.ID, fermata.Answer{Answer: "toml"})
		w.ok(err)
		w.start()
		w.seen("ann", 1)
		w.rested(q, fermata.DeliverySent, 2)
		if all := w.deliveries(second); len(all) != 0 {
			t.Errorf("what was closed is sent: %+v", all)
		}
	})
}

// TestAClaimThatIsNotHeardOfComesUpAgain checks that a delivery becomes due
// again when the process that claimed it has died.
func TestAClaimThatIsNotHeardOfComesUpAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{to: delivery.ToPlace})
	w.channel(fermata.RouteStep{After: "1m", Channel: "wall"})
	q := w.ask(pick)
	w.await("it is planned", func() bool { return len(w.deliveries(q)) == 1 })
	w.ok(w.db.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		rows, err := tx.DeliveriesOf([]string{q.ID})
		for _, d := range rows {
			if d.Kind == "wall" {
				d.Lease(tx.Now())
				tx.SaveDelivery(d)
			}
		}
		return err
	}))
	_, err := w.e.Answer(t.Context(), w.caller("ann"), q.ID, fermata.Answer{Answer: "toml"})
	w.ok(err)
	w.passLeases(16 * time.Second)
	if m := w.seen("ann", 1)[0]; !m.Closed {
		t.Errorf("%+v: it may have gone out, so its end must be told", m)
	}
}

// TestASlowMessageKeepsItsClaim checks that a slow message is not sent a second
// time meanwhile.
func TestASlowMessageKeepsItsClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{to: delivery.ToPlace})
	w.channel()
	release := w.wall.Hold()
	q := w.ask(pick)
	claimed := func() (id string, until time.Time) {
		for _, d := range w.deliveries(q) {
			if d.Kind == "wall" && d.LeasedUntil != nil {
				return d.ID, *d.LeasedUntil
			}
		}
		return "", time.Time{}
	}
	w.await("it is claimed", func() bool { id, _ := claimed(); return id != "" })
	id, first := claimed()
	w.clock.Advance(time.Second)
	w.await("its claim is renewed", func() bool { _, until := claimed(); return until.After(first) })
	release()
	w.await("it is sent", func() bool { id, _ := claimed(); return id == "" })
	if n := w.wall.Sent(id); n != 1 {
		t.Errorf("it was sent %d times", n)
	}
}

// TestTwoProcessesShareTheWork checks that two processes together send every
// message once.
func TestTwoProcessesShareTheWork(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{to: delivery.ToPeople})
		w.channel()
		if opts.URL == "" || !store.IsPostgres(opts.URL) {
			return
		}
		w.replica(opts)
		var all []*fermata.Question
		for range 20 {
			all = append(all, w.ask(pick))
		}
		for _, q := range all {
			_, err := w.e.Answer(t.Context(), w.caller("ann"), q.ID, fermata.Answer{Answer: "toml"})
			w.ok(err)
		}
		for _, q := range all {
			w.await("all rest", func() bool {
				for _, d := range w.deliveries(q) {
					if d.NextAt != nil {
						return false
					}
				}
				return true
			})
			for _, d := range w.deliveries(q) {
				if n := w.wall.Sent(d.ID); n > 1 {
					t.Errorf("%s was hung up %d times", d.ID, n)
				}
			}
		}
		for _, m := range w.wall.Seen("wall-bob") {
			if !m.Closed {
				t.Errorf("%+v is open", m)
			}
		}
	})
}

// TestWithoutAChannelNothingIsPlanned checks that there is no cursor and no row
// without a channel.
func TestWithoutAChannelNothingIsPlanned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{to: delivery.ToPeople})
	q := w.ask(pick)
	w.nudge()
	plan, err := w.db.In(t.Context(), store.DefaultWorkspace).Plan()
	w.ok(err)
	if plan.Seq >= 0 || len(w.deliveries(q)) > 0 {
		t.Errorf("planned up to %d", plan.Seq)
	}
}

func TestMachinesGetEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{to: delivery.ToPlace})
	settings := w.wall.Settings()
	settings["events"] = []any{"question.asked", "question.answered"}
	_, err := w.s.AddChannel(t.Context(), admin, fermata.NewChannel{Name: "wall", Kind: "wall", Settings: settings})
	w.ok(err)
	w.routes([]fermata.RouteStep{}...)
	w.await("it is planned for", func() bool {
		plan, err := w.db.In(t.Context(), store.DefaultWorkspace).Plan()
		w.ok(err)
		return plan.Seq >= 0
	})
	q := w.ask(pick)
	secret := fermata.NewSecret()
	_, err = w.e.Answer(t.Context(), w.caller("ann"), q.ID, fermata.Answer{Answer: "toml", Comment: "with " + secret})
	w.ok(err)
	w.seen("", 2)
	all := string(w.wall.Notices("")[0].Raw) + string(w.wall.Notices("")[1].Raw)
	for _, want := range []string{`"type":"question.asked"`, `"type":"question.answered"`, `with [redacted: fermata-secret]`} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not in %s", want, all)
		}
	}
	if strings.Contains(all, secret) {
		t.Error("a secret went to a machine")
	}
}
