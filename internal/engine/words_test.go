package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// TestRunCannotEndOverUnreadWords: if a message comes while a run ends, the result is stored, and the task continues
// with the message in the same session.
func TestRunCannotEndOverUnreadWords(t *testing.T) {
	other := "another task"
	for name, result := range map[string]fermata.Result{
		"completed": fermata.ResultCompleted, "failed": fermata.ResultFailed, "blocked": fermata.ResultBlocked, "blocked by a task": fermata.ResultBlocked,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				c := w.createRunning(fermata.NewTask{})
				f := fermata.Finish{Result: result, Summary: "painted red", Session: &fermata.Session{ID: "s-1"}}
				if strings.Contains(name, "task") {
					f.BlockedBy = []string{w.task(fermata.NewTask{Title: other}).ID}
				}
				w.say(c.Task.ID, "green, please")
				task := w.finish(c, f)
				w.Equal(fermata.TaskInputReceived, task.State)
				w.Equal("painted red", task.Summary)
				w.Equal(len(f.BlockedBy), len(task.BlockedBy))
				next := w.claimTask(c.Task.ID)
				w.Equal([]string{"green, please"}, handedTexts(next.Context))
				w.Equal("s-1", next.Context.Session.ID)
				w.complete(next)
				w.checkState(c.Task.ID, fermata.TaskDone)
			})
		})
	}
}

// TestRunCannotEndOverAnUnreadAnswer: an answer to a side question of the agent counts as a person's words. A
// deadline does not.
func TestRunCannotEndOverAnUnreadAnswer(t *testing.T) {
	each(t, func(w *world) {
		note := fermata.Ask{Type: fermata.NonBlocking, Question: "Which?", ResponseType: fermata.ResponseText, Default: "a"}
		c := w.createRunning(fermata.NewTask{})
		w.answer(w.ask(c.Task.ID, note).ID, "b")
		w.complete(c)
		w.checkState(c.Task.ID, fermata.TaskInputReceived)
		w.Equal([]string{"answered: Which?"}, handedTexts(w.claimTask(c.Task.ID).Context))
	})
}

// TestRunCannotEndOverAnUnreadReason: the reason with which a person withdrew a question counts as their words, too.
func TestRunCannotEndOverAnUnreadReason(t *testing.T) {
	each(t, func(w *world) {
		note := fermata.Ask{Type: fermata.NonBlocking, Question: "Which?", ResponseType: fermata.ResponseText, Default: "a"}
		for _, tt := range []struct {
			reason string
			want   fermata.TaskState
		}{{"", fermata.TaskDone}, {"use b", fermata.TaskInputReceived}} {
			c := w.createRunning(fermata.NewTask{})
			_, err := w.Engine.CancelQuestion(w.Context(), w.alice, w.ask(c.Task.ID, note).ID, tt.reason)
			w.OK(err)
			w.complete(c)
			w.checkState(c.Task.ID, tt.want)
		}
	})
}

// TestRunThatEndsReleasesHeldAnswers: a held answer is not dropped when the run ends; it counts at once.
func TestRunThatEndsReleasesHeldAnswers(t *testing.T) {
	each(t, func(w *world) {
		for _, ask := range []fermata.Ask{format, {Type: fermata.NonBlocking, Question: "Which?", Default: "json"}} {
			c := w.createRunning(fermata.NewTask{})
			q := w.ask(c.Task.ID, ask)
			w.answerHeld(w.alice, q.ID, "toml")
			w.complete(c)
			w.Equal("toml", w.checkQuestion(q.ID, fermata.Answered).Resolution.Answer)
			w.checkState(c.Task.ID, fermata.TaskInputReceived)
			w.complete(w.claimTask(c.Task.ID))
			w.checkState(c.Task.ID, fermata.TaskDone)
		}
	})
}

// TestWhatTimeDecidedEndsWithItsRun: a run may end its task although a deadline closed its question.
func TestWhatTimeDecidedEndsWithItsRun(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		w.ask(c.Task.ID, fermata.Ask{Question: "Go?", ResponseType: fermata.ResponseText, Default: "x", Timeout: "5m"})
		for range 5 {
			w.Clock.Advance(59 * time.Second)
			w.heartbeat(c)
		}
		w.Clock.Advance(30 * time.Second)
		w.complete(c)
		w.checkState(c.Task.ID, fermata.TaskDone)
	})
}

// TestFailingRunsEndTheTask: unread words resume a failed task, but not without limit.
func TestFailingRunsEndTheTask(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{MaxAttempts: 2})
		for _, want := range []fermata.TaskState{fermata.TaskInputReceived, fermata.TaskFailed} {
			w.say(c.Task.ID, "again")
			w.Equal(want, w.finish(c, fermata.Finish{Result: fermata.ResultFailed}).State)
			if want == fermata.TaskInputReceived {
				c = w.claimTask(c.Task.ID)
			}
		}
		_, err := w.Engine.ReopenTask(w.Context(), w.alice, c.Task.ID)
		w.OK(err)
		w.Equal([]string{"again"}, handedTexts(w.claimTask(c.Task.ID).Context))
	})
}

