package delivery_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/standin/wall"
)

// alerts lists the alerts to operators so far.
func (w *world) alerts() []*fermata.Event {
	w.Helper()
	all, _, err := w.Engine.Events(w.Context(), admin, engine.EventFilter{Types: []string{"delivery.alert"}, Limit: 50})
	w.OK(err)
	return all
}

// addSecondChannel adds another channel to the same wall.
func (w *world) addSecondChannel() {
	w.Helper()
	_, err := w.s.AddChannel(w.Context(), admin, fermata.NewChannel{Name: "second", Kind: wall.Kind, Settings: w.wall.Settings()})
	w.OK(err)
}

func TestARouteNamesChannelsThatAreThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	routes := fermata.DefaultRoutes() // a kind needs no channel yet
	_, err := w.s.SetRoutes(t.Context(), admin, routes)
	w.OK(err)
	routes.Approval = append(routes.Approval, fermata.RouteStep{After: "0s", Channel: "gone"})
	_, err = w.s.SetRoutes(t.Context(), admin, routes)
	if fermata.CodeOf(err) != fermata.CodeInvalidRequest || !strings.Contains(err.Error(), "approval[3].channel") || !strings.Contains(err.Error(), `"gone"`) {
		t.Errorf("a channel that is not there: %v", err)
	}
}

func TestRemovingAChannelTellsWhichRoutesItLeaves(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addChannel()
		w.addSecondChannel()
		w.setRoutes(fermata.RouteStep{After: "0s", Channel: "wall"}, fermata.RouteStep{After: "1m", Channel: "second"})
		// When a channel is renamed, its routes follow.
		name := "third"
		_, err := w.s.ChangeChannel(t.Context(), admin, "second", fermata.ChannelChange{Name: &name})
		w.OK(err)
		off := false
		changed, err := w.s.ChangeChannel(t.Context(), admin, "third", fermata.ChannelChange{Enabled: &off})
		w.OK(err)
		want := "blocking[1] approval[1] error_recovery[1] non_blocking[1]"
		if got := strings.Join(changed.UnmatchedRouteSteps, " "); got != want {
			t.Errorf("disabled, it left %q", got)
		}
		removed, err := w.s.RemoveChannel(t.Context(), admin, "third")
		w.OK(err)
		if got := strings.Join(removed.UnmatchedRouteSteps, " "); removed.Name != "third" || got != want {
			t.Errorf("removed, it left %q", got)
		}
	})
}

// What was concluded from the open channels is not said if a channel was added meanwhile, also if it is open by now.
func TestChannelsThatWereOpenedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	areStale := w.s.NoteOpenChannels(store.DefaultWorkspace)
	w.addChannel()
	r := w.DB.Reader(w.Context(), store.DefaultWorkspace)
	w.await("the channel is open", func() bool {
		stale, err := w.s.NoteOpenChannels(store.DefaultWorkspace)(r)
		w.OK(err)
		return !stale
	})
	if stale, err := areStale(r); err != nil || !stale {
		t.Errorf("the channels of before are stale: %t, %v", stale, err)
	}
}

func TestAQuestionThatReachesNobodySaysSoAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addMember("ops", fermata.RoleOperator)
		w.addChannel()
		w.addSecondChannel()
		w.setRoutes(fermata.RouteStep{After: "0s", Channel: "second"})
		_, err := w.s.RemoveChannel(t.Context(), admin, "second")
		w.OK(err)
		var q *fermata.Question
		w.await("the answer to asking says so", func() bool {
			// This process notices the removal a moment later.
			q = w.ask(pickQuestion)
			return q.UnreachedReason != ""
		})
		if !strings.Contains(q.UnreachedReason, "second, and no such channel is turned on") {
			t.Errorf("it says %q", q.UnreachedReason)
		}
		told := func() int {
			n := 0
			for _, e := range w.alerts() {
				if e.QuestionID == q.ID {
					n++
				}
			}
			return n
		}
		w.await("operators are told", func() bool { return told() > 0 })
		got, err := w.Engine.Question(t.Context(), admin, q.ID)
		w.OK(err)
		if got.UnreachedReason != q.UnreachedReason {
			t.Errorf("later it says %q", got.UnreachedReason)
		}
		w.passTime(2 * time.Minute)
		w.passTime(10 * time.Second)
		for _, d := range w.deliveries(q) {
			if d.Kind == "watch" {
				t.Errorf("it is watched as well: %+v", d)
			}
		}
		if n := told(); n != 1 {
			t.Errorf("operators were told %d times", n)
		}
	})
}

