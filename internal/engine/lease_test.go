package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
)

// TestStaleRun: every call for a run that has lost its task is refused.
func TestStaleRun(t *testing.T) {
	for name, lose := range map[string]func(w *world, c *fermata.Claim){
		"lease ended, not yet seen": func(w *world, _ *fermata.Claim) { w.Clock.Advance(fermata.DefaultLease) },
		"lease ended":               func(w *world, _ *fermata.Claim) { w.sweep(fermata.DefaultLease) },
		"taken by the next run":     func(w *world, c *fermata.Claim) { w.sweep(fermata.DefaultLease); w.claimTask(c.Task.ID) },
		"cancelled":                 func(w *world, c *fermata.Claim) { w.cancel(c.Task.ID) },
		"finished":                  func(w *world, c *fermata.Claim) { w.complete(c) },
		"wrong token":               func(_ *world, c *fermata.Claim) { c.Run.Token++ },
		"released": func(w *world, c *fermata.Claim) {
			_, err := w.Engine.Release(w.Context(), w.agent, c.Run.ID, c.Run.Token)
			w.OK(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				c := w.createRunning(fermata.NewTask{})
				lose(w, c)
				before := w.types(c.Task.ID)
				_, err := w.Engine.Heartbeat(w.Context(), w.agent, c.Run.ID, fermata.Heartbeat{Token: c.Run.Token})
				w.CheckRefused(err, fermata.CodeStaleRun)
				_, err = w.Engine.AppendLog(w.Context(), w.agent, c.Run.ID, c.Run.Token, "output")
				w.CheckRefused(err, fermata.CodeStaleRun)
				w.CheckRefused(w.Engine.ReportRunProgress(w.Context(), w.agent, c.Run.ID, fermata.Progress{Message: "half", Token: c.Run.Token}), fermata.CodeStaleRun)
				_, err = w.Engine.Release(w.Context(), w.agent, c.Run.ID, c.Run.Token)
				w.CheckRefused(err, fermata.CodeStaleRun)
				if !strings.HasPrefix(name, "lease ended") {
					// The result of a lost run counts: see TestResultOfALostRun.
					_, err = w.tryFinish(c, completed)
					w.CheckRefused(err, fermata.CodeStaleRun)
				}
				w.Equal(before, w.types(c.Task.ID))
			})
		})
	}
}

func TestLeaseEndGivesBack(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		w.Clock.Advance(fermata.DefaultLease * 2 / 3)
		w.heartbeat(c)
		w.sweep(fermata.DefaultLease * 2 / 3)
		w.checkState(c.Task.ID, fermata.TaskInProgress)
		w.sweep(time.Minute)
		w.Equal(1, w.checkState(c.Task.ID, fermata.TaskOpen).Attempts)
		w.Equal(fermata.RunLost, w.runState(c.Run.ID))
		next := w.claimTask(c.Task.ID)
		w.Equal(2, next.Run.Attempt)
		if next.Run.Token == c.Run.Token {
			w.Error("two runs have one fencing token")
		}
		if rc := next.Context; !rc.Resumed || rc.LastRun == nil || rc.LastRun.State != fermata.RunLost || !strings.Contains(rc.Text, "was lost") {
			w.Errorf("the next run is not told that the one before was lost: %+v", rc)
		}
	})
}

// A message to a first run is not presented as if an earlier run had asked.
func TestWordsToAFirstRun(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		w.say(c.Task.ID, "green, please")
		rc := w.heartbeat(c).Context
		if rc == nil || rc.Resumed || rc.LastRun != nil || !strings.Contains(rc.Text, "while you work") || !strings.Contains(rc.Text, "green, please") {
			w.Errorf("the run is told %+v", rc)
		}
	})
}

func TestLeaseEndGivesBackToInputReceived(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		w.answer(q.ID, "toml")
		c := w.claimTask(task.ID)
		w.Equal(fermata.TaskInputReceived, c.Run.ClaimedFrom)
		w.sweep(fermata.DefaultLease)
		w.checkState(task.ID, fermata.TaskInputReceived)
		w.Equal([]string{"answered: Which format?"}, handedTexts(w.claimTask(task.ID).Context))
	})
}

func TestLostThreeTimesFails(t *testing.T) {
	each(t, func(w *world) {
		task := w.task(fermata.NewTask{})
		for range fermata.DefaultMaxAttempts {
			w.claimTask(task.ID)
			w.sweep(fermata.DefaultLease)
		}
		got := w.checkState(task.ID, fermata.TaskFailed)
		w.Equal(fermata.ReasonAttemptsUsedUp, got.Reason)
		w.checkNoTask()
	})
}

func TestReleaseCostsNoAttempt(t *testing.T) {
	each(t, func(w *world) {
		task := w.task(fermata.NewTask{MaxAttempts: 1})
		for range 3 {
			c := w.claimTask(task.ID)
			got, err := w.Engine.Release(w.Context(), w.agent, c.Run.ID, c.Run.Token)
			w.OK(err)
			w.Equal(0, got.Attempts)
			w.checkState(task.ID, fermata.TaskOpen)
			w.Equal(fermata.RunReleased, w.runState(c.Run.ID))
		}
	})
}

func TestSuspendingForgetsLostRuns(t *testing.T) {
	each(t, func(w *world) {
		task := w.task(fermata.NewTask{})
		w.claimTask(task.ID)
		w.sweep(fermata.DefaultLease)
		got := w.finish(w.claimTask(task.ID), needsInputWith(format))
		w.Equal(0, got.Attempts)
	})
}

