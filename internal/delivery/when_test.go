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
)

// passTime lets time pass while no message is under way, because a message under
// way would lose its lease.
func (w *world) passTime(d time.Duration) {
	w.Helper()
	w.await("no message is under way", func() bool {
		all, _, err := w.s.Deliveries(w.Context(), admin, delivery.Filter{Limit: 500})
		w.OK(err)
		return !slices.ContainsFunc(all, func(d *fermata.Delivery) bool { return d.IsLeased(w.Clock.Now()) })
	})
	w.passLeases(d)
}

// passLeases lets time pass, even if leases end, and wakes all waiting parts.
func (w *world) passLeases(d time.Duration) {
	w.Helper()
	w.Clock.Advance(d)
	_, err := w.Engine.Sweep(w.Context())
	w.OK(err)
	w.nudge()
	w.s.WakeSenders()
}

// nudge commits a change, so that every part checks for work.
func (w *world) nudge() {
	w.Helper()
	_, err := w.Engine.SetPolicy(w.Context(), admin, fermata.DefaultPolicy())
	w.OK(err)
}

// awaitDeferred waits until a delivery is deferred for the reason, and returns it.
func (w *world) awaitDeferred(q *fermata.Question, reason string) *fermata.Delivery {
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
			_, err := w.Engine.Answer(w.Context(), w.caller("bob"), q.ID, fermata.Answer{Answer: "yaml"})
			w.OK(err)
		},
		"timed_out": func(w *world, _ *fermata.Question) { w.passTime(time.Hour) },
		"cancelled": func(w *world, q *fermata.Question) {
			_, err := w.Engine.CancelQuestion(w.Context(), agent, q.ID, "not needed")
			w.OK(err)
		},
		"task cancelled": func(w *world, q *fermata.Question) {
			_, err := w.Engine.CancelTask(w.Context(), admin, q.TaskID, "stop")
			w.OK(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
			w.addChannel()
			q := w.ask(pickQuestion)
			w.awaitMessages("ann", 1)
			w.awaitMessages("bob", 1)
			end(w, q)
			w.await("both messages are closed", func() bool {
				return w.wall.VisibleMessages("wall-ann")[0].Closed && w.wall.VisibleMessages("wall-bob")[0].Closed
			})
			if buttons := w.wall.VisibleMessages("wall-ann")[0].Buttons; len(buttons) > 0 {
				t.Errorf("dead buttons stay: %q", buttons)
			}
		})
	}
}

func TestWhatIsClosedBeforeItsTimeIsNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel(fermata.RouteStep{After: "5m", Channel: "wall"})
	q := w.ask(pickQuestion)
	w.await("it is planned", func() bool { return len(w.deliveries(q)) == 2 })
	_, err := w.Engine.Answer(w.Context(), w.caller("bob"), q.ID, fermata.Answer{Answer: "yaml"})
	w.OK(err)
	for _, d := range w.awaitRest(q) {
		if d.State != fermata.DeliverySkipped || d.Reason != fermata.SkippedClosed {
			t.Errorf("%s %s", d.State, d.Reason)
		}
	}
	w.awaitMessages("ann", 0)
}

// TestWhoVotedIsNotReminded checks that nobody is told again of an approval after voting on it.
func TestWhoVotedIsNotReminded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	q := w.ask(fermata.Ask{
		Title: "Deploy?", Type: fermata.Approval, Approvals: &fermata.Quorum{Required: 2}, Reminders: []string{"10m"},
		Timeout: "30m", OnTimeout: fermata.Escalate, Escalation: []fermata.EscalationLevel{{Timeout: "30m", OnTimeout: fermata.SkipTask}},
	})
	w.awaitMessages("ann", 1)
	_, err := w.Engine.Answer(t.Context(), w.caller("ann"), q.ID, fermata.Answer{Answer: fermata.Approve})
	w.OK(err)
	w.passTime(11 * time.Minute)
	w.awaitMessages("bob", 2)
	w.passTime(20 * time.Minute)
	w.awaitMessages("bob", 3)
	w.awaitRest(q)
	w.awaitMessages("ann", 1)
	w.awaitState(q, fermata.DeliverySkipped, 2)
}