func TestARouteToTheOnlyChannelThatIsGoneSaysSo(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"removed", "disabled"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, opts store.Options) {
				w := newWorld(t, opts, setup{audience: delivery.ToPeople})
				w.addMember("ops", fermata.RoleOperator)
				w.addChannel()
				if how == "removed" {
					_, err := w.s.RemoveChannel(t.Context(), admin, "wall")
					w.OK(err)
				} else {
					off := false
					_, err := w.s.ChangeChannel(t.Context(), admin, "wall", fermata.ChannelChange{Enabled: &off})
					w.OK(err)
				}
				var q *fermata.Question
				w.await("the answer to asking says so", func() bool {
					q = w.ask(pickQuestion)
					return q.UnreachedReason != ""
				})
				if !strings.Contains(q.UnreachedReason, "wall, and no such channel is turned on") {
					t.Errorf("it says %q", q.UnreachedReason)
				}
				w.await("operators are told", func() bool {
					for _, e := range w.alerts() {
						if e.QuestionID == q.ID {
							return true
						}
					}
					return false
				})
			})
		})
	}
}

func TestAServerWithoutChannelsUsesTheInbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	for _, routes := range []bool{false, true} {
		if routes { // a page saves them like this even if nothing changed
			_, err := w.s.SetRoutes(t.Context(), admin, fermata.DefaultRoutes())
			w.OK(err)
		}
		if q := w.ask(pickQuestion); q.UnreachedReason != "" {
			t.Errorf("it says %q", q.UnreachedReason)
		}
	}
}

// If the question of a run's result names a kind without a channel, the question's reason says so, even if no channels
// are set up.
func TestAReportNamesAKindWithoutAChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	_, err := w.Engine.CreateTask(t.Context(), agent, fermata.NewTask{Title: "Paint"})
	w.OK(err)
	claim, err := w.Engine.Claim(t.Context(), agent, fermata.ClaimRequest{Worker: "w", WaitSeconds: 1})
	w.OK(err)
	ask := pickQuestion
	ask.Channels = []string{"wall"}
	task, err := w.Engine.Finish(t.Context(), agent, claim.Run.ID, fermata.Finish{Token: claim.Run.Token, Result: fermata.ResultNeedsInput, Question: &ask})
	w.OK(err)
	q, err := w.Engine.Question(t.Context(), admin, task.PendingQuestionID)
	w.OK(err)
	if q.UnreachedReason != "it names wall, and no such channel is turned on" {
		t.Errorf("it says %q", q.UnreachedReason)
	}
}

// A process that has not opened a new channel yet does not report that no
// person is told.
func TestAChannelThatIsNotOpenYetIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.stop()
	w.addChannel()
	named := pickQuestion
	named.Channels = []string{"wall"}
	for _, ask := range []fermata.Ask{pickQuestion, named} {
		if q := w.ask(ask); q.UnreachedReason != "" {
			t.Errorf("for %v it says %q", ask.Channels, q.UnreachedReason)
		}
	}
	w.start()
	w.awaitMessages("ann", 2)
}

// setQuietHours gives ann and bob quiet hours that last at least this long.
func (w *world) setQuietHours(lasts time.Duration, deadlines fermata.QuietDeadlines) {
	w.Helper()
	now, err := w.Engine.Now(w.Context())
	w.OK(err)
	hours := &fermata.QuietHours{From: now.Add(-time.Hour).Format("15:04"), To: now.Add(lasts).Format("15:04"), Deadlines: deadlines}
	for _, name := range []string{"ann", "bob"} {
		_, err = w.s.SetPreferences(w.Context(), admin, name, fermata.Preferences{Quiet: hours})
		w.OK(err)
	}
}