// TestUnheardWordsAreTakenBack: words that a run was handed but its agent was never told are handed to the next run,
// and nothing else is.
func TestUnheardWordsAreTakenBack(t *testing.T) {
	each(t, func(w *world) {
		for result, state := range map[fermata.Result]fermata.TaskState{
			fermata.ResultCompleted: fermata.TaskInputReceived, fermata.ResultFailed: fermata.TaskInputReceived,
		} {
			c := w.createRunning(fermata.NewTask{})
			w.say(c.Task.ID, "first")
			w.say(c.Task.ID, "second")
			w.Equal([]string{"first", "second"}, handedTexts(w.heartbeat(c).Context))
			all, _, err := w.Engine.Messages(w.Context(), w.alice, c.Task.ID, "", 0)
			w.OK(err)
			w.Equal(state, w.finish(c, fermata.Finish{Result: result, Heard: &[]string{all[0].ID}}).State)
			next := w.claimTask(c.Task.ID)
			w.Equal([]string{"second"}, handedTexts(next.Context))
			w.Equal(fermata.TaskDone, w.finish(next, fermata.Finish{Result: fermata.ResultCompleted, Heard: &[]string{all[1].ID}}).State)
		}
	})
}

// TestUnheardAnswerIsTakenBack: an agent ends to wait for a question that was answered in the meantime and handed to
// its own run. The task must not wait.
func TestUnheardAnswerIsTakenBack(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		q := w.ask(c.Task.ID, format)
		w.answer(q.ID, "toml")
		w.Equal(1, len(handedTexts(w.heartbeat(c).Context)))
		w.finish(c, fermata.Finish{Result: fermata.ResultNeedsInput, Heard: &[]string{}})
		w.checkState(c.Task.ID, fermata.TaskInputReceived)
		w.Equal(1, len(handedTexts(w.claimTask(c.Task.ID).Context)))
	})
}

// TestDecideYourself: resuming a task closes its question, by the person who resumed it
// and with their words, and tells the agent to decide.
func TestDecideYourself(t *testing.T) {
	approval := fermata.Ask{Type: fermata.Approval, Question: "Deploy?"}
	for name, ask := range map[string]fermata.Ask{"question": format, "approval": approval} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				task, q := w.createSuspended(ask)
				got, err := w.Engine.ResumeTask(w.Context(), w.alice, task.ID, "take the cheapest")
				w.OK(err)
				w.Equal(fermata.TaskInputReceived, got.State)
				w.Equal("", got.PendingQuestionID)
				r := w.checkQuestion(q.ID, fermata.Cancelled).Resolution
				w.Equal([]any{fermata.ActorHuman, "alice", "take the cheapest", true}, []any{r.DecidedBy, r.AnsweredBy.Name, r.Comment, r.DecideYourself})
				c := w.claimTask(task.ID)
				if c.Context.Pending != nil {
					w.Errorf("the question is still open: %s", c.Context.Pending.ID)
				}
				for _, want := range []string{"alice (human) closed the question", "Nobody will answer it", "say in your report what you chose", "take the cheapest"} {
					if !strings.Contains(c.Context.Text, want) {
						w.Errorf("the agent is not told %q:\n%s", want, c.Context.Text)
					}
				}
				w.Equal(name == "approval", strings.Contains(c.Context.Text, "do not do it"))
				// The run cannot end with needs_input again, because no question is pending.
				_, err = w.tryFinish(c, fermata.Finish{Result: fermata.ResultNeedsInput})
				w.CheckRefused(err, fermata.CodeInvalidRequest)
				w.complete(c)
				w.checkState(task.ID, fermata.TaskDone)
			})
		})
	}
}

// TestDecideYourselfMeanwhile: the question also closes if its task was resumed by a message, or if its agent runs.
func TestDecideYourselfMeanwhile(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		w.say(task.ID, "which file?")
		_, err := w.Engine.ResumeTask(w.Context(), w.alice, task.ID, "")
		w.OK(err)
		w.checkQuestion(q.ID, fermata.Cancelled)
		w.Equal([]string{"cancelled: " + q.Title, "which file?"}, handedTexts(w.claimTask(task.ID).Context))

		c := w.createRunning(fermata.NewTask{})
		second := w.ask(c.Task.ID, format)
		_, err = w.Engine.ResumeTask(w.Context(), w.alice, c.Task.ID, "")
		w.OK(err)
		w.checkState(c.Task.ID, fermata.TaskInProgress)
		w.Equal([]string{"cancelled: " + second.Title}, handedTexts(w.heartbeat(c).Context))
	})
}

// TestDecideYourselfOfAnExternalTask: a waiting caller learns that there is no answer. A task for a single question
// ends with it.
func TestDecideYourselfOfAnExternalTask(t *testing.T) {
	each(t, func(w *world) {
		for single, want := range map[bool]fermata.TaskState{false: fermata.TaskInProgress, true: fermata.TaskCancelled} {
			id := w.task(fermata.NewTask{Runner: fermata.RunnerExternal, EndsWithAnswer: single}).ID
			q := w.ask(id, format)
			_, err := w.Engine.ResumeTask(w.Context(), w.alice, id, "")
			w.OK(err)
			w.checkQuestion(q.ID, fermata.Cancelled)
			w.checkState(id, want)
		}
	})
}

