package engine_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// berlin returns a time zone with summer time.
func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// summerTimes are questions that are asked before a change of summer time, and
// whose deadline is after it.
var summerTimes = map[string]struct {
	asked    string
	timeout  fermata.Timeout
	deadline string
	// wall is the deadline as a clock on the wall shows it.
	wall string
}{
	"a day that lasts 23 hours":       {"2026-03-28T12:00:00+01:00", "1d", "2026-03-29T13:00:00+02:00", "13:00 CEST"},
	"the hour that is not there":      {"2026-03-29T01:30:00+01:00", "45m", "2026-03-29T03:15:00+02:00", "03:15 CEST"},
	"the hour that comes twice":       {"2026-10-25T02:30:00+02:00", "1h", "2026-10-25T02:30:00+01:00", "02:30 CET"},
	"earlier on the wall than asking": {"2026-10-25T02:45:00+02:00", "30m", "2026-10-25T02:15:00+01:00", "02:15 CET"},
	"a day that lasts 25 hours":       {"2026-10-24T12:00:00+02:00", "1d", "2026-10-25T11:00:00+01:00", "11:00 CET"},
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// moveTo moves the clock to an instant.
func (w *world) moveTo(at time.Time) {
	w.Helper()
	now, err := w.Engine.Now(w.Context())
	w.OK(err)
	w.Clock.Advance(at.Sub(now))
}

// checkAudit checks that the audit finds no fault.
func (w *world) checkAudit() {
	w.Helper()
	report, err := w.Engine.VerifyAudit(w.Context(), w.alice)
	w.OK(err)
	w.Equal(true, report.OK)
}

// TestDeadlineAcrossSummerTime: a timeout is a duration and its deadline an
// instant, so changes of summer time do not matter. The process runs in a zone
// with summer time; see TestMain.
func TestDeadlineAcrossSummerTime(t *testing.T) {
	for name, c := range summerTimes {
		t.Run(name, func(t *testing.T) {
			zone := berlin(t)
			deadline := instant(t, c.deadline)
			if wall := deadline.In(zone).Format("15:04 MST"); wall != c.wall || time.Local.String() != zone.String() {
				t.Fatalf("%s is %s on the wall in %s, want %s", c.deadline, wall, time.Local, c.wall)
			}
			each(t, func(w *world) {
				w.moveTo(instant(w.T, c.asked))
				a := format
				a.Timeout, a.Default = c.timeout, "yaml"
				task, q := w.createSuspended(a)
				if late := q.Deadline.Sub(deadline); late < 0 || late > 5*time.Second || q.Deadline.Location() != time.UTC {
					w.Fatalf("the deadline is %v, want %v", q.Deadline, deadline)
				}
				w.moveTo(q.Deadline.Add(-5 * time.Second))
				w.sweep(0)
				w.checkQuestion(q.ID, fermata.Pending)
				w.moveTo(*q.Deadline)
				w.sweep(0)
				w.Equal(*q.Deadline, w.checkQuestion(q.ID, fermata.TimedOut).Resolution.At)
				w.checkState(task.ID, fermata.TaskInputReceived)
			})
		})
	}
}

// TestDatabaseClockDecides: the clock of the database decides, in any time
// zone, however wrong the clocks of the processes are. Here they differ by
// months.
func TestDatabaseClockDecides(t *testing.T) {
	t.Parallel()
	for name, c := range summerTimes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts, clock, ok := storetest.PostgresWithClock(t, "Europe/Berlin", instant(t, c.asked))
			if !ok {
				return
			}
			w := newWorld(t, opts)
			a := format
			a.Timeout, a.Default = c.timeout, "yaml"
			task, q := w.createSuspended(a)
			w.Equal([]time.Time{instant(t, c.asked).UTC(), instant(t, c.deadline).UTC()}, []time.Time{q.CreatedAt.UTC(), q.Deadline.UTC()})
			clock.Set(q.Deadline.Add(-time.Millisecond))
			w.sweep(0)
			w.checkQuestion(q.ID, fermata.Pending)
			clock.Set(*q.Deadline)
			late, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "toml"})
			w.OK(err)
			w.Equal([]any{fermata.TimedOut, "yaml", 1}, []any{late.Status, late.Resolution.Answer, len(late.Resolution.LateAnswers)})
			w.checkState(task.ID, fermata.TaskInputReceived)
		})
	}
}

