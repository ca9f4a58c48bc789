package engine_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
)

func TestDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		action fermata.TimeoutAction
		state  fermata.TaskState
		reason string
	}{
		"default": {fermata.TakeDefault, fermata.TaskInputReceived, ""},
		"skip":    {fermata.SkipTask, fermata.TaskSkipped, fermata.ReasonQuestionTimedOut},
		"fail":    {fermata.FailTask, fermata.TaskFailed, fermata.ReasonQuestionTimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				a := format
				a.Timeout, a.Default, a.OnTimeout = "10m", "yaml", c.action
				task, q := w.createSuspended(a)
				w.sweep(10*time.Minute - time.Second)
				w.checkQuestion(q.ID, fermata.Pending)
				w.sweep(time.Second)
				r := w.checkQuestion(q.ID, fermata.TimedOut).Resolution
				w.Equal([]any{fermata.ActorTimeout, c.action, *q.Deadline, (*fermata.Actor)(nil)}, []any{r.DecidedBy, r.Outcome, r.At, r.AnsweredBy})
				w.Equal(c.reason, w.checkState(task.ID, c.state).Reason)
				w.Equal(1, w.closings(q.ID))
				w.sweep(time.Hour)
				w.Equal(1, w.closings(q.ID))
			})
		})
	}
}

func TestDeadlineOfAnExternalTask(t *testing.T) {
	for name, c := range map[string]struct {
		action fermata.TimeoutAction
		single bool
		state  fermata.TaskState
	}{
		"default":         {fermata.TakeDefault, false, fermata.TaskInProgress},
		"default, single": {fermata.TakeDefault, true, fermata.TaskDone},
		"skip":            {fermata.SkipTask, false, fermata.TaskSkipped},
		"fail, single":    {fermata.FailTask, true, fermata.TaskFailed},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				task := w.task(fermata.NewTask{Runner: fermata.RunnerExternal, EndsWithAnswer: c.single})
				a := format
				a.Timeout, a.Default, a.OnTimeout = "10m", "yaml", c.action
				w.ask(task.ID, a)
				w.checkState(task.ID, fermata.TaskAwaitingInput)
				w.sweep(10 * time.Minute)
				w.checkState(task.ID, c.state)
			})
		})
	}
}

// TestDeadlineDuringAClarification: the run that answers a clarification keeps
// its task, and gets the news of the deadline at its next contact.
func TestDeadlineDuringAClarification(t *testing.T) {
	for _, action := range []fermata.TimeoutAction{fermata.TakeDefault, fermata.FailTask, fermata.SkipTask} {
		t.Run(string(action), func(t *testing.T) {
			each(t, func(w *world) {
				a := format
				a.Timeout, a.Default, a.OnTimeout = "10m", "yaml", action
				task, q := w.createSuspended(a)
				_, err := w.Engine.Clarify(w.Context(), w.alice, q.ID, "why?")
				w.OK(err)
				w.Clock.Advance(10 * time.Minute)
				c := w.claimTask(task.ID)
				w.sweep(0)
				w.checkState(task.ID, fermata.TaskInProgress)
				w.Equal([]string{"timed_out: Which format?"}, handedTexts(w.heartbeat(c).Context))
				w.Equal("", w.checkState(task.ID, fermata.TaskInProgress).PendingQuestionID)
				w.complete(c)
				w.checkState(task.ID, fermata.TaskDone)
			})
		})
	}
}

func TestEscalation(t *testing.T) {
	each(t, func(w *world) {
		a := format
		a.Timeout, a.Assignees = "10m", []string{"alice"}
		a.Escalation = []fermata.EscalationLevel{
			{Assignees: []string{"bob"}, Timeout: "5m"}, {Assignees: []string{"carol"}, Timeout: "5m", OnTimeout: fermata.SkipTask},
		}
		bob, carol := w.Person("bob"), w.Person("carol")
		task, q := w.createSuspended(a)
		_, err := w.Engine.Answer(w.Context(), bob, q.ID, fermata.Answer{Answer: "toml"})
		w.CheckRefused(err, fermata.CodeNotEligible)
		w.sweep(10 * time.Minute)
		got := w.checkQuestion(q.ID, fermata.Pending)
		w.Equal([]any{1, []string{"alice", "bob"}, q.Deadline.Add(5 * time.Minute)}, []any{got.EscalationLevel, got.Assignees, *got.Deadline})
		_, err = w.Engine.Answer(w.Context(), carol, q.ID, fermata.Answer{Answer: "toml"})
		w.CheckRefused(err, fermata.CodeNotEligible)
		w.checkState(task.ID, fermata.TaskAwaitingInput)
		w.sweep(10 * time.Minute)
		w.Equal(q.Deadline.Add(10*time.Minute), w.checkQuestion(q.ID, fermata.TimedOut).Resolution.At)
		w.checkState(task.ID, fermata.TaskSkipped)
	})
}

func TestSweepSettlesMany(t *testing.T) {
	each(t, func(w *world) {
		var tasks []string
		for range 30 {
			task := w.task(fermata.NewTask{})
			a := format
			a.Timeout, a.Default = "10m", "yaml"
			w.ask(task.ID, a)
			tasks = append(tasks, task.ID)
		}
		w.Clock.Advance(10 * time.Minute)
		n, err := w.Engine.Sweep(w.Context())
		w.OK(err)
		w.Equal(30, n)
		for _, id := range tasks {
			w.checkState(id, fermata.TaskInputReceived)
		}
	})
}

func TestSweepsOfReplicasMeet(t *testing.T) {
	each(t, func(w *world) {
		var ids []string
		for range 20 {
			_, q := w.createSuspended(fermata.Ask{Question: "a?", Timeout: "10m", Default: "b"})
			ids = append(ids, q.ID)
		}
		w.Clock.Advance(10 * time.Minute)
		done := make(chan error)
		for range 4 {
			go func() { _, err := w.Engine.Sweep(w.Context()); done <- err }()
		}
		for range 4 {
			w.OK(patience.Receive(w, "the call ends", done))
		}
		for _, id := range ids {
			w.Equal(1, w.closings(id))
		}
	})
}