func TestRoutesDelayAndQuestionsNameChannels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel(fermata.RouteStep{After: "5m", Channel: "wall"})
	ask := pickQuestion
	ask.Channels = []string{"wall"}
	w.ask(ask)
	w.awaitMessages("ann", 1)
	w.ask(pickQuestion)
	w.passTime(6 * time.Minute)
	w.awaitMessages("ann", 2)
}

func TestRemindersComeWhileItIsOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	ask := pickQuestion
	ask.Reminders = []string{"10m", "20m", "2h"}
	q := w.ask(ask)
	w.awaitMessages("ann", 1)
	w.passTime(11 * time.Minute)
	w.awaitMessages("ann", 2)
	w.awaitMessages("bob", 2)
	_, err := w.Engine.Answer(w.Context(), w.caller("bob"), q.ID, fermata.Answer{Answer: "yaml"})
	w.OK(err)
	w.passTime(10 * time.Minute)
	w.awaitRest(q)
	for _, m := range w.awaitMessages("ann", 2) {
		if !m.Closed {
			t.Errorf("%+v is open", m)
		}
	}
	// Ann and Bob were reminded once each, although their messages were updated
	// when the question closed.
	reminded, _, err := w.Engine.Events(w.Context(), admin, engine.EventFilter{Types: []string{"question.reminded"}, Limit: 10})
	w.OK(err)
	var told []string
	for _, e := range reminded {
		var data struct {
			DeliveryID string `json:"delivery_id"`
		}
		w.OK(json.Unmarshal(e.Data, &data))
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
		t.Errorf("told about %v, sent were %v", told, sent)
	}
}

// A question whose session Fermata resumes waits as long as necessary. People
// are reminded after an hour, after a day, and then every week, by one row.
func TestAResumedSessionIsRemindedOfEveryWeek(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addChannel()
		task, err := w.Engine.CreateTask(w.Context(), agent, fermata.NewTask{Title: "Build the shop"})
		w.OK(err)
		ask := pickQuestion
		ask.Assignees = []string{"ann"}
		q, err := w.Engine.Ask(w.Context(), agent, task.ID, ask)
		w.OK(err)
		if q.Deadline != nil {
			t.Fatalf("it waits until %s", q.Deadline)
		}
		w.awaitMessages("ann", 1)
		const day = 24 * time.Hour
		for i, wait := range []time.Duration{61 * time.Minute, day, 7 * day} {
			w.passTime(wait)
			w.awaitMessages("ann", i+2)
		}
		// The people who may answer at the moment are reminded, and no other
		// people.
		_, err = w.Engine.Assign(w.Context(), w.caller("ann"), q.ID, fermata.Assignment{Assignees: []string{"bob"}})
		w.OK(err)
		w.awaitMessages("bob", 1)
		// A server that was down for weeks reminds once.
		w.passTime(22 * day)
		w.awaitMessages("bob", 2)
		w.passTime(6 * day)
		w.awaitMessages("bob", 3)
		w.awaitMessages("ann", 4)
		_, err = w.Engine.Answer(w.Context(), w.caller("bob"), q.ID, fermata.Answer{Answer: "yaml"})
		w.OK(err)
		w.passTime(30 * day)
		w.awaitRest(q)
		w.awaitMessages("bob", 3)
	})
}

