package engine_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// answerHeld gives an answer with undo.
func (w *world) answerHeld(c fermata.Caller, id string, value any) *fermata.Question {
	w.Helper()
	q, err := w.Engine.Answer(w.Context(), c, id, fermata.Answer{Answer: value, Undo: true})
	w.OK(err)
	if q.HeldAnswer == nil || q.Status != fermata.Pending {
		w.Fatalf("nothing is held: %+v", q)
	}
	return q
}

// TestHeldUntilReleased: the task waits until the answer counts, and then
// continues as after any answer.
func TestHeldUntilReleased(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		w.answerHeld(w.alice, q.ID, "toml")
		w.sweep(4 * time.Second)
		w.checkState(task.ID, fermata.TaskAwaitingInput)
		w.checkNoTask()
		w.sweep(2 * time.Second)
		w.checkState(task.ID, fermata.TaskInputReceived)
		got := w.checkQuestion(q.ID, fermata.Answered)
		if got.HeldAnswer != nil || got.Resolution.Answer != "toml" || got.Resolution.AnsweredBy.Name != "alice" {
			w.Fatalf("%+v", got.Resolution)
		}
		n, err := w.Engine.Sweep(w.Context())
		w.OK(err)
		w.Equal(0, n)
		w.Equal(1, w.closings(q.ID))
		w.Equal([]string{"answered: Which format?"}, handedTexts(w.claimTask(task.ID).Context))
		report, err := w.Engine.VerifyAudit(w.Context(), w.alice)
		w.OK(err)
		w.Equal(true, report.OK)
	})
}

// TestAHeldAnswerOfWhoMayNoMore: a held answer does not count if its author may not answer at the time of the
// release. The question stays open.
func TestAHeldAnswerOfWhoMayNoMore(t *testing.T) {
	for name, change := range map[string]func(w *world, question string){
		"disabled": func(w *world, _ string) {
			_, err := w.Engine.ChangeMember(w.Context(), admin, "bob", fermata.MemberChange{Disabled: ptr(true)})
			w.OK(err)
		},
		"a viewer": func(w *world, _ string) {
			_, err := w.Engine.ChangeMember(w.Context(), admin, "bob", fermata.MemberChange{Role: ptr(fermata.RoleViewer)})
			w.OK(err)
		},
		"no longer assigned": func(w *world, id string) { w.mustAssign(id, "alice") },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				bob := w.Person("bob")
				task, q := w.createSuspended(format)
				w.answerHeld(bob, q.ID, "toml")
				change(w, q.ID)
				w.sweep(10 * time.Second)
				w.checkState(task.ID, fermata.TaskAwaitingInput)
				if got := w.checkQuestion(q.ID, fermata.Pending); got.HeldAnswer != nil {
					w.Fatalf("it holds %+v", got.HeldAnswer)
				}
				_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "json"})
				w.OK(err)
			})
		})
	}
}

// TestReleasedByWhoeverLooks: the instant of the release decides, not the sweep.
func TestReleasedByWhoeverLooks(t *testing.T) {
	each(t, func(w *world) {
		bob := w.Person("bob")
		task, q := w.createSuspended(format)
		w.answerHeld(w.alice, q.ID, "toml")
		w.Clock.Advance(5 * time.Second)
		_, err := w.Engine.Answer(w.Context(), bob, q.ID, fermata.Answer{Answer: "json"})
		w.CheckRefused(err, fermata.CodeQuestionClosed)
		w.Equal("toml", w.checkQuestion(q.ID, fermata.Answered).Resolution.Answer)
		_, err = w.Engine.Undo(w.Context(), w.alice, q.ID)
		w.CheckRefused(err, fermata.CodeQuestionClosed)
		w.checkState(task.ID, fermata.TaskInputReceived)
		w.sweep(0)
		w.Equal(1, w.closings(q.ID))
	})
}

// TestHeldBeforeTheDeadline: an answer before the deadline counts, even if it
// is held until the deadline.
func TestHeldBeforeTheDeadline(t *testing.T) {
	each(t, func(w *world) {
		ask := format
		ask.Timeout, ask.Default = "10m", "yaml"
		_, q := w.createSuspended(ask)
		w.Clock.Advance(10*time.Minute - 2*time.Second)
		got := w.answerHeld(w.alice, q.ID, "toml")
		w.Equal(*got.Deadline, got.HeldAnswer.ReleaseAt)
		w.sweep(time.Hour)
		w.Equal("toml", w.checkQuestion(q.ID, fermata.Answered).Resolution.Answer)
	})
}