func TestRunLog(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		for i, text := range []string{"one\n", "", "\x00\xff two\n"} {
			_, err := w.Engine.AppendLog(w.Context(), w.agent, c.Run.ID, c.Run.Token, text)
			if err != nil {
				w.Fatalf("piece %d: %v", i, err)
			}
		}
		chunks, next, ended, err := w.Engine.Log(w.Context(), w.alice, c.Run.ID, 0, 0)
		w.OK(err)
		w.Equal([]string{"one\n", "\uFFFD\uFFFD two\n"}, []string{chunks[0].Text, chunks[1].Text})
		w.Equal(false, ended)
		got := make(chan bool, 1)
		go func() {
			_, _, ended, err := w.Engine.Log(w.Context(), w.alice, c.Run.ID, next, 30*time.Second)
			got <- ended && err == nil
		}()
		w.complete(c)
		w.Equal(true, patience.Receive(w, "the wait ends", got))
	})
}

func TestSessionAndCheckpointAreKept(t *testing.T) {
	each(t, func(w *world) {
		task := w.task(fermata.NewTask{})
		c := w.claimTask(task.ID)
		session := &fermata.Session{ID: "s1", Runner: "claude", Dir: "/w", Settings: map[string]string{"model": "x"}}
		_, err := w.Engine.Heartbeat(w.Context(), w.agent, c.Run.ID, fermata.Heartbeat{Token: c.Run.Token, Session: session})
		w.OK(err)
		w.Equal(session, w.checkState(task.ID, fermata.TaskInProgress).Session)
		f := needsInputWith(format)
		f.Checkpoint, f.Summary, f.Details = []byte(`{ "step": 3 }`), "half", []byte(`[ 1 ]`)
		q := w.finish(c, f).PendingQuestionID
		w.answer(q, "toml")
		rc := w.claimTask(task.ID).Context
		w.Equal(session, rc.Session)
		w.Equal(`{ "step": 3 }`, string(rc.Checkpoint))
		r, err := w.Engine.Run(w.Context(), w.agent, c.Run.ID)
		w.OK(err)
		w.Equal([]string{"half", `[ 1 ]`, q}, []string{r.Summary, string(r.Details), r.QuestionID})
	})
}

// TestResultOfALostRun: the result of a worker that could not reach the server in time is not lost, unless another
// run has begun or a person has stopped the task.
func TestResultOfALostRun(t *testing.T) {
	for name, c := range map[string]struct {
		lose func(w *world, c *fermata.Claim)
		want fermata.TaskState
	}{
		"nobody noticed":    {func(w *world, _ *fermata.Claim) { w.Clock.Advance(fermata.DefaultLease) }, fermata.TaskDone},
		"the task is open":  {func(w *world, _ *fermata.Claim) { w.sweep(fermata.DefaultLease) }, fermata.TaskDone},
		"somebody wrote":    {func(w *world, c *fermata.Claim) { w.sweep(fermata.DefaultLease); w.say(c.Task.ID, "Stop at noon.") }, fermata.TaskInputReceived},
		"another run began": {func(w *world, c *fermata.Claim) { w.sweep(fermata.DefaultLease); w.claimTask(c.Task.ID) }, ""},
		"it is cancelled":   {func(w *world, c *fermata.Claim) { w.sweep(fermata.DefaultLease); w.cancel(c.Task.ID) }, ""},
		"it is put off": {func(w *world, c *fermata.Claim) {
			w.sweep(fermata.DefaultLease)
			_, err := w.Engine.DeferTask(w.Context(), w.alice, c.Task.ID, nil)
			w.OK(err)
		}, ""},
		"another token": {func(w *world, c *fermata.Claim) { w.sweep(fermata.DefaultLease); c.Run.Token++ }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				claim := w.createRunning(fermata.NewTask{})
				c.lose(w, claim)
				f := completed
				if c.want == fermata.TaskInputReceived {
					f.Heard = &[]string{}
				}
				done, err := w.tryFinish(claim, f)
				if c.want == "" {
					w.CheckRefused(err, fermata.CodeStaleRun)
					return
				}
				w.OK(err)
				w.Equal([]any{c.want, 0}, []any{done.State, done.Attempts})
				run, err := w.Engine.Run(w.Context(), admin, claim.Run.ID)
				w.OK(err)
				w.Equal([]any{fermata.RunFinished, fermata.ResultCompleted}, []any{run.State, run.Result})
				_, err = w.tryFinish(claim, completed)
				w.CheckRefused(err, fermata.CodeStaleRun)
				w.checkAudit()
			})
		})
	}
}

// TestResultOfALostLastRun: the end of the lease has failed the task, because it had no attempt left.
func TestResultOfALostLastRun(t *testing.T) {
	each(t, func(w *world) {
		claim := w.createRunning(fermata.NewTask{MaxAttempts: 1})
		w.sweep(fermata.DefaultLease)
		w.Equal(fermata.ReasonAttemptsUsedUp, w.checkState(claim.Task.ID, fermata.TaskFailed).Reason)
		done, err := w.tryFinish(claim, completed)
		w.OK(err)
		w.Equal([]any{fermata.TaskDone, "", completed.Summary}, []any{done.State, done.Reason, done.Summary})
		w.checkAudit()
	})
}

// Words in a reply that did not reach the worker are handed to the same run again.
func TestALostReplyIsHandedOverAgain(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{Title: "Paint"})
		beat := func(received *[]string) []string {
			reply, err := w.Engine.Heartbeat(w.Context(), w.agent, c.Run.ID, fermata.Heartbeat{Token: c.Run.Token, Received: received})
			w.OK(err)
			if reply.Context == nil {
				return nil
			}
			return reply.Context.IDs()
		}
		w.say(c.Task.ID, "Use red.")
		lost := beat(nil)
		w.Equal(1, len(lost))
		w.Equal(0, len(beat(nil)))
		w.Equal(lost, beat(&[]string{}))
		w.Equal(0, len(beat(&lost)))
	})
}