// TestClockIsSetBack: a question waits until its instant comes, and answers
// before that count. No duration is negative.
func TestClockIsSetBack(t *testing.T) {
	each(t, func(w *world) {
		a := format
		a.Timeout, a.Default = "10m", "yaml"
		task, q := w.createSuspended(a)
		other, asked := w.createSuspended(a)
		w.Clock.Advance(-time.Hour)
		w.sweep(0)
		w.checkQuestion(q.ID, fermata.Pending)
		r := w.answer(asked.ID, "toml").Resolution
		w.Equal([]any{fermata.ActorHuman, true}, []any{r.DecidedBy, r.At.Before(asked.CreatedAt)})
		c := w.claimTask(other.ID)
		w.Equal([]string{"answered: Which format?"}, handedTexts(c.Context))
		w.complete(c)
		events, _, err := w.Engine.Events(w.Context(), w.alice, engine.EventFilter{TaskID: other.ID, Types: []string{"question.answered"}})
		w.OK(err)
		var told struct{ Seconds float64 }
		w.OK(json.Unmarshal(events[0].Data, &told))
		w.Equal(0.0, told.Seconds)
		w.moveTo(q.Deadline.Add(-5 * time.Second))
		w.sweep(0)
		w.checkQuestion(q.ID, fermata.Pending)
		w.sweep(5 * time.Second)
		w.Equal(*q.Deadline, w.checkQuestion(q.ID, fermata.TimedOut).Resolution.At)
		w.checkState(task.ID, fermata.TaskInputReceived)
		w.checkAudit()
	})
}

// TestClockJumpsAhead: a question that is overdue after the jump is settled
// once, at the instant of its deadline. It stays settled when the clock is put
// right.
func TestClockJumpsAhead(t *testing.T) {
	each(t, func(w *world) {
		a := format
		a.Timeout, a.Default = "10m", "yaml"
		task, q := w.createSuspended(a)
		_, never := w.createSuspended(fermata.Ask{Question: "And then?", Timeout: fermata.Never})
		w.sweep(24 * time.Hour)
		w.Clock.Advance(-24 * time.Hour)
		w.sweep(0)
		w.Equal(*q.Deadline, w.checkQuestion(q.ID, fermata.TimedOut).Resolution.At)
		w.checkQuestion(never.ID, fermata.Pending)
		late, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "toml"})
		w.OK(err)
		w.Equal([]any{"yaml", 1}, []any{late.Resolution.Answer, len(late.Resolution.LateAnswers)})
		w.Equal(1, w.closings(q.ID))
		c := w.claimTask(task.ID)
		w.checkNoTask()
		w.complete(c)
		w.checkAudit()
	})
}

// TestTheInstantDecides: an action after the deadline takes effect after the
// deadline does, even if no sweep ran in between.
func TestTheInstantDecides(t *testing.T) {
	for name, do := range map[string]func(w *world, task string) error{
		"cancel": func(w *world, task string) error {
			_, err := w.Engine.CancelTask(w.Context(), w.alice, task, "never mind")
			return err
		},
		"put off": func(w *world, task string) error {
			_, err := w.Engine.DeferTask(w.Context(), w.alice, task, nil)
			return err
		},
		"resume": func(w *world, task string) error {
			_, err := w.Engine.ResumeTask(w.Context(), w.alice, task, "")
			return err
		},
		"ask": func(w *world, task string) error {
			_, err := w.Engine.Ask(w.Context(), w.agent, task, fermata.Ask{Question: "And now?"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				a := format
				a.Timeout = "10m"
				task, q := w.createSuspended(a)
				w.Clock.Advance(10 * time.Minute)
				w.CheckRefused(do(w, task.ID), fermata.CodeIllegalTransition)
				w.Equal(*q.Deadline, w.checkQuestion(q.ID, fermata.TimedOut).Resolution.At)
				w.Equal(fermata.ReasonQuestionTimedOut, w.checkState(task.ID, fermata.TaskFailed).Reason)
				w.sweep(0)
				w.Equal(1, w.closings(q.ID))
				w.checkAudit()
			})
		})
	}
}

// TestAnAnswerOutlivesItsTask: a held answer that already counts is not lost if
// its task ends before a sweep.
func TestAnAnswerOutlivesItsTask(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		w.answerHeld(w.alice, q.ID, "toml")
		c := w.createRunning(fermata.NewTask{})
		aside := func(question string) *fermata.Question {
			return w.ask(c.Task.ID, fermata.Ask{Type: fermata.NonBlocking, Question: question, Default: "no", Timeout: "10m"})
		}
		tabs, spaces := aside("Tabs?"), aside("Spaces?")
		w.answerHeld(w.alice, spaces.ID, "yes")
		asked := w.ask(c.Task.ID, format)
		w.answerHeld(w.alice, asked.ID, "json")
		w.Clock.Advance(5 * time.Second)
		w.cancel(task.ID)
		w.cancel(c.Task.ID)
		for id, value := range map[string]string{q.ID: "toml", asked.ID: "json", spaces.ID: "yes"} {
			r := w.checkQuestion(id, fermata.Answered).Resolution
			w.Equal([]any{fermata.ActorHuman, value, "alice"}, []any{r.DecidedBy, r.Answer, r.AnsweredBy.Name})
			w.Equal(1, w.closings(id))
		}
		w.checkQuestion(tabs.ID, fermata.Cancelled)
		w.checkState(task.ID, fermata.TaskCancelled)
		w.checkState(c.Task.ID, fermata.TaskCancelled)
		w.checkAudit()
	})
}