func TestUndone(t *testing.T) {
	each(t, func(w *world) {
		bob := w.Person("bob")
		task, q := w.createSuspended(format)
		w.answerHeld(w.alice, q.ID, "toml")
		_, err := w.Engine.Answer(w.Context(), bob, q.ID, fermata.Answer{Answer: "json"})
		w.CheckRefused(err, fermata.CodeQuestionClosed)
		_, err = w.Engine.Undo(w.Context(), bob, q.ID)
		w.CheckRefused(err, fermata.CodeNotEligible)
		_, err = w.Engine.Undo(w.Context(), w.agent, q.ID)
		w.CheckRefused(err, fermata.CodeNotEligible)
		got, err := w.Engine.Undo(w.Context(), w.alice, q.ID)
		w.OK(err)
		w.Equal((*fermata.HeldAnswer)(nil), got.HeldAnswer)
		w.sweep(time.Minute)
		w.checkQuestion(q.ID, fermata.Pending)
		w.answerHeld(bob, q.ID, "json")
		w.sweep(time.Minute)
		w.Equal("json", w.checkQuestion(q.ID, fermata.Answered).Resolution.Answer)
		w.Equal([]fermata.EventType{
			fermata.EventTaskCreated, fermata.EventTaskClaimed, fermata.EventRunFinished, fermata.EventQuestionAsked,
			fermata.EventQuestionHeld, fermata.EventQuestionUndone, fermata.EventQuestionHeld, fermata.EventQuestionAnswered,
		}, w.types(task.ID))
	})
}

// TestAgentsDoNotLearnHeldAnswers: no data for agents contains an answer that
// can still be taken back.
func TestAgentsDoNotLearnHeldAnswers(t *testing.T) {
	each(t, func(w *world) {
		ask := format
		ask.DedupeKey = "d"
		task, q := w.createSuspended(ask)
		w.answerHeld(w.alice, q.ID, "toml")
		seen := []*fermata.Question{w.checkQuestion(q.ID, fermata.Pending), w.checkState(task.ID, fermata.TaskAwaitingInput).PendingQuestion}
		again, err := w.Engine.Ask(w.Context(), w.agent, task.ID, ask)
		w.OK(err)
		w.say(task.ID, "hello")
		rc := w.claimTask(task.ID).Context
		seen = append(seen, again, rc.Pending)
		timeline, _, err := w.Engine.Timeline(w.Context(), w.agent, engine.TimelineFilter{TaskID: task.ID})
		w.OK(err)
		for _, entry := range timeline {
			if entry.Question != nil {
				seen = append(seen, entry.Question)
			}
		}
		w.Equal(5, len(seen))
		for i, q := range seen {
			if q == nil || q.HeldAnswer != nil {
				w.Errorf("%d: an agent reads %+v", i, q)
			}
		}
		if q, err := w.Engine.Question(w.Context(), w.alice, q.ID); err != nil || q.HeldAnswer == nil {
			w.Errorf("alice does not see her answer: %+v, %v", q, err)
		}
	})
}

// TestNextQuestionReplacesAHeldOne: an agent that was resumed by a message asks
// a new question. A held answer ends with the old question.
func TestNextQuestionReplacesAHeldOne(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		w.say(task.ID, "think again")
		claim := w.claimTask(task.ID)
		w.answerHeld(w.alice, q.ID, "toml")
		next := w.finish(claim, needsInputWith(fermata.Ask{Question: "Really?"})).PendingQuestionID
		w.checkQuestion(q.ID, fermata.Cancelled)
		w.sweep(time.Minute)
		w.checkQuestion(q.ID, fermata.Cancelled)
		w.checkQuestion(next, fermata.Pending)
		w.Equal(1, w.closings(q.ID))
	})
}