// TestResumeWithWords: if no question takes the words, they become a message.
func TestResumeWithWords(t *testing.T) {
	each(t, func(w *world) {
		first := w.createRunning(fermata.NewTask{})
		for _, id := range []string{w.task(fermata.NewTask{BlockedBy: []string{first.Task.ID}}).ID, w.task(fermata.NewTask{DeferUntil: ptr(time.Now().Add(time.Hour))}).ID} {
			_, err := w.Engine.ResumeTask(w.Context(), w.alice, id, "do not wait")
			w.OK(err)
			w.checkState(id, fermata.TaskInputReceived)
			w.Equal([]string{"do not wait"}, handedTexts(w.claimTask(id).Context))
		}
		_, err := w.Engine.ResumeTask(w.Context(), w.alice, first.Task.ID, "\x00")
		w.CheckRefused(err, fermata.CodeInvalidRequest)
	})
}

// TestGateOfADecidedCall: if a person let the run decide about a call, the same call of this run is denied without
// asking. In a later run, people are asked again.
func TestGateOfADecidedCall(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		call := fermata.GateCall{TaskID: c.Task.ID, CallID: "call-1", Tool: "Bash", Input: []byte(`{"command":"rm x"}`)}
		v, err := w.Engine.Gate(w.Context(), w.agent, call)
		w.OK(err)
		w.Equal(fermata.GateAsk, v.Decision)
		w.finish(c, fermata.Finish{Result: fermata.ResultNeedsInput})
		_, err = w.Engine.ResumeTask(w.Context(), w.alice, c.Task.ID, "")
		w.OK(err)
		w.claimTask(c.Task.ID)
		for _, id := range []string{"call-1", "call-2"} {
			call.CallID = id
			v, err = w.Engine.Gate(w.Context(), w.agent, call)
			w.OK(err)
			w.Equal(fermata.GateDeny, v.Decision)
			if !strings.Contains(v.Reason, "Choose another way") {
				w.Errorf("the reason is %q", v.Reason)
			}
		}
	})
}

// TestWhyATaskWasCancelledIsKept: the reason stays in the thread, for people and for the next run after the task, or
// a task below it, is reopened.
func TestWhyATaskWasCancelledIsKept(t *testing.T) {
	each(t, func(w *world) {
		parent := w.createRunning(fermata.NewTask{})
		child := w.task(fermata.NewTask{Title: "below", ParentID: parent.Task.ID})
		_, err := w.Engine.CancelTask(w.Context(), w.alice, parent.Task.ID, "use staging")
		w.OK(err)
		for _, id := range []string{parent.Task.ID, child.ID} {
			thread, _, err := w.Engine.Messages(w.Context(), w.alice, id, "", 10)
			w.OK(err)
			if len(thread) != 1 || thread[0].Body != "use staging" || thread[0].Author.Name != "alice" || thread[0].Handoff != fermata.HandoffEnded {
				w.Fatalf("the thread of %s: %+v", id, thread)
			}
			_, err = w.Engine.ReopenTask(w.Context(), w.alice, id)
			w.OK(err)
			rc := w.claimTask(id).Context
			w.Equal([]string{"use staging"}, handedTexts(rc))
			// The agent must not take the old reason for an order.
			if !rc.Messages[0].Cancels || !strings.Contains(rc.Text, "alice (human) cancelled the task at ") || !strings.Contains(rc.Text, "It was reopened since.") {
				w.Errorf("the agent is told:\n%s", rc.Text)
			}
		}
	})
}

// TestWordsOfASecondCancelAreRefused: a cancelled task stays unchanged, so a second call with another reason is
// refused. The same reason is no error.
func TestWordsOfASecondCancelAreRefused(t *testing.T) {
	each(t, func(w *world) {
		bob := w.Person("bob")
		task, q := w.createSuspended(format)
		cancelTwice := func(code fermata.Code, cancel func(c fermata.Caller, reason string) error) {
			w.OK(cancel(w.alice, "found it out"))
			w.OK(cancel(w.alice, " found it out\n"))
			w.OK(cancel(bob, ""))
			w.CheckRefused(cancel(bob, "too dear"), code)
		}
		cancelTwice(fermata.CodeQuestionClosed, func(c fermata.Caller, reason string) error {
			_, err := w.Engine.CancelQuestion(w.Context(), c, q.ID, reason)
			return err
		})
		cancelTwice(fermata.CodeIllegalTransition, func(c fermata.Caller, reason string) error {
			_, err := w.Engine.CancelTask(w.Context(), c, task.ID, reason)
			return err
		})
		thread, _, err := w.Engine.Messages(w.Context(), w.alice, task.ID, "", 10)
		w.OK(err)
		w.Equal(1, len(thread))
	})
}