func TestEscalationReachesTheNextLevel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel(fermata.RouteStep{After: "1m", Channel: "wall"})
	ask := pickQuestion
	ask.Assignees, ask.Timeout, ask.OnTimeout = []string{"ann"}, "10m", fermata.Escalate
	ask.Escalation = []fermata.EscalationLevel{
		{Assignees: []string{"bob"}, Timeout: "10m"},
		{Channels: []string{"wall"}, Timeout: "10m", OnTimeout: fermata.FailTask},
	}
	q := w.ask(ask)
	w.await("it is planned", func() bool { return len(w.deliveries(q)) == 1 })
	w.passTime(2 * time.Minute)
	w.awaitMessages("ann", 1)
	w.awaitMessages("bob", 0)
	w.passTime(9 * time.Minute)
	w.awaitMessages("bob", 1)
	w.passTime(10 * time.Minute)
	w.awaitMessages("bob", 2)
	w.awaitMessages("ann", 2)
	w.passTime(10 * time.Minute)
	w.await("all are closed", func() bool {
		for _, person := range []string{"wall-ann", "wall-bob"} {
			for _, m := range w.wall.VisibleMessages(person) {
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
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	now, err := w.Engine.Now(t.Context())
	w.OK(err)
	quiet := &fermata.QuietHours{From: now.Add(-time.Hour).Format("15:04"), To: now.Add(2 * time.Hour).Format("15:04")}
	_, err = w.s.SetPreferences(t.Context(), admin, "ann", fermata.Preferences{Quiet: quiet})
	w.OK(err)
	passes := *quiet
	passes.Urgent = true
	_, err = w.s.SetPreferences(t.Context(), admin, "bob", fermata.Preferences{Quiet: &passes})
	w.OK(err)
	ask := pickQuestion
	ask.Timeout = "24h"
	q := w.ask(ask)
	w.awaitMessages("bob", 1)
	d := w.awaitDeferred(q, fermata.WaitsForQuiet)
	if d.Member != "ann" || d.NextAt.Before(now.Add(time.Hour)) {
		t.Errorf("%s waits until %s", d.Member, d.NextAt)
	}
	w.awaitMessages("ann", 0)
	w.passTime(3 * time.Hour)
	w.awaitMessages("ann", 1)
}

func TestWhoHasAPageOpenSeesItThere(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addChannel(fermata.RouteStep{After: "0s", Channel: "wall", When: fermata.WhenPageClosed})
		closed := w.s.TrackPage(store.DefaultWorkspace, w.members["ann"].ID)
		q := w.ask(pickQuestion)
		w.awaitMessages("bob", 1)
		w.awaitDeferred(q, fermata.WaitsForPage)
		w.awaitMessages("ann", 0)
		closed()
		w.passTime(time.Minute)
		w.awaitMessages("ann", 1)
	})
}

func TestPreferencesSwitchOffAndDigestsGather(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	off := false
	_, err := w.s.SetPreferences(t.Context(), admin, "ann", fermata.Preferences{Channels: map[string]fermata.ChannelPreference{"wall": {Blocking: &off}}})
	w.OK(err)
	_, err = w.s.SetPreferences(t.Context(), admin, "bob", fermata.Preferences{Digest: fermata.DigestHourly})
	w.OK(err)
	w.ask(pickQuestion)
	w.awaitMessages("bob", 1)
	low := pickQuestion
	low.Type, low.Default = fermata.NonBlocking, "toml"
	first, second := w.ask(low), w.ask(low)
	w.awaitMessages("ann", 2)
	w.awaitDeferred(first, fermata.WaitsForDigest)
	w.awaitDeferred(second, fermata.WaitsForDigest)
	w.passTime(61 * time.Minute)
	all := w.awaitMessages("bob", 2)
	n := w.wall.Notices("wall-bob")[1]
	if len(n.Questions) != 2 || !strings.Contains(all[1].Text, "2 questions wait") || n.Decide {
		t.Errorf("the digest is %q with %d questions", all[1].Text, len(n.Questions))
	}
	w.awaitRest(second)
	// A digest lists the questions that waited when it was sent.
	for _, q := range []*fermata.Question{first, second} {
		_, err = w.Engine.Answer(t.Context(), w.caller("ann"), q.ID, fermata.Answer{Answer: "toml"})
		w.OK(err)
		for _, d := range w.awaitRest(q) {
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
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPlace})
	w.addChannel()
	w.wall.Fail(500, 0)
	ask := pickQuestion
	ask.Timeout = "7d"
	q := w.ask(ask)
	w.await("it failed", func() bool { all := w.deliveries(q); return len(all) == 1 && all[0].State == fermata.DeliveryFailed })
	w.passTime(6 * time.Second)
	w.await("it failed again", func() bool { return w.deliveries(q)[0].Attempts == 2 })
	if d := w.deliveries(q)[0]; d.State != fermata.DeliveryFailed || d.LastError == "" || d.NextAt == nil {
		t.Fatalf("%+v", d)
	}
	w.passTime(40 * time.Second)
	w.await("it is sent", func() bool { return w.deliveries(q)[0].State == fermata.DeliverySent })
	// The second message arrived although its reply was lost: the same id came
	// twice.
	d := w.deliveries(q)[0]
	if d.Attempts != 3 || w.wall.Sent(d.ID) != 2 || len(w.awaitMessages("ann", 1)) != 1 {
		t.Errorf("%d attempts, hung up %d times", d.Attempts, w.wall.Sent(d.ID))
	}

	// Alerts go over the same wall, and fail as well.
	w.wall.Fail(slices.Repeat([]int{500}, 40)...)
	second := w.ask(ask)
	w.await("it is planned", func() bool { return len(w.deliveries(second)) == 1 })
	for n := 1; n < 9; n++ {
		w.await("another attempt", func() bool { return w.deliveries(second)[0].Attempts >= n })
		w.passTime(13 * time.Hour)
	}
	w.await("it is dead", func() bool { return w.deliveries(second)[0].State == fermata.DeliveryDead })
	c, err := w.s.ChannelNamed(t.Context(), admin, "wall")
	w.OK(err)
	if c.LastError == "" {
		t.Error("the channel says nothing of its failure")
	}
	w.wall.ClearFaults()
	on, off := true, false
	_, err = w.s.ChangeChannel(t.Context(), admin, "wall", fermata.ChannelChange{Enabled: &off})
	w.OK(err)
	if _, err = w.s.Redeliver(t.Context(), admin, w.deliveries(second)[0].ID); fermata.CodeOf(err) != fermata.CodeIllegalTransition {
		t.Errorf("over a channel that is disabled: %v", err)
	}
	_, err = w.s.ChangeChannel(t.Context(), admin, "wall", fermata.ChannelChange{Enabled: &on})
	w.OK(err)
	_, err = w.s.Redeliver(t.Context(), admin, w.deliveries(second)[0].ID)
	w.OK(err)
	w.await("it is sent after all", func() bool { return w.deliveries(second)[0].State == fermata.DeliverySent })
}

func TestARefusalForGoodIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPlace})
	w.addChannel()
	w.wall.Fail(401)
	q := w.ask(pickQuestion)
	w.await("it is dead", func() bool { all := w.deliveries(q); return len(all) == 1 && all[0].State == fermata.DeliveryDead })
}