func TestADeadlineWithinQuietHours(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	w.setQuietHours(3*time.Hour, "")
	ask := pickQuestion
	ask.Timeout = "1h"
	q := w.ask(ask)
	w.awaitMessages("ann", 1)
	if q.UnreachedReason != "" {
		t.Errorf("it says %q", q.UnreachedReason)
	}
	// A question that waits longer than the quiet hours stays quiet, and this
	// is not a problem.
	ask.Timeout = "24h"
	if q = w.ask(ask); q.UnreachedReason != "" {
		t.Errorf("it says %q", q.UnreachedReason)
	}
	w.awaitDeferred(q, fermata.WaitsForQuiet)

	w.setQuietHours(3*time.Hour, fermata.DeadlinesNone)
	ask.Timeout = "1h"
	q = w.ask(ask)
	if !strings.Contains(q.UnreachedReason, "quiet hours") {
		t.Errorf("the asker is told %q", q.UnreachedReason)
	}
	w.awaitDeferred(q, fermata.WaitsForQuiet)
	w.awaitMessages("ann", 1)
	// After the quiet hours, the people are told that the question timed out.
	w.passTime(2 * time.Hour)
	w.passTime(2 * time.Hour)
	w.await("ann is told", func() bool {
		for _, m := range w.wall.VisibleMessages("wall-ann") {
			if m.Question == q.ID {
				return m.Closed && strings.Contains(m.Text, "timed out")
			}
		}
		return false
	})
}

// Quiet hours of some people do not explain why the others are told nothing. So the reason covers both groups.
func TestQuietHoursOfSomeAreNoReasonForAll(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		member bool
		want   string
	}{
		"everybody has quiet hours": {want: "those who may answer it have quiet hours until after its deadline"},
		"one has no address": {
			member: true, want: "some of those who may answer it have quiet hours until after its deadline, and the others cannot be reached over wall",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
			w.addChannel()
			if tt.member {
				w.AddMember(engine.NewMember{Handle: "eve", Role: fermata.RoleResponder})
			}
			w.setQuietHours(3*time.Hour, fermata.DeadlinesNone)
			ask := pickQuestion
			ask.Timeout = "1h"
			q := w.ask(ask)
			w.awaitDeferred(q, fermata.WaitsForQuiet)
			planned, err := w.Engine.Question(t.Context(), admin, q.ID)
			w.OK(err)
			if planned.UnreachedReason != tt.want {
				t.Errorf("it says %q, want %q", planned.UnreachedReason, tt.want)
			}
		})
	}
}

// The check whether a question arrived also gives every reason.
func TestTheArrivalCheckTellsEveryReason(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		members []string
		want    string
	}{
		"everybody has quiet hours": {want: "those who may answer it have quiet hours"},
		"one has no address": {
			members: []string{"eve"},
			want:    "some of those who may answer it have quiet hours; the others cannot be reached over the channels of its route",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
			w.addChannel()
			for _, handle := range tt.members {
				w.AddMember(engine.NewMember{Handle: handle, Role: fermata.RoleResponder})
			}
			w.setQuietHours(3*time.Hour, fermata.DeadlinesNone)
			ask := pickQuestion
			ask.Timeout = "24h"
			q := w.ask(ask)
			w.awaitDeferred(q, fermata.WaitsForQuiet)
			w.passTime(2 * time.Minute)
			w.await("the check says why", func() bool {
				got, err := w.Engine.Question(t.Context(), admin, q.ID)
				w.OK(err)
				q = got
				return q.UnreachedReason != ""
			})
			if q.UnreachedReason != tt.want {
				t.Errorf("it says %q, want %q", q.UnreachedReason, tt.want)
			}
		})
	}
}
