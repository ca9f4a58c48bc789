package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// TestOneEnd: answers, a cancellation and the deadline happen at the same time.
// One of them closes the question, and all callers see the same result.
func TestOneEnd(t *testing.T) {
	each(t, func(w *world) {
		for round := range 8 {
			task, q := w.createSuspended(fermata.Ask{Question: "Which?", Timeout: "10m", Default: "d"})
			people := []fermata.Caller{w.Person(fmt.Sprint("a", round)), w.Person(fmt.Sprint("b", round)), w.Person(fmt.Sprint("c", round))}
			w.Clock.Advance(10*time.Minute - 5*time.Millisecond)
			var wg sync.WaitGroup
			for i, c := range people {
				wg.Go(func() {
					_, err := w.Engine.Answer(w.Context(), c, q.ID, fermata.Answer{Answer: fmt.Sprint(i)})
					if code := fermata.CodeOf(err); code != "" && code != fermata.CodeQuestionClosed {
						w.Errorf("answer: %v", err)
					}
				})
			}
			wg.Go(func() {
				_, err := w.Engine.CancelQuestion(w.Context(), w.agent, q.ID, "")
				if code := fermata.CodeOf(err); code != "" && code != fermata.CodeQuestionClosed {
					w.Errorf("cancel: %v", err)
				}
			})
			wg.Go(func() {
				w.Clock.Advance(5 * time.Millisecond)
				if _, err := w.Engine.Sweep(w.Context()); err != nil {
					w.Errorf("sweep: %v", err)
				}
			})
			wg.Wait()
			w.Equal(1, w.closings(q.ID))
			w.complete(w.claimTask(task.ID))
		}
	})
}

func TestLastVoteIsCountedOnce(t *testing.T) {
	each(t, func(w *world) {
		people := []fermata.Caller{w.alice, w.Person("bob"), w.Person("carol"), w.Person("dan")}
		for range 5 {
			task, q := w.createSuspended(fermata.Ask{Question: "Go?", Action: json.RawMessage(`1`), Approvals: &fermata.Quorum{Required: 2}})
			var wg sync.WaitGroup
			for _, c := range people {
				wg.Go(func() {
					_, err := w.approve(c, q, fermata.Approve)
					if code := fermata.CodeOf(err); code != "" && code != fermata.CodeQuestionClosed {
						w.Errorf("vote: %v", err)
					}
				})
			}
			wg.Wait()
			w.Equal(2, len(w.checkQuestion(q.ID, fermata.Answered).Votes))
			w.Equal(1, w.closings(q.ID))
			w.complete(w.claimTask(task.ID))
		}
	})
}

// TestOneClaim: with many workers, no task is claimed twice and none is left.
func TestOneClaim(t *testing.T) {
	each(t, func(w *world) {
		const tasks, workers = 30, 10
		for i := range tasks {
			id := w.task(fermata.NewTask{Priority: ptr(i % 5)}).ID
			if i%3 == 0 {
				w.say(id, "hello")
			}
		}
		var mu sync.Mutex
		claimed := map[string]int{}
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for {
					c, err := w.Engine.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w"})
					if errors.Is(err, engine.ErrNoTask) {
						return
					}
					if err != nil {
						w.Errorf("claim: %v", err)
						return
					}
					mu.Lock()
					claimed[c.Task.ID] += 1 + len(c.Context.Messages)*100
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		told := 0
		for id, n := range claimed {
			if n != 1 && n != 101 {
				w.Errorf("task %s was claimed as %d", id, n)
			}
			told += n / 100
		}
		w.Equal([]int{tasks, tasks / 3}, []int{len(claimed), told})
	})
}

// TestEverybodyAtOnce runs full cycles in parallel on a few tasks, so that
// calls on one task share transactions.
func TestEverybodyAtOnce(t *testing.T) {
	each(t, func(w *world) {
		const workers, rounds = 6, 6
		var wg sync.WaitGroup
		for i := range workers {
			wg.Go(func() {
				for range rounds {
					if err := w.cycle(i); err != nil {
						w.Errorf("worker %d: %v", i, err)
						return
					}
				}
			})
		}
		wg.Wait()
		report, err := w.Engine.VerifyAudit(w.Context(), w.alice)
		w.OK(err)
		w.Equal(true, report.OK)
		w.checkNoTask()
	})
}

// cycle moves one task from its creation to its end, in its own project.
func (w *world) cycle(i int) error {
	ctx, project := w.Context(), fmt.Sprint("p", i)
	task, err := w.Engine.CreateTask(ctx, w.agent, fermata.NewTask{Title: "x", Project: project})
	if err != nil {
		return err
	}
	for _, want := range []string{"", "yes"} {
		c, err := w.Engine.Claim(ctx, w.agent, fermata.ClaimRequest{Worker: project, Projects: []string{project}})
		if err != nil {
			return fmt.Errorf("claim: %w", err)
		}
		if c.Task.ID != task.ID || want != "" && (len(c.Context.Questions) != 1 || c.Context.Questions[0].Resolution.Answer != want) {
			return fmt.Errorf("claimed %s with %+v", c.Task.ID, c.Context.Questions)
		}
		if _, err := w.Engine.Heartbeat(ctx, w.agent, c.Run.ID, fermata.Heartbeat{Token: c.Run.Token}); err != nil {
			return fmt.Errorf("heartbeat: %w", err)
		}
		f := needsInputWith(fermata.Ask{Question: "Go on?"})
		if want != "" {
			f = completed
		}
		f.Token = c.Run.Token
		t, err := w.Engine.Finish(ctx, w.agent, c.Run.ID, f)
		if err != nil {
			return fmt.Errorf("finish: %w", err)
		}
		if want != "" {
			continue
		}
		if _, err := w.Engine.Answer(ctx, w.alice, t.PendingQuestionID, fermata.Answer{Answer: "yes"}); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
	return nil
}

// TestAnAnswerThatEscalationOvertakes: a person who was asked first can still
// answer, because an escalation adds people and removes none.
func TestAnAnswerThatEscalationOvertakes(t *testing.T) {
	each(t, func(w *world) {
		a := format
		a.Timeout, a.Assignees = "10m", []string{"alice"}
		a.Escalation = []fermata.EscalationLevel{{Assignees: []string{"bob"}, Timeout: "5m", OnTimeout: fermata.FailTask}}
		bob := w.Person("bob")
		_, q := w.createSuspended(a)
		w.sweep(10 * time.Minute)
		_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "toml"})
		w.OK(err)
		w.Equal("alice", w.checkQuestion(q.ID, fermata.Answered).Resolution.AnsweredBy.Name)
		_, err = w.Engine.Answer(w.Context(), bob, q.ID, fermata.Answer{Answer: "yaml"})
		w.CheckRefused(err, fermata.CodeQuestionClosed)
	})
}