// TestAnUrgentQuestionThatReachesNobodyRaisesAnAlert checks that the operators
// are told.
func TestAnUrgentQuestionThatReachesNobodyRaisesAnAlert(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	w.addMember("op", fermata.RoleOperator)
	w.wall.Fail(401, 401, 401)
	q := w.ask(pickQuestion)
	w.awaitState(q, fermata.DeliveryDead, 3)
	w.passTime(2 * time.Minute)
	w.await("the operator is told", func() bool {
		for _, m := range w.wall.VisibleMessages("wall-op") {
			if strings.Contains(m.Text, "reached nobody") && strings.Contains(m.Text, q.ID) {
				return true
			}
		}
		return false
	})
	w.awaitMessages("ann", 0)
}

// awaitState waits until n deliveries are in the state.
func (w *world) awaitState(q *fermata.Question, state fermata.DeliveryState, n int) {
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

// TestNothingIsLostWhenAProcessDies checks questions that are asked while no
// service runs. After the next start, the service sends an open question, and
// does not send a closed one.
func TestNothingIsLostWhenAProcessDies(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addChannel()
		w.stop()
		q := w.ask(pickQuestion)
		second := w.ask(pickQuestion)
		_, err := w.Engine.Answer(t.Context(), w.caller("ann"), second.ID, fermata.Answer{Answer: "toml"})
		w.OK(err)
		w.start()
		w.awaitMessages("ann", 1)
		w.awaitState(q, fermata.DeliverySent, 2)
		if all := w.deliveries(second); len(all) != 0 {
			t.Errorf("what was closed is sent: %+v", all)
		}
	})
}