// TestOneEndOfAHeldAnswer: the release, an undo, a cancellation, the deadline
// and another person's answer happen at the same time. One of them decides, and
// an answer that was taken back does not count.
func TestOneEndOfAHeldAnswer(t *testing.T) {
	each(t, func(w *world) {
		for round := range 8 {
			task, q := w.createSuspended(fermata.Ask{Question: "Which?", Timeout: "10m", Default: "d"})
			bob := w.Person(fmt.Sprint("bob", round))
			w.Clock.Advance(10*time.Minute - 5*time.Second - 3*time.Millisecond)
			w.answerHeld(w.alice, q.ID, "held")
			w.Clock.Advance(5*time.Second - 2*time.Millisecond)
			undone := false
			var wg sync.WaitGroup
			run := func(act string, fn func() error, fine ...fermata.Code) {
				wg.Go(func() {
					err := fn()
					for _, code := range append(fine, "", fermata.CodeQuestionClosed) {
						if fermata.CodeOf(err) == code {
							return
						}
					}
					w.Errorf("%s: %v", act, err)
				})
			}
			run("undo", func() error {
				_, err := w.Engine.Undo(w.Context(), w.alice, q.ID)
				undone = err == nil
				return err
			})
			run("answer", func() error {
				_, err := w.Engine.Answer(w.Context(), bob, q.ID, fermata.Answer{Answer: "bob", Undo: round%2 == 0})
				return err
			})
			if round%4 > 1 {
				run("cancel", func() error {
					_, err := w.Engine.CancelQuestion(w.Context(), w.agent, q.ID, "")
					return err
				})
			}
			run("sweep", func() error {
				w.Clock.Advance(6 * time.Millisecond)
				_, err := w.Engine.Sweep(w.Context())
				return err
			})
			wg.Wait()
			w.sweep(time.Minute)
			w.Equal(1, w.closings(q.ID))
			got, err := w.Engine.Question(w.Context(), w.alice, q.ID)
			w.OK(err)
			if undone == (got.Resolution.Answer == "held") && got.Status == fermata.Answered {
				w.Errorf("taken back: %v, and the end is %s", undone, got.Resolution.Sentence())
			}
			w.complete(w.claimTask(task.ID))
		}
	})
}

// TestAnOvertakenAnswerIsKept: if a question closes over an answer that could still be taken back, people can read
// that answer, and agents cannot.
func TestAnOvertakenAnswerIsKept(t *testing.T) {
	overtake := map[string]func(w *world, task, question string) error{
		"withdrawn": func(w *world, _, question string) error {
			_, err := w.Engine.CancelQuestion(w.Context(), w.agent, question, "found it out")
			return err
		},
		"resumed": func(w *world, task, _ string) error {
			_, err := w.Engine.ResumeTask(w.Context(), w.Person("bob"), task, "decide yourself")
			return err
		},
		"the task is cancelled": func(w *world, task, _ string) error {
			_, err := w.Engine.CancelTask(w.Context(), w.Person("bob"), task, "enough")
			return err
		},
		"the next question takes its place": func(w *world, task, _ string) error {
			w.say(task, "think again")
			w.finish(w.claimTask(task), needsInputWith(fermata.Ask{Question: "Really?"}))
			return nil
		},
	}
	for how, end := range overtake {
		t.Run(how, func(t *testing.T) {
			each(t, func(w *world) {
				task, q := w.createSuspended(format)
				_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "toml", Comment: "as ever", Undo: true})
				w.OK(err)
				w.OK(end(w, task.ID, q.ID))
				w.sweep(time.Minute)
				got, err := w.Engine.Question(w.Context(), w.alice, q.ID)
				w.OK(err)
				kept := got.Resolution.OvertakenAnswer
				if got.Status != fermata.Cancelled || got.HeldAnswer != nil || kept == nil || kept.Answer != "toml" || kept.Comment != "as ever" || kept.By.Name != "alice" {
					w.Fatalf("%+v", got.Resolution)
				}
				seen, err := w.Engine.Question(w.Context(), w.agent, q.ID)
				w.OK(err)
				rc, err := w.Engine.ResumeContext(w.Context(), w.agent, task.ID)
				w.OK(err)
				told := []*fermata.Resolution{seen.Resolution}
				for _, answered := range rc.Questions {
					told = append(told, answered.Resolution)
				}
				for _, r := range told {
					if r.OvertakenAnswer != nil {
						w.Errorf("an agent reads %+v", r.OvertakenAnswer)
					}
				}
			})
		})
	}
}
