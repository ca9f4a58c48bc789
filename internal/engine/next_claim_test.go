package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// A result with a claim gets the next task in the same transaction.
func TestAResultClaimsTheNextTask(t *testing.T) {
	each(t, func(w *world) {
		commits := w.commits()
		last := func() []fermata.EventType { all := commits(); return all[len(all)-1] }
		running := w.createRunning(fermata.NewTask{})
		waiting := w.task(fermata.NewTask{})
		finish := fermata.Finish{Result: fermata.ResultCompleted, Claim: &fermata.ClaimRequest{Worker: "w1"}}

		reply, err := w.tryFinishAndClaim(running, finish)
		w.OK(err)
		w.Equal(running.Task.ID, reply.ID)
		w.Equal(fermata.TaskDone, reply.State)
		w.Equal(waiting.ID, reply.Next.Task.ID)
		w.Equal([]fermata.EventType{fermata.EventRunFinished, fermata.EventTaskEnded, fermata.EventTaskClaimed}, last())

		// The next result finds no task, and counts.
		reply, err = w.tryFinishAndClaim(reply.Next, finish)
		w.OK(err)
		w.Equal(fermata.TaskDone, reply.State)
		w.Equal(true, reply.Next == nil)
	})
}

// A run with answers that came meanwhile is continued by the claim of its own result.
func TestAResultClaimsItsOwnTask(t *testing.T) {
	each(t, func(w *world) {
		running := w.createRunning(fermata.NewTask{})
		w.say(running.Task.ID, "one more thing")
		reply, err := w.tryFinishAndClaim(running, fermata.Finish{Result: fermata.ResultCompleted, Claim: &fermata.ClaimRequest{Worker: "w1"}})
		w.OK(err)
		w.Equal(fermata.TaskInputReceived, reply.State)
		w.Equal(running.Task.ID, reply.Next.Task.ID)
		w.Equal([]string{"one more thing"}, handedTexts(reply.Next.Context))
	})
}

// The repetition of a result whose reply was lost gets the same next task.
func TestARepeatedResultGetsTheSameNextTask(t *testing.T) {
	each(t, func(w *world) {
		running := w.createRunning(fermata.NewTask{})
		waiting, left := w.task(fermata.NewTask{}), w.task(fermata.NewTask{})
		var runs []string
		for range 2 {
			ctx := engine.WithIdempotency(w.Context(), "key", "body")
			reply, err := w.Engine.Finish(ctx, w.agent, running.Run.ID, fermata.Finish{
				Token: running.Run.Token, Result: fermata.ResultCompleted, Claim: &fermata.ClaimRequest{Worker: "w1"},
			})
			w.OK(err)
			w.Equal(fermata.TaskDone, reply.State)
			w.Equal(waiting.ID, reply.Next.Task.ID)
			runs = append(runs, reply.Next.Run.ID)
		}
		w.Equal(runs[0], runs[1])
		w.checkState(left.ID, fermata.TaskOpen)
	})
}

// The repetition of a result looks for no task, so it does not make other claims believe that there is none.
func TestARepeatedResultHidesNoTask(t *testing.T) {
	each(t, func(w *world) {
		running, other := w.createRunning(fermata.NewTask{}), w.createRunning(fermata.NewTask{})
		finish := func(c *fermata.Claim, key string) *fermata.FinishReply {
			reply, err := w.Engine.Finish(engine.WithIdempotency(w.Context(), key, "body"), w.agent, c.Run.ID, fermata.Finish{
				Token: c.Run.Token, Result: fermata.ResultCompleted, Claim: &fermata.ClaimRequest{Worker: "w1"},
			})
			w.OK(err)
			return reply
		}
		w.Equal(true, finish(running, "key").Next == nil)
		task := w.task(fermata.NewTask{})
		w.Equal(true, finish(running, "key").Next == nil)
		w.Equal(task.ID, finish(other, "other").Next.Task.ID)
	})
}

// The claim of a result takes only what the caller and its agents may see, and what the worker takes.
func TestTheNextTaskIsOneThatTheWorkerTakes(t *testing.T) {
	each(t, func(w *world) {
		running := w.createRunning(fermata.NewTask{Project: "a"})
		hidden, other := w.task(fermata.NewTask{Project: "b"}), w.task(fermata.NewTask{Project: "a", Runner: "other"})
		limited := w.agent
		limited.TokenProjects = []string{"a"}
		reply, err := w.Engine.Finish(w.Context(), limited, running.Run.ID, fermata.Finish{
			Token: running.Run.Token, Result: fermata.ResultCompleted, Claim: &fermata.ClaimRequest{Worker: "w1"},
		})
		w.OK(err)
		w.Equal(true, reply.Next == nil)
		w.checkState(hidden.ID, fermata.TaskOpen)
		w.checkState(other.ID, fermata.TaskOpen)
	})
}

// checkProblem checks that the error has one problem, of the field.
func (w *world) checkProblem(err error, field string) {
	w.Helper()
	var refused *fermata.Error
	if !errors.As(err, &refused) || len(refused.Problems) != 1 || refused.Problems[0].Field != field {
		w.Errorf("the error is %v (%+v), want one problem of %s", err, refused, field)
	}
}

// A claim with problems is refused before the result counts. It names its own fields.
func TestAResultWithAWrongClaimIsRefused(t *testing.T) {
	each(t, func(w *world) {
		running := w.createRunning(fermata.NewTask{})
		for field, r := range map[string]fermata.ClaimRequest{
			"claim.worker": {}, "claim.wait_seconds": {Worker: "w1", WaitSeconds: 5}, "claim.runners": {Worker: "w1", Runners: []string{fermata.RunnerWorkflow}},
		} {
			_, err := w.tryFinish(running, fermata.Finish{Result: fermata.ResultCompleted, Claim: &r})
			w.checkProblem(err, field)
		}
		external := w.task(fermata.NewTask{Runner: fermata.RunnerExternal})
		_, err := w.Engine.FinishExternal(context.Background(), w.agent, external.ID, fermata.Finish{
			Result: fermata.ResultCompleted, Claim: &fermata.ClaimRequest{Worker: "w1"},
		})
		w.checkProblem(err, "claim")
	})
}