// TestAClaimThatIsNotHeardOfComesUpAgain checks that a delivery becomes due
// again when the process that claimed it has died.
func TestAClaimThatIsNotHeardOfComesUpAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPlace})
	w.addChannel(fermata.RouteStep{After: "1m", Channel: "wall"})
	q := w.ask(pickQuestion)
	w.await("it is planned", func() bool { return len(w.deliveries(q)) == 1 })
	w.OK(w.DB.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		rows, err := tx.DeliveriesOf([]string{q.ID})
		for _, d := range rows {
			if d.Kind == "wall" {
				d.Lease(tx.Now())
				tx.SaveDelivery(d)
			}
		}
		return err
	}))
	_, err := w.Engine.Answer(t.Context(), w.caller("ann"), q.ID, fermata.Answer{Answer: "toml"})
	w.OK(err)
	w.passLeases(16 * time.Second)
	if m := w.awaitMessages("ann", 1)[0]; !m.Closed {
		t.Errorf("%+v: it may have gone out, so its end must be told", m)
	}
}

// TestASlowMessageKeepsItsClaim checks that a slow message is not sent a second
// time meanwhile.
func TestASlowMessageKeepsItsClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPlace})
	w.addChannel()
	release := w.wall.Hold()
	q := w.ask(pickQuestion)
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
	w.Clock.Advance(time.Second)
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
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addChannel()
		if opts.URL == "" || !store.IsPostgres(opts.URL) {
			return
		}
		w.startReplica()
		var all []*fermata.Question
		for range 20 {
			all = append(all, w.ask(pickQuestion))
		}
		w.await("one is seen", func() bool { return len(w.wall.VisibleMessages("wall-bob")) > 0 })
		for _, q := range all {
			_, err := w.Engine.Answer(t.Context(), w.caller("ann"), q.ID, fermata.Answer{Answer: "toml"})
			w.OK(err)
		}
		// Before an answer is planned for, the messages about its question rest, too.
		w.awaitPlanned(fermata.EventQuestionAnswered)
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
		for _, m := range w.wall.VisibleMessages("wall-bob") {
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
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	q := w.ask(pickQuestion)
	w.nudge()
	plan, err := w.DB.Reader(t.Context(), store.DefaultWorkspace).Plan()
	w.OK(err)
	if plan.Seq >= 0 || len(w.deliveries(q)) > 0 {
		t.Errorf("planned up to %d", plan.Seq)
	}
}

func TestMachinesGetEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPlace})
	settings := w.wall.Settings()
	settings["events"] = []any{"question.asked", "question.answered"}
	_, err := w.s.AddChannel(t.Context(), admin, fermata.NewChannel{Name: "wall", Kind: "wall", Settings: settings})
	w.OK(err)
	w.setRoutes([]fermata.RouteStep{}...)
	w.await("it is planned for", func() bool {
		plan, err := w.DB.Reader(t.Context(), store.DefaultWorkspace).Plan()
		w.OK(err)
		return plan.Seq >= 0
	})
	q := w.ask(pickQuestion)
	secret := fermata.NewSecret()
	_, err = w.Engine.Answer(t.Context(), w.caller("ann"), q.ID, fermata.Answer{Answer: "toml", Comment: "with " + secret})
	w.OK(err)
	w.awaitMessages("", 2)
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
